/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Versions of documents. A document says in its member `schema` what it is, and of which version:
 * "gpucert-report/2". docs/versions.md tells when the number rises and how long earlier ones are read.
 */

#include "base/json.h"

/* Makes the next version of a document, in place. Documents come from strangers: what is not of the
 * expected type is left as it is, for the reader to refuse. ERROR_MEMORY. */
typedef int schema_step(cJSON *document, struct error *err);

struct schema {
	const char *today;	   /* "gpucert-report/2" */
	schema_step *const *steps; /* NULL-ended; from the oldest version that is read to today's */
};

/* Makes today's document of one of an earlier version. `head` has the member `schema`; it is the document
 * itself, or (of a journal) its first record. ERROR_FORMAT: it says to be something else;
 * ERROR_UNSUPPORTED: of a version that is newer, or older than the oldest that is read; ERROR_MEMORY.
 * After an error the document may be in part of the next version. */
int schema_upgrade(const struct schema *schema, cJSON *head, cJSON *document, struct error *err);
