/* SPDX-License-Identifier: MIT */
#pragma once

/* Looking into documents. Pointers are JSON pointers. */

#include "base/json.h"

#include <CUnit/CUnit.h>
#include <string.h>

/* "(no string)" where there is none. */
static inline const char *string_at(const cJSON *json, const char *pointer)
{
	const char *string = cJSON_GetStringValue(json_pointer(json, pointer));
	return string != NULL ? string : "(no string)";
}

static inline void expect_string(const cJSON *json, const char *pointer, const char *expected)
{
	const char *actual = string_at(json, pointer);
	if (strcmp(actual, expected) != 0)
		(void)fprintf(stderr, "%s: \"%s\", expected \"%s\"\n", pointer, actual, expected);
	CU_ASSERT_STRING_EQUAL(actual, expected);
}

static inline void expect_contains(const cJSON *json, const char *pointer, const char *part)
{
	const char *actual = string_at(json, pointer);
	if (strstr(actual, part) == NULL)
		(void)fprintf(stderr, "%s: \"%s\", expected \"...%s...\"\n", pointer, actual, part);
	CU_ASSERT_PTR_NOT_NULL(strstr(actual, part));
}

static inline void expect_begins(const cJSON *json, const char *pointer, const char *part)
{
	expect_contains(json, pointer, part);
	CU_ASSERT_PTR_EQUAL(strstr(string_at(json, pointer), part), string_at(json, pointer));
}

static inline void expect_null(const cJSON *json, const char *pointer)
{
	CU_ASSERT_TRUE(cJSON_IsNull(json_pointer(json, pointer)));
}

static inline void expect_bool(const cJSON *json, const char *pointer, bool expected)
{
	const cJSON *node = json_pointer(json, pointer);
	CU_ASSERT_TRUE(expected ? cJSON_IsTrue(node) : cJSON_IsFalse(node));
}

static inline void expect_number(const cJSON *json, const char *pointer, double expected)
{
	const cJSON *node = json_pointer(json, pointer);
	CU_ASSERT_TRUE(cJSON_IsNumber(node) && cJSON_GetNumberValue(node) == expected);
}

static inline void expect_count(const cJSON *json, const char *pointer, int expected)
{
	const cJSON *node = json_pointer(json, pointer);
	CU_ASSERT_TRUE(cJSON_IsArray(node));
	CU_ASSERT_EQUAL(cJSON_GetArraySize(node), expected);
}
