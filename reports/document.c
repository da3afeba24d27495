/* SPDX-License-Identifier: MIT */
#include "reports/document.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

const char *const doc_tone_names[DOC_TONE_COUNT] = {"good", "bad", "warn", "quiet"};

enum doc_tone doc_tone_of(enum report_outcome outcome)
{
	if (outcome == REPORT_PASS)
		return DOC_GOOD;
	if (outcome == REPORT_BROKEN)
		return DOC_WARN;
	return report_outcome_is_bad(outcome) ? DOC_BAD : DOC_QUIET;
}

const char *const doc_element_names[] = {
	[DOC_SECTION] = "section", [DOC_BOX] = "div",	  [DOC_ARTICLE] = "article",
	[DOC_TITLE] = "h2",	   [DOC_HEADING] = "h3",  [DOC_PARAGRAPH] = "p",
	[DOC_LINE] = "line",	   [DOC_LIST] = "ul",	  [DOC_ITEM] = "li",
	[DOC_TABLE] = "table",	   [DOC_GRID] = "grid",	  [DOC_HEAD] = "thead",
	[DOC_BODY] = "tbody",	   [DOC_ROW] = "tr",	  [DOC_HEADER] = "th",
	[DOC_GROUP] = "group",	   [DOC_CELL] = "td",	  [DOC_FACTS] = "dl",
	[DOC_TERM] = "dt",	   [DOC_VALUE] = "dd",	  [DOC_DETAILS] = "details",
	[DOC_SUMMARY] = "summary", [DOC_SPAN] = "span",	  [DOC_STRONG] = "b",
	[DOC_BADGE] = "badge",	   [DOC_SMALL] = "small", [DOC_LINK] = "a",
	[DOC_CODE] = "code",	   [DOC_FIGURE] = "svg",  [DOC_SHAPE] = "path",
};

void doc_free(struct doc *doc)
{
	text_free(&doc->out);
	text_free(&doc->title);
	text_free(&doc->label);
	text_free(&doc->line);
	text_free(&doc->contents);
	text_free(&doc->cell_text);
	free(doc->cells);
}

/* The elements that hold it; 0: any. */
static const enum doc_element homes[DOC_ELEMENT_COUNT][2] = {
	[DOC_HEAD] = {DOC_TABLE, DOC_GRID}, [DOC_BODY] = {DOC_TABLE, DOC_GRID},
	[DOC_ROW] = {DOC_HEAD, DOC_BODY},   [DOC_HEADER] = {DOC_ROW, DOC_ROW},
	[DOC_GROUP] = {DOC_ROW, DOC_ROW},   [DOC_CELL] = {DOC_ROW, DOC_ROW},
	[DOC_ITEM] = {DOC_LIST, DOC_LIST},  [DOC_TERM] = {DOC_BOX, DOC_BOX},
	[DOC_VALUE] = {DOC_BOX, DOC_BOX},
};

static void pop(struct doc *doc)
{
	doc->depth--;
	doc->writer->end(doc, doc->open[doc->depth]);
}

static void push(struct doc *doc, enum doc_element element)
{
	if (doc->depth < DOC_DEPTH_MAX)
		doc->open[doc->depth++] = element;
}

void doc_begin(struct doc *doc, enum doc_element element, const char *class)
{
	const enum doc_element *home = homes[element];
	while (doc->depth > 0 && home[0] != 0 && doc->open[doc->depth - 1] != home[0] &&
	       doc->open[doc->depth - 1] != home[1])
		pop(doc);
	doc->writer->begin(doc, element, class);
	push(doc, element);
}

void doc_end(struct doc *doc, enum doc_element element)
{
	while (doc->depth > 0) {
		const bool is_last = doc->open[doc->depth - 1] == element;
		pop(doc);
		if (is_last)
			return;
	}
}

struct arguments {
	va_list list;
};

static void add_id(struct text *out, const char *id)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
	for (; *id != '\0'; id++) {
		if (strchr(plain, *id) != NULL)
			text_append(out, id, 1);
		else
			text_addf(out, "~%02X", (unsigned char)*id);
	}
}

/* One conversion or character of a template. Returns what follows it. */
static const char *add_piece(struct text *out, const char *at, struct arguments *args, bool is_id)
{
	const char *string = NULL;
	size_t most = 0;
	if (*at != '%') {
		text_append(out, at, 1);
		return at + 1;
	}
	switch (*++at) {
	case 'd':
		text_addf(out, "%d", va_arg(args->list, int));
		return at + 1;
	case 'u':
		text_addf(out, "%u", va_arg(args->list, unsigned));
		return at + 1;
	case 'z':
		text_addf(out, "%zu", va_arg(args->list, size_t));
		return at + 2;
	case 'l':
		text_addf(out, "%lld", va_arg(args->list, long long));
		return at + 3;
	case '.': {
		char *end = NULL;
		const bool given = at[1] == '*';
		most = given ? (size_t)va_arg(args->list, int) : strtoul(at + 1, &end, 10);
		string = va_arg(args->list, const char *);
		text_append(out, string, text_fit(string, strlen(string), most));
		return given ? at + 3 : end + 1;
	}
	case 's':
		string = va_arg(args->list, const char *);
		if (is_id)
			add_id(out, string);
		else
			text_add(out, string);
		return at + 1;
	default:
		text_append(out, at, 1);
		return at + 1;
	}
}

