/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Versions of documents. The member `schema` of a document names its format and version:
 * "gpucert-report/2". CONTRIBUTING.md says when the number rises. Only today's version is read.
 */

#include "base/json.h"

/* Is the document (or the first record of a journal) of the version `today`? ERROR_FORMAT: it is another
 * kind of document; ERROR_UNSUPPORTED: a newer or an older version. */
int schema_check(const cJSON *document, const char *today, struct error *err);
