/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Building JSON objects member by member. When memory runs out the builder remembers it, and
 * members_take() returns NULL: one check at the end is enough. Keys are literals and are not
 * copied.
 */

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct members {
	cJSON *object;
	bool failed;
};

#define CLEANUP_MEMBERS __attribute__((cleanup(members_free)))

struct members members_begin(void);
cJSON *members_take(struct members *members); /* caller owns it; NULL: out of memory */
void members_free(struct members *members);

/* Untrusted text: bytes that are not UTF-8 become U+FFFD. NULL becomes null. */
void member_string(struct members *members, const char *key, const char *value);
/* The same for a fixed-size array that may lack its NUL. */
void member_text(struct members *members, const char *key, const char *array, size_t size);
/* null for "". */
void member_optional(struct members *members, const char *key, const char *value);
void member_number(struct members *members, const char *key, double value);
void member_bool(struct members *members, const char *key, bool value);
void member_null(struct members *members, const char *key);
/* "0x10de": at least `digits` hexadecimal digits. */
void member_hex(struct members *members, const char *key, uint64_t value, int digits);
/* Bytes as lower-case hexadecimal digits; at most 64 bytes. */
void member_bytes(struct members *members, const char *key, const uint8_t *bytes, size_t size);
/* A formatted string. */
void member_format(struct members *members, const char *key, const char *format, ...)
	PRINTF_LIKE(3, 4);
/* Milliseconds with three decimals. */
void member_milliseconds(struct members *members, const char *key, uint64_t nanoseconds);
/* Any value; consumed. NULL counts as out of memory. */
void member_item(struct members *members, const char *key, cJSON *item);

/* Appends to an array; consumes `item`. NULL on either side, or no memory: false. */
bool array_add(cJSON *array, cJSON *item);
