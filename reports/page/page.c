/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"

#include "page_css.h"
#include "page_js.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

const char *const page_tone_names[PAGE_TONE_COUNT] = {"good", "bad", "warn", "quiet"};
const char *const page_tone_marks[PAGE_TONE_COUNT] = {"✓", "✗", "!", "–"};

enum page_tone page_tone_of(enum report_outcome outcome)
{
	if (outcome == REPORT_PASS)
		return PAGE_GOOD;
	if (outcome == REPORT_BROKEN)
		return PAGE_WARN;
	return report_outcome_is_bad(outcome) ? PAGE_BAD : PAGE_QUIET;
}

/* 'sha256-...', by which a Content-Security-Policy names an embedded text. */
static void add_source_hash(struct text *out, const char *source, size_t size)
{
	unsigned char hash[crypto_hash_sha256_BYTES] = {0};
	char base64[sodium_base64_ENCODED_LEN(sizeof(hash), sodium_base64_VARIANT_ORIGINAL)] = "";
	(void)crypto_hash_sha256(hash, (const unsigned char *)source, size);
	(void)sodium_bin2base64(base64, sizeof(base64), hash, sizeof(hash),
				sodium_base64_VARIANT_ORIGINAL);
	text_addf(out, "'sha256-%s'", base64);
}

static void add_policy(struct text *out)
{
	text_add(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "base-uri 'none'; form-action 'none'; style-src ");
	add_source_hash(out, page_css, sizeof(page_css) - 1);
	text_add(out, "; script-src ");
	add_source_hash(out, page_js, sizeof(page_js) - 1);
	text_add(out, "\">\n");
}

static void add_head(struct text *out, const struct page *page)
{
	text_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
	add_policy(out);
	text_add(out, "<meta name=\"viewport\" content=\"width=device-width\">\n"
		      "<meta name=\"color-scheme\" content=\"light dark\">\n"
		      "<meta name=\"generator\" content=\"gpucert\">\n<title>");
	html_textf(out, "%s · %s · gpucert", page->title, page->kind);
	text_add(out, "</title>\n<style>");
	text_append(out, page_css, sizeof(page_css) - 1);
	text_add(out, "</style>\n</head>\n");
}

static void add_contents(struct text *out, const struct page *page)
{
	text_add(out, "<nav aria-label=\"Contents\"><ul>\n");
	for (const struct page_section *section = page->sections; section->id != NULL; section++) {
		text_addf(out, "<li><a href=\"#%s\">", section->id);
		html_text(out, section->heading);
		text_add(out, "</a></li>\n");
	}
	text_add(out, "</ul></nav>\n");
}

void page_begin(struct text *out, const struct page *page)
{
	add_head(out, page);
	text_add(out, "<body>\n<a class=\"skip\" href=\"#main\">To the content</a>\n"
		      "<header class=\"top\"><div class=\"brand\"><span>gpucert</span> ");
	html_element(out, "span", "kind", page->kind);
	text_add(out, "</div>\n<button type=\"button\" id=\"theme\" hidden>Theme: "
		      "<span>system</span></button></header>\n");
	add_contents(out, page);
	text_add(out, "<main id=\"main\" tabindex=\"-1\">\n");
	html_element(out, "h1", NULL, page->title);
	text_add(out, "\n");
}

void page_end(struct text *out)
{
	text_add(out, "</main>\n<script>");
	text_append(out, page_js, sizeof(page_js) - 1);
	text_add(out, "</script>\n</body>\n</html>\n");
}

void page_section_begin(struct text *out, const struct page_section *section, const char *lead)
{
	text_addf(out, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">",
		  section->id, section->id, section->id);
	html_text(out, section->heading);
	text_add(out, "</h2>\n");
	if (lead != NULL)
		html_element(out, "p", "lead", lead);
}

void page_section_end(struct text *out)
{
	text_add(out, "</section>\n");
}

void page_badge(struct text *out, enum page_tone tone, const char *word)
{
	text_addf(out, "<span class=\"badge %s\"><i aria-hidden=\"true\">%s</i>",
		  page_tone_names[tone], page_tone_marks[tone]);
	html_text(out, word);
	text_add(out, "</span>");
}

void page_heat_cell(struct text *out, enum page_tone tone, size_t part, size_t whole,
		    const char *link, const char *word, const char *text)
{
	text_addf(out, "<td class=\"heat %s h%zu\">", page_tone_names[tone],
		  whole != 0 ? (part * 4 + whole - 1) / whole + 1 : 0);
	if (link != NULL)
		html_open(out, "a", "href", link, NULL);
	text_addf(out, "<i aria-hidden=\"true\">%s</i>", page_tone_marks[tone]);
	html_element(out, "span", "sr", word);
	text_add(out, " ");
	html_text(out, text);
	text_add(out, link != NULL ? "</a></td>" : "</td>");
}

void page_filter(struct text *out, const char *list, const char *noun, size_t count,
		 const struct page_facet *facets)
{
	text_addf(
		out,
		"<div class=\"filter\" data-list=\"%s\" data-noun=\"%s\" role=\"search\" aria-label=\"Filter of %s\" hidden>\n"
		"<label class=\"sr\" for=\"q-%s\">Search %s</label>"
		"<input id=\"q-%s\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\" "
		"placeholder=\"Search %s\">\n"
		"<div class=\"facets\" role=\"group\" aria-label=\"Show only\">",
		list, noun, noun, list, noun, list, noun);
	for (; facets->name != NULL; facets++) {
		if (facets->count != 0)
			text_addf(out,
				  "<button type=\"button\" class=\"facet %s\" data-facet=\"%s\" "
				  "aria-pressed=\"false\">%s <b>%zu</b></button>",
				  page_tone_names[facets->tone], facets->name, facets->name,
				  facets->count);
	}
	text_addf(out, "</div>\n<output for=\"q-%s\">%zu %s</output></div>\n", list, count, noun);
}

void page_table_begin(struct text *out, const char *class, const char *label)
{
	html_open(out, "div", "class", "wide", "role", "group", "tabindex", "0", "aria-label",
		  label, NULL);
	html_open(out, "table", "class", class, NULL);
	text_add(out, "\n");
}

void page_table_end(struct text *out)
{
	text_add(out, "</table></div>\n");
}

void page_table_head(struct text *out, const char *const *headings)
{
	text_add(out, "<thead><tr>");
	for (; *headings != NULL; headings++) {
		text_add(out, "<th scope=\"col\">");
		html_text(out, *headings);
		text_add(out, "</th>");
	}
	text_add(out, "</tr></thead>\n");
}

void page_add_duration(struct text *out, int64_t ms)
{
	if (ms < 1000)
		text_addf(out, "%lld ms", (long long)ms);
	else if (ms < 60000)
		text_addf(out, "%lld.%lld s", (long long)ms / 1000, (long long)ms % 1000 / 100);
	else
		text_addf(out, "%lld min %lld s", (long long)ms / 60000, (long long)ms / 1000 % 60);
}
