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
	UNIT_INT(error_wrap(NULL, ERROR_FORMAT, "x"), ERROR_FORMAT);
	UNIT_INT(error_copy(NULL, &(struct error){.code = ERROR_BUSY}), ERROR_BUSY);
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
	UNIT_INT(error_wrap(&err, ERROR_FORMAT, "devices[%d]", 2), ERROR_FORMAT);
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
	(void)error_wrap(&err, ERROR_IO, "%.100s", longest);
	UNIT_INT(strlen(err.text), ERROR_TEXT_SIZE - 1);
	UNIT_STRING(err.text + ERROR_TEXT_SIZE - 4, "...");
}

static void test_cuts_lie_between_characters(void)
{
	struct error err = {0};
	for (size_t lead = 0; lead < 4; lead++) {
		struct error whole = {0};
		char longest[2 * ERROR_TEXT_SIZE] = "";
		size_t end = 0;
		memset(longest, 'x', lead);
		for (size_t i = lead; i + 4 < sizeof(longest); i += 4)
			memcpy(longest + i, "\xf0\x9f\x90\xa7", 5);
		(void)error_set(&err, ERROR_IO, "%s", longest);
		end = strlen(err.text);
		UNIT_STRING(err.text + end - 3, "...");
		UNIT_INT((end - 3 - lead) % 4, 0);
		UNIT_INT(end > ERROR_TEXT_SIZE - 8, 1);
		(void)error_set(&whole, ERROR_IO, "%.*s", (int)(lead + (size_t)4 * 240), longest);
		(void)error_wrap(&whole, ERROR_IO, "%.*s", 100, longest + lead);
		end = strlen(whole.text);
		UNIT_STRING(whole.text + end - 3, "...");
		UNIT_INT((end - 3 - 100 - 2 - lead) % 4, 0);
	}
}

static void test_copy(void)
{
	struct error from = {.code = ERROR_REMOTE, .remote = 5, .text = "not found"};
	struct error err = {0};
	UNIT_INT(error_copy(&err, &from), ERROR_REMOTE);
	UNIT_INT(err.code, ERROR_REMOTE);
	UNIT_INT(err.remote, 5);
	UNIT_STRING(err.text, "not found");
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
	  {"system codes", test_system_codes}, {"wrap", test_wrap}, {"copy", test_copy},
	  {"long texts are cut", test_long_texts_are_cut},
	  {"cuts lie between characters", test_cuts_lie_between_characters}, {"names", test_names})
