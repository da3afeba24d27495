/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The frame of a page: one HTML file that opens from disk and requests nothing. Its style and script are embedded, and
 * its Content-Security-Policy allows only these two, by digest; so there are no style="" attributes and no handlers in
 * markup. The page is complete without the script, which filters, switches the theme and opens the targets of links.
 */

#include "reports/document.h"

/* Adds a whole document: of doc_html a page with a table of its sections, where `kind` ("Report") is shown above the title; of
 * another writer the document as it is. */
void page_print(const struct doc *doc, const char *kind, struct text *out);