static const char *add_tag(struct doc *doc, const char *at, struct arguments *args)
{
	const bool ends = at[1] == '/';
	const char *name = at + (ends ? 2 : 1);
	size_t size = strcspn(name, " >");
	enum doc_element element = DOC_SECTION;
	bool begun = false;
	while (element < DOC_SHAPE && (strncmp(doc_element_names[element], name, size) != 0 ||
				       doc_element_names[element][size] != '\0'))
		element++;
	if (ends) {
		doc_end(doc, element);
		return name + size + 1;
	}

	for (at = name + size; *at == ' ';) {
		struct text key CLEANUP_TEXT = {0};
		struct text value CLEANUP_TEXT = {0};
		size = strcspn(++at, "= >");
		text_append(&key, at, size);
		at += size + (at[size] == '=' ? 1 : 0);
		const bool quoted = *at == '\'';
		const char *const stops = quoted ? "'" : " >";
		const bool is_id = text_equal(text_string(&key), "id");
		for (at += quoted; strchr(stops, *at) == NULL;)
			at = add_piece(&value, at, args,
				       is_id || strchr(text_string(&value), '#') != NULL);
		at += quoted;
		const bool is_class = text_equal(text_string(&key), "class");
		if (!begun)
			doc_begin(doc, element,
				  is_class && value.size > 0 ? text_string(&value) : NULL);
		begun = true;
		if (!is_class && doc->writer->attribute != NULL)
			doc->writer->attribute(doc, text_string(&key), text_string(&value));
	}
	if (!begun)
		doc_begin(doc, element, NULL);
	return at + 1;
}

void doc_add(struct doc *doc, const char *template, ...)
{
	struct arguments args;
	va_start(args.list, template);
	for (const char *at = template; *at != '\0';) {
		struct text text CLEANUP_TEXT = {0};
		if (*at == '<')
			at = add_tag(doc, at, &args);
		while (*at != '\0' && *at != '<')
			at = add_piece(&text, at, &args, false);
		if (text.size > 0)
			doc->writer->text(doc, text_string(&text));
	}
	va_end(args.list);
}

bool doc_is(const struct doc *doc, enum doc_form form)
{
	return doc->writer->form == form;
}

bool doc_is_in(const struct doc *doc, enum doc_element element)
{
	size_t i = 0;
	while (i < doc->depth && doc->open[i] != element)
		i++;
	return i < doc->depth;
}

void doc_title(struct doc *doc, const char *title)
{
	text_reset(&doc->title);
	text_add(&doc->title, title);
	if (!doc_is(doc, DOC_FORM_HTML))
		doc_add(doc, "<h2>%s</h2>", title);
}

void doc_section(struct doc *doc, const char *id, const char *heading, size_t count,
		 const char *lead)
{
	doc->writer->section(doc, id, heading, count, lead);
	push(doc, DOC_SECTION);
}

void doc_table(struct doc *doc, const char *class, const char *label, const char *list,
	       const char *const *headings)
{
	doc_add(doc, "<div><table class='%s' aria-label='%s'><thead><tr>", class, label);
	for (; *headings != NULL; headings++)
		doc_add(doc, "<th>%s", *headings);
	if (list != NULL)
		doc_add(doc, "<tbody id=%s>", list);
	else
		doc_add(doc, "<tbody>");
}

void doc_grid(struct doc *doc, const char *class, const char *label)
{
	doc_add(doc,
		"<div class=wide role=group tabindex=0 aria-label='%s'>"
		"<grid class='grid %s'><thead>",
		label, class);
}

void doc_label(struct doc *doc, const char *class, const char *label, const char *rest)
{
	if (rest[0] != '\0')
		doc_add(doc, "<line><b class=%s>%s</b> %s</line>", class, label, rest);
}

void doc_fact(struct doc *doc, const char *name, const char *value)
{
	if (value[0] != '\0')
		doc_add(doc, "<div><dt>%s<dd>%s</div>", name, value);
}

void doc_outcome(struct doc *doc, enum report_outcome outcome)
{
	doc_add(doc, "<badge class=%s>%s</badge>", doc_tone_names[doc_tone_of(outcome)],
		report_outcome_names[outcome]);
}

void doc_heat(struct doc *doc, enum doc_tone tone, size_t part, size_t whole, const char *link,
	      const char *word, const char *text)
{
	doc_add(doc, "<td class='heat%s %s h%zu'>", link != NULL ? " to" : "", doc_tone_names[tone],
		whole != 0 ? (part * 4 + whole - 1) / whole + 1 : 0);
	if (link != NULL)
		doc_add(doc, "<a href=%s>", link);
	if (word[0] != '\0')
		doc_add(doc, "<span class=sr>%s</span>%s", word, text[0] != '\0' ? " " : "");
	doc_add(doc, "%s", text);
	doc_end(doc, DOC_CELL);
}

void doc_duration(struct doc *doc, int64_t ms)
{
	if (ms < 1000)
		doc_add(doc, "%lld ms", (long long)ms);
	else if (ms < 60000)
		doc_add(doc, "%lld.%lld s", (long long)ms / 1000, (long long)ms % 1000 / 100);
	else
		doc_add(doc, "%lld min %lld s", (long long)ms / 60000, (long long)ms / 1000 % 60);
}
