/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"

#include <errno.h>
#include <uv.h>

static void test_set(void)
{
	struct error err = {.remote = 5};

	UNIT_INT(error_set(&err, ERROR_FORMAT, "line %d", 3), ERROR_FORMAT);
	UNIT_INT(err.code, ERROR_FORMAT);
	UNIT_INT(err.remote, 0);
	UNIT_STRING(err.text, "line 3");
}

static void test_null_keeps_the_code(void)
{
	UNIT_INT(error_set(NULL, ERROR_LIMIT, "x"), ERROR_LIMIT);
	UNIT_INT(error_system(NULL, ENOENT, "x"), ERROR_NOT_FOUND);
	UNIT_INT(error_uv(NULL, UV_ECANCELED, "x"), ERROR_CANCELLED);
	UNIT_INT(error_memory(NULL), ERROR_MEMORY);
}

static void test_system_codes(void)
{
	static const struct {
		int number, code;
	} cases[] = {{ENOENT, ERROR_NOT_FOUND}, {EEXIST, ERROR_EXISTS}, {EACCES, ERROR_PERMISSION},
		     {EPERM, ERROR_PERMISSION}, {ENOMEM, ERROR_MEMORY}, {ENOSPC, ERROR_IO}};
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		UNIT_INT(error_system(&err, cases[i].number, "x"), cases[i].code);
	UNIT_STRING(err.text, "x: No space left on device");
	UNIT_INT(error_uv(&err, UV_ECONNREFUSED, "peer"), ERROR_UNAVAILABLE);
	UNIT_STRING(err.text, "peer: connection refused");
	UNIT_INT(error_uv(&err, UV_ETIMEDOUT, "peer"), ERROR_TIMEOUT);
	UNIT_INT(error_uv(&err, UV_ENOENT, "peer"), ERROR_NOT_FOUND);
	UNIT_INT(error_uv(&err, UV_EIO, "peer"), ERROR_IO);
}

static void test_wrap(void)
{
	struct error err = {0};

	(void)error_set(&err, ERROR_FORMAT, "expected integer");
	err.remote = 7;
	UNIT_INT(error_wrap(&err, "devices[%d]", 2), ERROR_FORMAT);
	UNIT_STRING(err.text, "devices[2]: expected integer");
	UNIT_INT(err.remote, 7);
}

static void test_long_texts_are_cut(void)
{
	char longest[2 * ERROR_TEXT_SIZE];
	struct error err = {0};

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	(void)error_set(&err, ERROR_IO, "%s", longest);
	UNIT_INT(strlen(err.text), ERROR_TEXT_SIZE - 1);
	UNIT_STRING(err.text + ERROR_TEXT_SIZE - 5, "x...");
	(void)error_set(&err, ERROR_IO, "%.1000s", longest);
	(void)error_wrap(&err, "%.100s", longest);
	UNIT_INT(strlen(err.text), ERROR_TEXT_SIZE - 1);
	UNIT_STRING(err.text + ERROR_TEXT_SIZE - 4, "...");
}

static void test_names(void)
{
	UNIT_STRING(error_code_name(0), "none");
	UNIT_STRING(error_code_name(ERROR_NOT_FOUND), "not-found");
	UNIT_STRING(error_code_name(ERROR_BUSY), "busy");
	UNIT_STRING(error_code_name(ERROR_BUSY - 1), "unknown");
	UNIT_STRING(error_code_name(1), "unknown");
}

UNIT_MAIN("error", {"set", test_set}, {"NULL keeps the code", test_null_keeps_the_code},
	  {"system codes", test_system_codes}, {"wrap", test_wrap},
	  {"long texts are cut", test_long_texts_are_cut}, {"names", test_names})
