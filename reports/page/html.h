/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Writing HTML. Whatever comes from a report is hostile and goes through the functions here, which escape it;
 * text_add() is for constant markup alone. What fails is remembered by the text (base/text.h).
 */

#include "base/text.h"

/* Text of an element. The five entities of XML; what XML does not allow becomes U+FFFD; C1 controls, and
 * marks that turn the direction of writing, with which a name looks like another one, are shown as U+202E. NULL is "". */
void html_text(struct text *out, const char *string);
void html_text_part(struct text *out, const char *string, size_t size);

/* The same of a formatted string. */
void html_textf(struct text *out, const char *format, ...) PRINTF_LIKE(2, 3);

/* ` name="value"`, the value as html_text() writes it. The name is a constant. Nothing for NULL. */
void html_attribute(struct text *out, const char *name, const char *value);

/* A start tag. Then names and values of attributes, ended by NULL; one whose value is NULL is left out.
 * html_open(out, "td", "class", class, "id", id, NULL) */
void html_open(struct text *out, const char *tag, ...) __attribute__((sentinel));
void html_close(struct text *out, const char *tag);

/* An element that holds a text; `class` may be NULL. */
void html_element(struct text *out, const char *tag, const char *class, const char *string);

/* `prefix` and the string as an id or a fragment: what is no letter, digit, '.', '_' or '-' is ~XX. */
void html_add_id(struct text *out, const char *prefix, const char *string);

/*
 * A link to a file beside the page, whose text is `string`. The path is the report's and hostile: only one that is relative
 * and leads to a place below the page's folder becomes a link, with everything but letters, digits, '.', '_', '-', '~'
 * and '/' percent-encoded, so that none has a scheme, a query or a fragment. Of any other the text alone is written.
 */
void html_file_link(struct text *out, const char *path, const char *string);

/* A link out of the page; the text alone when it is not an https:// or http:// address. */
void html_web_link(struct text *out, const char *address, const char *string);
