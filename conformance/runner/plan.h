/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The checks to run: filtered, and with their needs evaluated, before anything runs.
 */

#include "base/text.h"
#include "conformance/runner/check.h"
#include "conformance/runner/context.h"

struct plan_item {
	const struct check_suite *suite;
	const struct check *check;
	/* REPORT_UNSUPPORTED, REPORT_NOT_APPLICABLE: it will not run. Else REPORT_PASS until it
	 * has. */
	enum report_outcome outcome;
	char *reason;	      /* why it will not run; NULL when it will */
	bool no_api;	      /* not applicable because no device offers its API */
	const char *unproven; /* why its pass does not prove the requirement; NULL when it does */
	bool begun, ended;    /* by the run; also one that will not run, once that is recorded */
};

struct plan {
	struct plan_item *items;
	size_t count;
	size_t left_out_count; /* items after these: left out by the filters, needs evaluated */
};

#define CLEANUP_PLAN __attribute__((cleanup(plan_free)))

/*
 * Which checks. Patterns are globs over check ids; a pattern without '*', '?' and '.'
 * also names a suite. "tag:NAME", "level:must|should|may", "severity:critical|high|medium|low" and
 * "requirement:ID" select by these. An empty include list is everything.
 */
struct plan_filter {
	struct text_list include;
	struct text_list exclude;
	size_t shard, shard_count; /* only every shard_count-th of the selected checks, from index
				    * `shard`; a count of 0 is 1 */
	uint64_t
		seed; /* of a random order, in which a check still follows what it depends on; 0: the
			  tables' order */
};

/* `suites` is NULL-ended. A pattern that selects nothing is ERROR_ARGUMENT naming it and an
 * id or suite like it. `context` may be NULL: needs are not evaluated then. */
int plan_make(const struct check_suite *const *suites, const struct plan_filter *filter,
	      const struct context *context, struct plan *plan, struct error *err);
void plan_free(struct plan *plan);

/* A check on which that of items[index] depends, directly or through others, and which ended badly:
 * the reason not to run it. NULL when there is none. */
const struct plan_item *plan_cause(const struct plan *plan, const struct check_suite *const *suites,
				   size_t index);

/* The first to run of the plan's unfinished items on which the check depends, directly or through others; NULL: the
 * check need not wait. */
struct plan_item *plan_awaited(const struct plan *plan, const struct check_suite *const *suites,
			       const struct check *check);

/* The check with that id. ERROR_ARGUMENT: as for a pattern. */
int plan_find(const struct check_suite *const *suites, const char *id,
	      const struct check_suite **suite, const struct check **check, struct error *err);
