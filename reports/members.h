/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Building JSON objects. Building cannot fail half-way: the first failure is remembered, what
 * follows does nothing, and members_take() returns NULL.
 */

#include "base/json.h"

#include <stdint.h>

struct members {
	cJSON *object;
	bool failed;
};

#define CLEANUP_MEMBERS __attribute__((cleanup(members_free)))

struct members members_new(void);
void members_free(struct members *members);

/* NULL when memory ran out; the object is empty afterwards. */
cJSON *members_take(struct members *members);

/* Untrusted bytes: what is not UTF-8 becomes U+FFFD. NULL makes a JSON null. */
void members_add_string(struct members *members, const char *key, const char *string);

/* As members_add_string(), cut to `max` bytes and "..." behind them. */
void members_add_text(struct members *members, const char *key, const char *string, size_t max);
void members_add_int(struct members *members, const char *key, int64_t value);
void members_add_number(struct members *members, const char *key, double value);
void members_add_bool(struct members *members, const char *key, bool value);

/* Takes ownership of `string`; NULL is a failure. */
void members_add_taken(struct members *members, const char *key, char *string);

/* Takes ownership of `value`; NULL is a failure. */
void members_add(struct members *members, const char *key, cJSON *value);

/* A copy of `value`, or an empty array for NULL. */
void members_add_copy(struct members *members, const char *key, const cJSON *value);

/* Takes ownership of `item`, a NULL being a failure, and appends it to `array`. */
int members_append(cJSON *array, cJSON *item, struct error *err);

/* A new JSON string of at most `max` bytes and "..." behind them. NULL: out of memory. */
cJSON *members_new_text(const char *string, size_t max);
