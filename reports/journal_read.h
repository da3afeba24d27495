/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reading a journal. A last line without a newline was torn by a crash and is left out. Each record holds the digest of
 * the line before it, line feed included, and the first that of nothing; one that does not is unchained. Any other line
 * that is not the next record is ERROR_FORMAT (ERROR_LIMIT when too long) naming "path:line", and so is a repeated
 * member; a journal of an unsupported version is ERROR_UNSUPPORTED. report_render() checks the members of each record
 * (reports/records.h).
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
	size_t unchained; /* the first line not chained to the one before, from 1; 0: none */
	char digest[DIGEST_SIZE]; /* of the last complete line, and so of all lines */
};

#define CLEANUP_JOURNAL_LOG __attribute__((cleanup(journal_log_free)))

/* Free with journal_log_free(). ERROR_FORMAT also without a complete record, and when the file was changed:
 * journal_read() refuses an unchained log, and anything but a regular file, links too; journal_parse() only sets
 * `unchained`. */
int journal_read(const char *path, struct journal_log *log, struct error *err);
int journal_parse(const char *name, const char *data, size_t size, struct journal_log *log,
		  struct error *err);
void journal_log_free(struct journal_log *log);
