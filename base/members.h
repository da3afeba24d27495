/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Building JSON objects member by member. After a failure further calls do nothing, and
 * members_take() returns NULL: one check at the end is enough.
 */

#include "base/json.h"

struct members {
	cJSON *object; /* or an array, whose elements have no key: NULL */
	bool failed;
};

#define CLEANUP_MEMBERS __attribute__((cleanup(members_free)))

struct members members_new(void);
struct members members_new_array(void);
void members_free(struct members *members);

/* NULL when memory ran out; the object is empty afterwards. Caller owns it. */
cJSON *members_take(struct members *members);

/* Any value; consumed. NULL is a failure. */
void member_item(struct members *members, const char *key, cJSON *item);

/* Untrusted text: what is not UTF-8 becomes U+FFFD. NULL becomes null. */
void member_string(struct members *members, const char *key, const char *string);
/* The same; null for "" as well. */
void member_optional(struct members *members, const char *key, const char *string);
/* The same for a fixed-size array that may lack its NUL. */
void member_text(struct members *members, const char *key, const char *array, size_t size);
/* The same, cut to `max` bytes followed by "...". */
void member_cut(struct members *members, const char *key, const char *string, size_t max);
/* Takes ownership of `string`; NULL is a failure. */
void member_taken(struct members *members, const char *key, char *string);
void member_format(struct members *members, const char *key, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* "0x10de": at least `digits` hexadecimal digits. */
void member_hex(struct members *members, const char *key, uint64_t value, int digits);
/* At most 64 bytes as lower-case hexadecimal digits; NULL becomes null. */
void member_bytes(struct members *members, const char *key, const uint8_t *bytes, size_t size);
void member_int(struct members *members, const char *key, int64_t value);
void member_number(struct members *members, const char *key, double value);
/* Milliseconds with three decimals. */
void member_milliseconds(struct members *members, const char *key, uint64_t nanoseconds);
void member_bool(struct members *members, const char *key, bool value);
void member_null(struct members *members, const char *key);
/* For programs, in which memory does not run out: adds a new object or array, which is filled in place. The parent owns
 * it. */
struct members member_object(struct members *members, const char *key);
struct members member_array(struct members *members, const char *key);
/* A copy of `value`, or an empty array for NULL. */
void member_copy(struct members *members, const char *key, const cJSON *value);
/* A NULL-ended list; NULL is an empty one. */
void member_strings(struct members *members, const char *key, const char *const *strings);

/* Appends to an array; consumes `item`. Does nothing when either is NULL. */
void array_add(cJSON *array, cJSON *item);
