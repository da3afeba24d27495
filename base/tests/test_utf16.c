/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/utf16.h"

#include <stdlib.h>
#include <string.h>

static void expect_utf8(const uint16_t *units, size_t count, const char *wanted)
{
	char *text CLEANUP_FREE = utf16_to_utf8(units, count);
	CU_ASSERT_PTR_NOT_NULL(text);
	if (text != NULL)
		CU_ASSERT_STRING_EQUAL(text, wanted);
}

static void test_to_utf8(void)
{
	static const uint16_t plain[] = {'G', 'P', 'U'};
	static const uint16_t wide[] = {0xE9, 0x20AC, 0xD83D, 0xDE00};
	static const uint16_t high_alone[] = {0xD83D, 'x'};
	static const uint16_t low_alone[] = {0xDE00};
	static const uint16_t high_at_end[] = {'x', 0xD83D};
	expect_utf8(plain, 3, "GPU");
	expect_utf8(plain, 0, "");
	expect_utf8(wide, 4, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	expect_utf8(high_alone, 2, "\xef\xbf\xbdx");
	expect_utf8(low_alone, 1, "\xef\xbf\xbd");
	expect_utf8(high_at_end, 2, "x\xef\xbf\xbd");
}

static void expect_units(const char *text, const uint16_t *wanted, size_t wanted_count)
{
	size_t count = 0;
	uint16_t *units CLEANUP_FREE = utf16_from_utf8(text, &count);
	CU_ASSERT_EQUAL(count, wanted_count);
	CU_ASSERT_PTR_NOT_NULL(units);
	if (units == NULL || count != wanted_count)
		return;
	CU_ASSERT_EQUAL(memcmp(units, wanted, count * sizeof(*units)), 0);
	CU_ASSERT_EQUAL(units[count], 0);
}

static void test_from_utf8(void)
{
	static const uint16_t wide[] = {0xE9, 0x20AC, 0xD83D, 0xDE00};
	static const uint16_t bad[] = {0xFFFD, 'x'};
	static const uint16_t bad_twice[] = {0xFFFD, 0xFFFD};
	static const uint16_t bad_thrice[] = {0xFFFD, 0xFFFD, 0xFFFD};
	expect_units("", wide, 0);
	expect_units("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", wide, 4);
	expect_units("\xffx", bad, 2);
	expect_units("\xc3x", bad, 2);		     /* cut short */
	expect_units("\xc0\xaf", bad_twice, 2);	     /* overlong */
	expect_units("\xed\xa0\x80", bad_thrice, 3); /* a surrogate */
}

UNIT_MAIN("UTF-16", {"to UTF-8", test_to_utf8}, {"from UTF-8", test_from_utf8})
