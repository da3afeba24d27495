/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reading a journal. A last line without a newline was torn by a crash and is left out. Each record
 * holds the digest of the line before it, line feed included, and the first that of nothing; one
 * that does not is unchained. Anything else that is not a record in sequence is ERROR_FORMAT
 * (ERROR_LIMIT when too long) naming "path:line", and so is a member that is there twice, and a journal of a version that is not read
 * ERROR_UNSUPPORTED. What a record of a type must hold
 * (reports/records.h) is checked by report_render().
 */

#include "base/digest.h"
#include "reports/records.h"

struct journal_record {
	enum journal_type type;
	int64_t at_ms;	  /* monotonic, since the journal was made */
	const char *time; /* UTC, RFC 3339; borrowed from json */
	size_t line;	  /* from 1 */
	cJSON *json;
};

struct journal_log {
	char *name; /* for errors: the path */
	struct journal_record *records;
	size_t count;	  /* at least 1 */
	bool torn;	  /* a last line was left out */
	size_t unchained; /* the first line that does not follow from the one before, from 1;
			     0: none */
	char digest[DIGEST_SIZE]; /* of the last complete line, and so of all of them */
};

#define CLEANUP_JOURNAL_LOG __attribute__((cleanup(journal_log_free)))

/* Free with journal_log_free(). ERROR_FORMAT also when there is no complete record, and when the
 * file was changed: journal_read() refuses an unchained log, and what is not a regular file, links too; journal_parse() only says so. */
int journal_read(const char *path, struct journal_log *log, struct error *err);
int journal_parse(const char *name, const char *data, size_t size, struct journal_log *log,
		  struct error *err);
void journal_log_free(struct journal_log *log);
