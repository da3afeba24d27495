/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Known failures and their reasons: rows of expectation files (reports/schema/expectations.schema.json). A
 * row says how one check ends in the environments that it matches. It changes no outcome and never makes a
 * run conformant (reports/model.h): it distinguishes a known failure from a new one.
 */

#include "base/arena.h"
#include "base/json.h"
#include "reports/model.h"

enum { EXPECTATIONS_ROWS_MAX = 4096, EXPECTATION_TEXT_MAX = 2048 /* bytes of one text */ };

/* Every member that is not "" must hold. Ranges are those of version_in_range(). */
struct expectation_match {
	const char *os;		     /* environment.os.name */
	const char *os_build;	     /* range over environment_add_build() */
	const char *driver;	     /* the key of a driver */
	const char *driver_version;  /* range, of that driver, or of any */
	const char *runtime;	     /* its name */
	const char *runtime_version; /* range */
	const char *device;	     /* pattern (text_glob()) of a device's hardware id or name */
	const char *node;	     /* environment.node.kind */
};

enum expectation_kind { EXPECT_FAIL, EXPECT_CRASH, EXPECT_TIMEOUT, EXPECT_FLAKY };

struct expectation {
	const char *entry; /* "windows-gpus#2": the file's name, and the row's number from 1 */
	const char *check;
	unsigned revision; /* of the check; 0: any */
	enum expectation_kind expect;
	const char *reason; /* pattern of the failure's reason; "": any */
	struct expectation_match match;
	const char *why, *link, *added, *seen_with, *review_by; /* days as "2026-11-22" */
};

/* Rows of several files. Empty when zeroed. */
struct expectations {
	struct arena arena;
	struct expectation *rows;
	size_t count;
	unsigned flake_budget; /* how many flaky checks may fail in one run: the files' sum */
};

#define CLEANUP_EXPECTATIONS __attribute__((cleanup(expectations_free)))

/* Adds the rows of a file. ERROR_FORMAT names the row's member; a check that no row may name
 * (expectation_is_sentinel()) and an invalid range or day are errors, too; ERROR_LIMIT; errors of
 * json_read_file(). */
int expectations_read(const char *path, struct expectations *out, struct error *err);
int expectations_parse(const char *name, const cJSON *document, struct expectations *out,
		       struct error *err);

/* ERROR_FORMAT: two rows are about the same check in the same environments, so it is ambiguous which one applies. */
int expectations_check_twins(const struct expectations *expectations, struct error *err);

/* The row for a check in a report's environment: the matching one with the most members in its match. NULL
 * in *out: none. ERROR_FORMAT: two match alike. */
int expectations_find(const struct expectations *expectations, const char *check, unsigned revision,
		      const cJSON *environment, const struct expectation **out, struct error *err);

/* A row's expectation; a flaky one has the outcome REPORT_FAIL. Borrows from the row. */
struct report_known expectation_known(const struct expectation *row);

/* Days since the row's review was due; negative: days until then. `today` is "2026-11-22...". */
long expectation_overdue(const struct expectation *row, const char *today);

/* Days from the first of March of the year 0 to "2026-11-22..."; -1: it does not begin with a day from 2000 on. */
long expectation_day(const char *day);

/* For members of JSON (base/json_members.h): a text that is not empty and at most EXPECTATION_TEXT_MAX bytes, a day.
 * ERROR_FORMAT. */
int expectation_check_text(const struct json_at *at, struct error *err);
int expectation_check_day(const struct json_at *at, struct error *err);

/* A run without it proves nothing (the suite environment, registration.arrives): its failure is never a
 * known, harmless one. */
bool expectation_is_sentinel(const char *check);

enum { EXPECTATION_GRACE_DAYS = 90 }; /* overdue: a warning first, and after these an error */

void expectations_free(struct expectations *expectations);
