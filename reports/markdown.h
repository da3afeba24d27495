/* SPDX-License-Identifier: MIT */
#pragma once

/* Markdown (CommonMark, and tables as GitHub has them) of untrusted text. */

#include "base/text.h"

enum { MARKDOWN_STRING_MAX = 400 }; /* bytes of one string; what is longer is cut and ends in "…" */

/*
 * Adds a string within a line, a cell of a table or a list's item. It stays text: no markup, no HTML, no link, no
 * mention of a person, no end of the cell or the line. Control characters and the like are shown as by
 * text_add_escaped(). A word with a character that is special in Markdown, or on the sites that show it, becomes a
 * code span, in which none is.
 */
void markdown_add(struct text *out, const char *string);

/* Adds a string as one code span. */
void markdown_add_code(struct text *out, const char *string);
