/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Copying checked members of a record into an object of the report. Each function checks the
 * member's type and copies it under its own name; ERROR_FORMAT names the place. That memory ran out
 * shows when the object is taken (members_take()).
 */

#include "base/members.h"

int copy_string(const struct json_at *from, const char *key, struct members *to, struct error *err);

/* An absent member becomes null. */
int copy_string_or_null(const struct json_at *from, const char *key, struct members *to,
			struct error *err);

/* A whole number of at least 0. */
int copy_count(const struct json_at *from, const char *key, struct members *to, struct error *err);
int copy_bool(const struct json_at *from, const char *key, struct members *to, struct error *err);

/* Appends what it makes of `item` to `array`. */
typedef int copy_item_fn(const struct json_at *item, cJSON *array, struct error *err);

/* Gives each element of the array `key`, which may be absent, to `copy_item`. */
int copy_items(const struct json_at *from, const char *key, copy_item_fn *copy_item, cJSON *array,
	       struct error *err);

/* copy_items() into a new array. */
int copy_array(const struct json_at *from, const char *key, copy_item_fn *copy_item,
	       struct members *to, struct error *err);

/* A copy_item_fn for strings. */
int copy_string_item(const struct json_at *item, cJSON *array, struct error *err);
