/* SPDX-License-Identifier: MIT */
#include "reports/pages/page.h"
#include "reports/pages/html.h"

#include "page_css.h"
#include "page_js.h"

#include <sodium.h>

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

void page_print(const struct doc *doc, const char *kind, struct text *out)
{
	struct text title CLEANUP_TEXT = {0};
	if (!doc_is(doc, DOC_FORM_HTML)) {
		text_add_all(out, &doc->out);
		return;
	}
	html_text(&title, text_string(&doc->title));
	text_add(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		      "base-uri 'none'; form-action 'none'; style-src ");
	add_source_hash(out, page_css, sizeof(page_css) - 1);
	text_add(out, "; script-src ");
	add_source_hash(out, page_js, sizeof(page_js) - 1);
	text_addf(out,
		  "\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
		  "<meta name=\"color-scheme\" content=\"light dark\">\n"
		  "<meta name=\"generator\" content=\"gpucert\">\n"
		  "<title>%s · %s · gpucert</title>\n<style>",
		  text_string(&title), kind);
	text_append(out, page_css, sizeof(page_css) - 1);
	text_addf(out,
		  "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">To the content</a>\n"
		  "<header class=\"top\"><div class=\"brand\">gpucert <span>%s</span></div>\n"
		  "<button type=\"button\" id=\"theme\" hidden>Theme: <span>system</span></button>"
		  "</header>\n<nav aria-label=\"Contents\"><ul>\n",
		  kind);
	text_add_all(out, &doc->contents);
	text_addf(out, "</ul></nav>\n<main id=\"main\" tabindex=\"-1\">\n<h1>%s</h1>\n",
		  text_string(&title));
	text_add_all(out, &doc->out);
	text_add(out, "</main>\n<script>");
	text_append(out, page_js, sizeof(page_js) - 1);
	text_add(out, "</script>\n</body>\n</html>\n");
}
