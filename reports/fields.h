/* SPDX-License-Identifier: MIT */
#pragma once

/* The members of an object as one table, by which it is checked and then read and copied. */

#include "base/members.h"

#include <stdint.h>

enum field_type {
	FIELD_STRING,
	FIELD_COUNT, /* a whole number from 0 to INT32_MAX */
	FIELD_BOOL,
	FIELD_WORD, /* one of `words` */
	FIELD_STRINGS,
	FIELD_OBJECT,  /* its members are those of `fields` */
	FIELD_OBJECTS, /* an array of such objects */
	FIELD_ANY,     /* an object of which nothing is checked */
};

enum field_presence {
	FIELD_NEEDED,
	FIELD_OR_NULL,	 /* may be absent or null; a copy holds null then */
	FIELD_OR_ABSENT, /* may be absent or null; a copy lacks it then */
};

/* A table ends with {.key = NULL}. */
struct field {
	const char *key;
	enum field_type type;
	enum field_presence presence;
	const char *const *words; /* NULL-ended */
	const struct field *fields;
};

/* ERROR_FORMAT names the member that is missing, of another type or value, or not in the table.
 * `also`: further keys that the object may hold; NULL for none. */
int fields_check(const struct json_at *object, const struct field *fields, const char *const *also,
		 struct error *err);

/* Adds a copy of each member to `to`. The object has passed fields_check(). */
void fields_copy(const cJSON *object, const struct field *fields, struct members *to);

/* A member of an object that has passed; NULL or 0 when it is absent or null. */
const cJSON *field_get(const cJSON *object, const char *key);
const char *field_string(const cJSON *object, const char *key);
int64_t field_count(const cJSON *object, const char *key);
