/* SPDX-License-Identifier: MIT */
#pragma once

/* Reading a report that report_render() made, for writers. */

#include "base/json.h"
#include "reports/model.h"

#include <stdint.h>

struct view_check {
	const cJSON *json;
	const char *id;
	size_t suite_size;  /* length of the suite's name, with which the id begins */
	const char *reason; /* about the outcome, or why a pass does not prove the requirement */
	bool unproven;	    /* it passed, but does not prove the requirement */
	const char *cause;  /* the check that kept this one from running; "" for none */
	enum report_outcome outcome;
	enum report_disposition disposition;
	int64_t duration_ms;
};

struct view {
	struct view_check *checks;
	size_t count;
};

#define CLEANUP_VIEW __attribute__((cleanup(view_free)))

enum { VIEW_CHECKS_MAX = 20 * 1000 };

/* ERROR_FORMAT: `report` is not a report; ERROR_LIMIT: it has too many checks. Strings are borrowed from it. Free with view_free(). */
int view_open(const cJSON *report, struct view *view, struct error *err);
void view_free(struct view *view);

/* The number, which is at most 2^53 either way, or the string, at a JSON pointer; 0 or "" when there is none. */
int64_t view_int(const cJSON *report, const char *pointer);
/* The same for a duration in milliseconds: never negative, even in an untrusted report. */
int64_t view_duration(const cJSON *report, const char *pointer);
const char *view_string(const cJSON *report, const char *pointer);

/* Is it the string at the JSON pointer? */
bool view_is(const cJSON *report, const char *pointer, const char *string);

/* Why a check's failure is expected: an entry of an expectation file, or else its level. */
const char *view_expected_by(const cJSON *check);

/* Adds a string as a terminal may show it (text_add_escaped()). */
void view_add_escaped(struct text *out, const char *string);

/* What the report says about conformance: "conformant", or why not, with the requirements. */
void view_add_conformance(const cJSON *report, struct text *out);

/* The id after its suite; all of it without one. */
const char *view_name_in_suite(const struct view_check *check);

bool view_same_suite(const struct view_check *a, const struct view_check *b);

/* Is the check the first of its suite? */
bool view_begins_suite(const struct view *view, size_t index);
