/* SPDX-License-Identifier: MIT */
#pragma once

/* The state of report_render() while it reads a journal. */

#include "base/text_index.h"
#include "reports/journal_read.h"
#include "reports/model.h"

struct render_requirement {
	const cJSON *planned; /* in the plan's record */
	const char *id;
	struct report_tally tally;
	const struct render_check *watched; /* one that watched for less than a thorough run */
	const struct render_check *why;	    /* the check that decides the verdict; NULL for none */
};

/* What is recorded while a check runs. */
enum render_list {
	RENDER_DEVICES,
	RENDER_DEVICE_OUTCOMES,
	RENDER_ASSERTIONS,
	RENDER_NOTES,
	RENDER_EVIDENCE,
	RENDER_EVENTS,
	RENDER_OBSERVATIONS, /* most checks have none, and then no member in the report */
	RENDER_LIST_COUNT
};

struct render_check {
	const cJSON *planned; /* in the plan's record */
	const char *id;
	struct render_requirement *requirement; /* NULL for none */
	enum report_outcome outcome;
	const char *reason;
	const char *cause;		    /* the check that kept this one from running, or NULL */
	const char *unproven;		    /* why a pass does not prove the requirement, or NULL */
	bool cut_off;			    /* its end is missing */
	bool over_budget;		    /* flaky, and more flaky checks failed than may */
	const struct journal_record *begin; /* NULL: it did not run */
	const struct journal_record *end;   /* NULL: it runs, or was cut off */
	cJSON *lists[RENDER_LIST_COUNT];    /* as in the report */
};

struct render {
	const struct journal_log *log;
	const cJSON *plan; /* its record; NULL before it */
	struct render_check *checks;
	size_t check_count;
	struct text_index by_id;
	struct render_requirement *requirements;
	size_t requirement_count;
	cJSON *environment;
	cJSON *phases; /* of the run itself, as in the report */
	cJSON *events;
	cJSON *predictions;		       /* as in the report */
	cJSON *ran;			       /* records for environment_add_ran() */
	int64_t phases_ms[REPORT_PHASE_COUNT]; /* of the run itself and of all checks */
	const struct journal_record *aborted;
	bool ended;   /* run-end was seen */
	bool overlap; /* checks ran at the same time */
};

/* Each takes a record of its type, which has passed json_members_check(). */
int render_take_plan(struct render *render, const cJSON *record, struct error *err);
int render_take_check(struct render *render, const struct journal_record *record,
		      struct error *err);

/* The check that this member of the record names. */
int render_find_check(const struct render *render, const cJSON *record, const char *member,
		      struct render_check **out, struct error *err);
void render_free_plan(struct render *render);

/* Appends the record's members as an object to the array; those of an event with its time as "atMs". */
void render_add_record(const struct journal_record *record, cJSON *array);

/* After the last record: the outcome of every check, and the tallies of the requirements. */
void render_close_checks(struct render *render);

/* Called next: if more flaky checks failed than may, none of them failed as expected. */
void render_count_flakes(struct render *render);

enum report_disposition render_disposition(const struct render_check *check);

/* Why the requirement has its verdict: "" when it is satisfied. Caller frees. */
char *render_requirement_reason(const struct render_requirement *requirement);

/* Adds the check's object to the report's array. Its arrays move into the object. */
void render_add_check(const struct render *render, struct render_check *check,
		      struct members *checks);

/* Members of the report: run; requirements, totals and verdict. */
void render_add_run(const struct render *render, struct members *report);
void render_add_verdict(const struct render *render, struct members *report);
