/* SPDX-License-Identifier: MIT */
#pragma once

/* Elements that only HTML has; with another writer these write only the text. */

#include "reports/document.h"

enum { HTML_STRING_MAX = 600 }; /* bytes of one text */

/* Text of an element, cut to HTML_STRING_MAX. The five entities of XML; what XML does not allow becomes U+FFFD; C1
 * controls, and marks that turn the direction of writing, with which a name looks like another one, are shown as U+202E. NULL is "". */
void html_text(struct text *out, const char *string);

/*
 * A link to a file next to the page, whose text is `string`. The path comes from the report and is hostile: it becomes a
 * link only if it is relative and stays below the page's folder, with everything but letters, digits, '.', '_', '-', '~'
 * and '/' percent-encoded, so that none has a scheme, a query or a fragment. Otherwise only the text is written.
 */
void html_file_link(struct doc *doc, const char *path, const char *string);

/* A link out of the page; only the text if it is not an https:// or http:// address. */
void html_web_link(struct doc *doc, const char *address, const char *string);

/*
 * A filter of the children of the element with the id `list` (a DOC_BODY, a DOC_LIST), which the script makes; `noun` is what
 * they are: "checks". An item's text is searched, its attribute data-facet ("fail"), whose tone is its class, selects. An
 * item with the attribute data-group heads those that follow, and is not counted. '/' leads to the field of the first filter.
 */
void html_filter(struct doc *doc, const char *list, const char *noun);
