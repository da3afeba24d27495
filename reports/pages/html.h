/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writing HTML. Whatever comes from a report is hostile and goes through the functions here, which escape it;
 * text_add() is only for constant markup.
 */

#include "base/text.h"

enum { HTML_STRING_MAX = 600 }; /* bytes of an untrusted string */

/* Text of an element, or of an attribute in double quotes. The five entities of XML; what XML does not allow becomes U+FFFD; C1
 * controls, and marks that turn the direction of writing, with which a name looks like another one, are shown as U+202E. NULL is "". */
void html_text(struct text *out, const char *string);
void html_text_part(struct text *out, const char *string, size_t size);

/*
 * Markup with places for values: "<td class=\"%s\">%s</td>". The format is a constant. A %s is written by html_text(); one
 * that is longer than HTML_STRING_MAX bytes is cut and ends in "…". %.10s is cut to as many bytes. Numbers are %d, %u, %zu and %lld;
 * there are no other conversions.
 */
void html_addf(struct text *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* `prefix` and the string as an id or a fragment: any byte but letters, digits, '.', '_' and '-' is written as ~XX. */
void html_add_id(struct text *out, const char *prefix, const char *string);

/* The start tag of a link to an encoded address (report_add_link(), or "": this page), and to the id of html_add_id()
 * in it. `class` and `id` may be NULL. */
void html_open_link(struct text *out, const char *class, const char *address, const char *prefix,
		    const char *id);

/*
 * A link to a file next to the page, whose text is `string`. The path comes from the report and is hostile: it becomes a
 * link only if it is relative and stays below the page's folder, with everything but letters, digits, '.', '_', '-', '~'
 * and '/' percent-encoded, so that none has a scheme, a query or a fragment. Otherwise only the text is written.
 */
void html_file_link(struct text *out, const char *path, const char *string);

/* A link out of the page; only the text if it is not an https:// or http:// address. */
void html_web_link(struct text *out, const char *address, const char *string);
