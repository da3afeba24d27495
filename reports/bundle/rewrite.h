/* SPDX-License-Identifier: MIT */
#pragma once

/* A journal that was read, made anew without identities. */

#include "reports/journal_read.h"
#include "reports/redact/redact.h"

/* Redacts the content of a piece of evidence and gives its record the path, digest and size of what it is now. */
int rewrite_evidence(const struct redactor *redactor, cJSON *record, const char *data, size_t size,
		     struct text *out, struct error *err);

/* The lines of the journal whose evidence was rewritten, chained anew. The records of `log` change. */
int rewrite_journal(const struct redactor *redactor, const struct journal_log *log,
		    struct text *out, struct error *err);
