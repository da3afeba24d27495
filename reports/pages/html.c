/* SPDX-License-Identifier: MIT */
#include "reports/pages/html.h"

#include "reports/report_link.h"

#include <string.h>

static const char *tag_of(enum doc_element element)
{
	const char *name = doc_element_names[element];
	return element == DOC_LINE    ? "p"
	       : element == DOC_GRID  ? "table"
	       : element == DOC_GROUP ? "th"
	       : element == DOC_BADGE ? "span"
				      : name;
}

static void add_escaped(struct text *out, const char *string, size_t size)
{
	size_t start = 0;
	for (size_t i = 0; i < size;) {
		uint32_t code = 0;
		size_t length = text_character(string + i, size - i, &code);
		if (length != 0 && code >= 0x7f && text_is_hazardous(code)) {
			text_add_xml(out, string + start, i - start);
			text_addf(out, "U+%04X", (unsigned)code);
			start = i + length;
		}
		i += length != 0 ? length : 1;
	}
	if (start < size)
		text_add_xml(out, string + start, size - start);
}

void html_text(struct text *out, const char *string)
{
	const size_t size = string != NULL ? strlen(string) : 0;
	const size_t shown = size != 0 ? text_fit(string, size, HTML_STRING_MAX) : 0;
	add_escaped(out, string, shown);
	text_add(out, shown < size ? "…" : "");
}

/* The start tag stays open for attributes. */
static void end_tag(struct doc *doc)
{
	text_add(&doc->out, doc->in_tag ? ">" : "");
	doc->in_tag = false;
}

static void begin(struct doc *doc, enum doc_element element, const char *class)
{
	const char *scope = doc_is_in(doc, DOC_HEAD) ? "col" : "row";
	end_tag(doc);
	text_addf(&doc->out, "<%s", tag_of(element));
	if (element == DOC_HEADER || element == DOC_GROUP)
		text_addf(&doc->out, " scope=\"%s%s\"", scope, element == DOC_GROUP ? "group" : "");
	if (element == DOC_BADGE || class != NULL)
		text_addf(&doc->out, " class=\"%s%s\"", element == DOC_BADGE ? "badge " : "",
			  class);
	doc->in_tag = true;
}

static void end(struct doc *doc, enum doc_element element)
{
	end_tag(doc);
	text_addf(&doc->out, element == DOC_ROW || element < DOC_TABLE ? "</%s>\n" : "</%s>",
		  tag_of(element));
}

static void add_text(struct doc *doc, const char *string)
{
	end_tag(doc);
	html_text(&doc->out, string);
}

static void add_attribute(struct doc *doc, const char *name, const char *value)
{
	text_addf(&doc->out, value[0] != '\0' ? " %s=\"" : " %s", name);
	add_escaped(&doc->out, value, strlen(value));
	text_add(&doc->out, value[0] != '\0' ? "\"" : "");
}

static void add_heading(struct text *out, const char *heading, size_t count)
{
	html_text(out, heading);
	if (count != 0)
		text_addf(out, " <span class=\"count\">%zu</span>", count);
}

static void begin_section(struct doc *doc, const char *id, const char *heading, size_t count,
			  const char *lead)
{
	end_tag(doc);
	text_addf(&doc->contents, "<li><a href=\"#%s\">", id);
	add_heading(&doc->contents, heading, count);
	text_add(&doc->contents, "</a></li>\n");
	text_addf(&doc->out, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">", id,
		  id, id);
	add_heading(&doc->out, heading, count);
	text_add(&doc->out, "</h2>\n");
	if (lead != NULL)
		text_addf(&doc->out, "<p class=\"lead\">%s</p>\n", lead);
}

const struct doc_writer doc_html = {DOC_FORM_HTML, begin,	  end,
				    add_text,	   add_attribute, begin_section};

void html_file_link(struct doc *doc, const char *path, const char *string)
{
	struct text address CLEANUP_TEXT = {0};
	/* No absolute path of any system, and no segment that leads up. */
	bool is_below = *path != '\0' && *path != '/' && strpbrk(path, "\\:") == NULL;
	for (const char *segment = path; is_below && segment != NULL;) {
		const size_t size = strcspn(segment, "/");
		is_below = size > 2 || (size > 0 && strspn(segment, ".") < size);
		segment = segment[size] == '/' ? segment + size + 1 : NULL;
	}
	report_add_encoded(path, &address);
	if (is_below)
		doc_add(doc, "<a href=%s>%s</a>", text_string(&address), string);
	else
		doc_add(doc, "%s", string);
}

void html_web_link(struct doc *doc, const char *address, const char *string)
{
	if (text_starts_with(address, "https://") || text_starts_with(address, "http://"))
		doc_add(doc, "<a href=%s rel='noopener noreferrer'>%s</a>", address, string);
	else
		doc_add(doc, "%s", string);
}

void html_filter(struct doc *doc, const char *list, const char *noun)
{
	doc_add(doc,
		"<div class=filter data-list=%s data-noun=%s role=group aria-label='Filter of %s' "
		"hidden></div>",
		list, noun, noun);
}
