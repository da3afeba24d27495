/* SPDX-License-Identifier: MIT */
#pragma once

/* What report_render() has learned while it reads a journal from its first record to its last. */

#include "reports/copy.h"
#include "reports/journal_read.h"
#include "reports/model.h"

struct render_requirement {
	const cJSON *planned; /* in the plan's record */
	const char *id;
	const char *level;
	struct report_tally tally;
	cJSON *checks;		    /* array of check ids */
	const char *left_out;	    /* the first check that applies and is not in the plan */
	const char *not_applicable; /* why checks that are not in the plan do not apply */
	const struct render_check *watched; /* one that watched for less than a thorough run */
	const struct render_check *why;	    /* the check that decides the verdict; NULL for none */
};

struct render_check {
	const cJSON *planned;			/* in the plan's record */
	char *name;				/* "id@variant" or "id" */
	struct render_requirement *requirement; /* NULL for none */
	const char *expectation;		/* the expectation entry that covers it, or NULL */
	enum report_outcome expected;		/* by that entry */
	enum report_outcome outcome;
	const char *reason;
	const char *cause;		    /* the check that kept this one from running, or NULL */
	const char *unproven;		    /* why a pass does not prove the requirement, or NULL */
	bool flaky;			    /* attempts ended differently */
	bool cut_off;			    /* the last attempt has no end */
	const struct journal_record *begin; /* of the attempt that runs; NULL between attempts */
	int64_t attempt;		    /* the number of the last attempt; 0 before the first */
	cJSON *attempts;		    /* arrays, as in the report */
	cJSON *assertions;
	cJSON *notes;
	cJSON *evidence;
	cJSON *devices;
	cJSON *events;
	int64_t left_out;
	int64_t watched_ms;	     /* of the last attempt */
	int64_t watched_thorough_ms; /* 0: nothing was watched */
};

struct render {
	const struct journal_log *log;
	bool planned;	 /* the plan's record was seen */
	cJSON *settings; /* as in the report; NULL before the plan */
	int64_t filtered_out;
	struct render_check *checks;
	size_t check_count;
	struct render_check **by_name; /* sorted by name */
	struct render_requirement *requirements;
	size_t requirement_count;
	cJSON *environment;
	cJSON *phases; /* of the run itself, as in the report */
	cJSON *events;
	int64_t phases_ms[REPORT_PHASE_COUNT]; /* of the run itself and of all attempts */
	const struct journal_record *aborted;
	enum report_abort abort_kind;
	bool ended; /* run-end was seen */
	int64_t min_run;
	bool conformance_required;
};

enum report_state render_state_of(const struct render *render);

/* The records of the plan. */
int render_take_plan(struct render *render, const struct json_at *record, struct error *err);

/* The check that this member of the record names. */
int render_find_check(struct render *render, const struct json_at *record, const char *member,
		      struct render_check **out, struct error *err);
void render_free_plan(struct render *render);

/* The records of a check. */
int render_take_check_begin(struct render *render, const struct journal_record *record,
			    struct error *err);
int render_take_evidence(struct render *render, const struct json_at *record, struct error *err);
int render_take_check_held(struct render *render, const struct json_at *record, struct error *err);
int render_take_check_end(struct render *render, const struct journal_record *record,
			  struct error *err);

/* {kind, text, atMs} of an event's record, appended to `events`. */
int render_add_event(const struct journal_record *record, cJSON *events, struct error *err);

/* After the last record: the outcome of every check, and the tallies of the requirements. */
int render_close_checks(struct render *render, struct error *err);

enum report_disposition render_disposition(const struct render_check *check);

/* Why the requirement has its verdict: "" when it is satisfied. Caller frees; NULL when memory ran
 * out. */
char *render_requirement_reason(const struct render_requirement *requirement);

/* The check's object in the report; NULL when memory ran out. Its arrays move into the object. */
cJSON *render_check_json(struct render_check *check);

/* Members of the report: run; requirements, totals and verdict. */
int render_add_run(const struct render *render, struct members *report, struct error *err);
int render_add_verdict(struct render *render, struct members *report, struct error *err);
