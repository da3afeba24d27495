/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The frame of a page: one HTML file that opens from disk and requests nothing. Its style and script are embedded, and
 * its Content-Security-Policy allows only these two, by digest; so there are no style="" attributes and no handlers in
 * markup. The page is complete without the script, which filters, switches the theme and opens the targets of links.
 */

#include "reports/document.h"

/* Adds the whole page of a document that doc_html wrote, with a table of its sections. `kind` ("Report") is shown above its
 * title. */
void page_print(const struct doc *doc, const char *kind, struct text *out);
