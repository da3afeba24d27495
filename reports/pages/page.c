/* SPDX-License-Identifier: MIT */
#include "reports/pages/page.h"

#include "page_css.h"
#include "page_js.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

const char *const page_tone_names[PAGE_TONE_COUNT] = {"good", "bad", "warn", "quiet"};

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

static void add_heading(struct text *out, const char *heading, size_t count)
{
	html_addf(out, "%s", heading);
	if (count != 0)
		text_addf(out, " <span class=\"count\">%zu</span>", count);
}

void page_section_begin(struct page *page, const char *id, const char *heading, size_t count,
			const char *lead)
{
	html_addf(&page->contents, "<li><a href=\"#%s\">", id);
	add_heading(&page->contents, heading, count);
	text_add(&page->contents, "</a></li>\n");
	html_addf(&page->body, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">", id,
		  id, id);
	add_heading(&page->body, heading, count);
	text_add(&page->body, "</h2>\n");
	if (lead != NULL)
		html_addf(&page->body, "<p class=\"lead\">%s</p>\n", lead);
}

void page_section_end(struct page *page)
{
	text_add(&page->body, "</section>\n");
}

void page_print(const struct page *page, const char *kind, const char *title, struct text *out)
{
	text_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "base-uri 'none'; form-action 'none'; style-src ");
	add_source_hash(out, page_css, sizeof(page_css) - 1);
	text_add(out, "; script-src ");
	add_source_hash(out, page_js, sizeof(page_js) - 1);
	html_addf(out,
		  "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
		  "<meta name=\"color-scheme\" content=\"light dark\">\n"
		  "<meta name=\"generator\" content=\"gpucert\">\n"
		  "<title>%s · %s · gpucert</title>\n<style>",
		  title, kind);
	text_append(out, page_css, sizeof(page_css) - 1);
	html_addf(out,
		  "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the content</a>\n"
		  "<header class=\"top\"><div class=\"brand\">gpucert <span>%s</span></div>\n"
		  "<button type=\"button\" id=\"theme\" hidden>Theme: <span>system</span></button>"
		  "</header>\n<nav aria-label=\"Contents\"><ul>\n",
		  kind);
	text_add_all(out, &page->contents);
	html_addf(out, "</ul></nav>\n<main id=\"main\" tabindex=\"-1\">\n<h1>%s</h1>\n", title);
	text_add_all(out, &page->body);
	text_add(out, "</main>\n<script>");
	text_append(out, page_js, sizeof(page_js) - 1);
	text_add(out, "</script>\n</body>\n</html>\n");
}

void page_free(struct page *page)
{
	text_free(&page->contents);
	text_free(&page->body);
}

void page_badge(struct text *out, enum page_tone tone, const char *word)
{
	html_addf(out, "<span class=\"badge %s\">%s</span>", page_tone_names[tone], word);
}

void page_outcome(struct text *out, enum report_outcome outcome)
{
	page_badge(out, page_tone_of(outcome), report_outcome_names[outcome]);
}

void page_heat_cell(struct text *out, enum page_tone tone, size_t part, size_t whole,
		    const char *link, const char *word, const char *text)
{
	html_addf(out, "<td class=\"heat%s %s h%zu\">", link != NULL ? " to" : "",
		  page_tone_names[tone], whole != 0 ? (part * 4 + whole - 1) / whole + 1 : 0);
	if (link != NULL)
		html_addf(out, "<a href=\"%s\">", link);
	if (word[0] != '\0')
		html_addf(out, "<span class=\"sr\">%s</span> ", word);
	html_addf(out, link != NULL ? "%s</a></td>" : "%s</td>", text);
}

void page_filter(struct text *out, const char *list, const char *noun)
{
	html_addf(out,
		  "<div class=\"filter\" data-list=\"%s\" data-noun=\"%s\" role=\"group\" "
		  "aria-label=\"Filter of %s\" hidden></div>\n",
		  list, noun, noun);
}

void page_table_begin(struct text *out, const char *class, const char *label, const char *list,
		      const char *const *headings)
{
	html_addf(out, "<table class=\"%s\" aria-label=\"%s\">\n<thead><tr>", class, label);
	for (; *headings != NULL; headings++)
		html_addf(out, "<th scope=\"col\">%s</th>", *headings);
	text_add(out, "</tr></thead>\n<tbody");
	if (list != NULL)
		html_addf(out, " id=\"%s\"", list);
	text_add(out, ">\n");
}

void page_table_end(struct text *out)
{
	text_add(out, "</tbody></table>\n");
}

void page_grid_begin(struct text *out, const char *class, const char *label)
{
	html_addf(out,
		  "<div class=\"wide\" role=\"group\" tabindex=\"0\" aria-label=\"%s\">"
		  "<table class=\"grid %s\">\n",
		  label, class);
}

void page_grid_end(struct text *out)
{
	text_add(out, "</table></div>\n");
}

void page_more(struct text *out, size_t count, const char *what)
{
	if (count != 0)
		html_addf(out, "<p class=\"soft\">and %zu more%s, in report.json</p>\n", count,
			  what);
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
