/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The records of a journal: their types and the members of each. The common members (seq, prev,
 * atMs, time, type) and the record's check (`check`) are not in the tables.
 */

#include "base/json_members.h"

#define JOURNAL_SCHEMA "gpucert-journal/2"

enum journal_type {
	JOURNAL_RUN_BEGIN,
	JOURNAL_ENVIRONMENT,
	JOURNAL_PLAN,
	JOURNAL_PHASE,
	JOURNAL_CHECK_BEGIN,
	JOURNAL_ASSERTION,
	JOURNAL_NOTE,
	JOURNAL_EVIDENCE,
	JOURNAL_DEVICE,
	JOURNAL_OBSERVATION,
	JOURNAL_RAN,
	JOURNAL_PREDICTION,
	JOURNAL_EVENT,
	JOURNAL_CHECK_HELD,
	JOURNAL_CHECK_END,
	JOURNAL_ABORT,
	JOURNAL_RUN_END,
	JOURNAL_TYPE_COUNT
};

struct journal_shape {
	const char *name; /* "run-begin" */
	const struct json_member *members;
	bool seen;    /* a check's own process wrote it, while it ran */
	bool durable; /* on disk before the run continues */
};

extern const struct journal_shape journal_shapes[JOURNAL_TYPE_COUNT];

/* The type with that name; JOURNAL_TYPE_COUNT when there is none. */
enum journal_type journal_type_of(const char *name);

/* Objects in records that a report holds as well. */
extern const struct json_member record_requirement[]; /* without leftOut and notApplicable */
extern const struct json_member record_identity[];    /* of a planned check */

/* A member of an object that has passed json_members_check(); NULL or 0 when it is absent or null. */
const cJSON *field_get(const cJSON *object, const char *key);
const char *field_string(const cJSON *object, const char *key);
int64_t field_count(const cJSON *object, const char *key);
