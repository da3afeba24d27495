/* SPDX-License-Identifier: MIT */
#include "reports/document.h"

#include "base/cleanup.h"

#include <stdio.h>
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
	[DOC_ITEM] = {DOC_LIST, DOC_LIST},
};

static bool holds(enum doc_element outer, enum doc_element element)
{
	const enum doc_element *home = homes[element];
	return home[0] == 0 || outer == home[0] || outer == home[1];
}

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
	while (doc->depth > 0 && !holds(doc->open[doc->depth - 1], element))
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

static void add_text(struct doc *doc, const char *format, va_list args)
{
	struct text text CLEANUP_TEXT = {0};
	text_vaddf(&text, format, args);
	doc->writer->text(doc, text_string(&text));
}

void doc_text(struct doc *doc, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	add_text(doc, format, args);
	va_end(args);
}

void doc_add(struct doc *doc, enum doc_element element, const char *class, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	doc_begin(doc, element, class);
	add_text(doc, format, args);
	doc_end(doc, element);
	va_end(args);
}

void doc_attribute(struct doc *doc, const char *name, const char *format, ...)
{
	struct text value CLEANUP_TEXT = {0};
	va_list args;
	if (doc->writer->attribute == NULL)
		return;
	va_start(args, format);
	text_vaddf(&value, format, args);
	va_end(args);
	doc->writer->attribute(doc, name, text_string(&value));
}

static void add_id(struct text *out, const char *prefix, const char *id)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._";
	text_add(out, prefix);
	for (; *id != '\0'; id++) {
		if (strchr(plain, *id) != NULL)
			text_append(out, id, 1);
		else
			text_addf(out, "~%02X", (unsigned char)*id);
	}
}

void doc_id(struct doc *doc, const char *prefix, const char *id)
{
	struct text value CLEANUP_TEXT = {0};
	add_id(&value, prefix, id);
	doc_attribute(doc, "id", "%s", text_string(&value));
}

void doc_href(struct doc *doc, const char *address, const char *prefix, const char *id)
{
	struct text value CLEANUP_TEXT = {0};
	text_add(&value, address);
	if (id != NULL) {
		text_add(&value, "#");
		add_id(&value, prefix, id);
	}
	doc_attribute(doc, "href", "%s", text_string(&value));
}

bool doc_is(const struct doc *doc, enum doc_form form)
{
	return doc->writer->form == form;
}

void doc_title(struct doc *doc, const char *title)
{
	text_reset(&doc->title);
	text_add(&doc->title, title);
	if (!doc_is(doc, DOC_FORM_HTML))
		doc_add(doc, DOC_TITLE, NULL, "%s", title);
}

void doc_section(struct doc *doc, const char *id, const char *heading, size_t count,
		 const char *lead)
{
	doc->writer->section(doc, id, heading, count, lead);
	push(doc, DOC_SECTION);
}

void doc_table(struct doc *doc, enum doc_element element, const char *class, const char *label,
	       const char *list, const char *const *headings)
{
	doc_begin(doc, DOC_BOX, element == DOC_GRID ? "wide" : NULL);
	if (element == DOC_GRID) {
		doc_attribute(doc, "role", "group");
		doc_attribute(doc, "tabindex", "0");
		doc_attribute(doc, "aria-label", "%s", label);
	}
	doc_begin(doc, element, class);
	if (element == DOC_TABLE)
		doc_attribute(doc, "aria-label", "%s", label);
	doc_begin(doc, DOC_HEAD, NULL);
	if (headings == NULL)
		return;
	doc_begin(doc, DOC_ROW, NULL);
	for (; *headings != NULL; headings++)
		doc_add(doc, DOC_HEADER, NULL, "%s", *headings);
	doc_begin(doc, DOC_BODY, NULL);
	if (list != NULL)
		doc_attribute(doc, "id", "%s", list);
}

void doc_label(struct doc *doc, enum doc_element element, const char *class, const char *label,
	       const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	va_list args;
	va_start(args, format);
	text_vaddf(&text, format, args);
	va_end(args);
	if (text.size == 0)
		return;
	doc_begin(doc, element, NULL);
	doc_add(doc, DOC_STRONG, class, "%s", label);
	doc_text(doc, " %s", text_string(&text));
	doc_end(doc, element);
}

void doc_fact(struct doc *doc, const char *name, const char *format, ...)
{
	struct text value CLEANUP_TEXT = {0};
	va_list args;
	va_start(args, format);
	text_vaddf(&value, format, args);
	va_end(args);
	if (value.size == 0)
		return;
	doc_begin(doc, DOC_BOX, NULL);
	doc_add(doc, DOC_TERM, NULL, "%s", name);
	doc_add(doc, DOC_VALUE, NULL, "%s", text_string(&value));
	doc_end(doc, DOC_BOX);
}

void doc_badge(struct doc *doc, enum doc_tone tone, const char *word)
{
	doc_add(doc, DOC_BADGE, doc_tone_names[tone], "%s", word);
}

void doc_outcome(struct doc *doc, enum report_outcome outcome)
{
	doc_badge(doc, doc_tone_of(outcome), report_outcome_names[outcome]);
}

void doc_heat(struct doc *doc, enum doc_tone tone, size_t part, size_t whole, const char *link,
	      const char *word, const char *text)
{
	char class[32] = "";
	(void)snprintf(class, sizeof(class), "heat%s %s h%zu", link != NULL ? " to" : "",
		       doc_tone_names[tone], whole != 0 ? (part * 4 + whole - 1) / whole + 1 : 0);
	doc_begin(doc, DOC_CELL, class);
	if (link != NULL) {
		doc_begin(doc, DOC_LINK, NULL);
		doc_attribute(doc, "href", "%s", link);
	}
	if (word[0] != '\0')
		doc_add(doc, DOC_SPAN, "sr", "%s", word);
	doc_text(doc, word[0] != '\0' && text[0] != '\0' ? " %s" : "%s", text);
	doc_end(doc, DOC_CELL);
}

void doc_duration(struct doc *doc, int64_t ms)
{
	if (ms < 1000)
		doc_text(doc, "%lld ms", (long long)ms);
	else if (ms < 60000)
		doc_text(doc, "%lld.%lld s", (long long)ms / 1000, (long long)ms % 1000 / 100);
	else
		doc_text(doc, "%lld min %lld s", (long long)ms / 60000, (long long)ms / 1000 % 60);
}
