/* SPDX-License-Identifier: MIT */
/* Dotted versions compared as numbers, and the levels of x86-64. */
#include "base/cleanup.h"
#include "base/cpu_level.h"
#include "base/tests/unit.h"
#include "base/version.h"

static void test_compare(void)
{
	static const struct {
		const char *a, *b;
		int order;
	} rows[] = {
		{"570.26", "570.124.06", -1},
		{"570.124.06", "570.26", 1},
		{"12", "12.0", 0},
		{"12.0.0", "12", 0},
		{"12.4", "12.10", -1},
		{"010.1", "10.01", 0},
		{"", "0", 0},
		{"", "1", -1},
		{"6.1.0-18-amd64", "6.1", 0},
		{"10.0.20348.887", "10.0.20348.2582", -1},
		{"1.", "1", 0},
		{"99999999999999999999", "100000000000000000000", -1},
		{"v1", "0", 0},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int seen = version_compare(rows[i].a, rows[i].b);
		int back = version_compare(rows[i].b, rows[i].a);
		UNIT_INT(seen < 0 ? -1 : seen > 0, rows[i].order);
		UNIT_INT(back < 0 ? -1 : back > 0, -rows[i].order);
	}
}

static void test_forms(void)
{
	static const char *const valid[] = {"0", "12", "570.124.06", "1.2.3.4.5.6.7.8"};
	static const char *const invalid[] = {"",	    ".",    "1.",   "1..2",
					      ".1",	    "1.2a", "-1.2", "1.2.3.4.5.6.7.8.9",
					      "1234567890", " 1"};
	for (size_t i = 0; i < ARRAY_SIZE(valid); i++)
		CU_ASSERT_TRUE(version_is_valid(valid[i]));
	for (size_t i = 0; i < ARRAY_SIZE(invalid); i++)
		CU_ASSERT_FALSE(version_is_valid(invalid[i]));
	UNIT_INT(version_length("12.4.1", 2), 4);
	UNIT_INT(version_length("12", 2), 2);
	UNIT_INT(version_length("12.", 2), 2);
	UNIT_INT(version_length("", 2), 0);
	UNIT_INT(version_major("550.54"), 550);
	UNIT_INT(version_major("x"), 0);
	UNIT_INT(version_major("99999999999"), 0);
}

#define V2 (1U << 0 | 1U << 9 | 1U << 13 | 1U << 19 | 1U << 20 | 1U << 23)
#define V3 (V2 | 1U << 12 | 1U << 22 | 1U << 27 | 1U << 28 | 1U << 29)
#define B3 (1U << 3 | 1U << 5 | 1U << 8)
#define B4 (B3 | 1U << 16 | 1U << 17 | 1U << 28 | 1U << 30 | 1U << 31)

/* Every feature of a level is needed, the registers that the system saves included. */
static void test_levels(void)
{
	static const struct {
		struct cpu_features features;
		unsigned level;
	} rows[] = {
		{{0, 0, 0, 0}, 1},
		{{V2, 0, 1, 0}, 2},
		{{V2, 0, 0, 0}, 1},
		{{V2 & ~(1U << 13), 0, 1, 0}, 1},
		{{V3, B3, 0x21, 7}, 3},
		{{V3, B3, 0x21, 3}, 2},
		{{V3, B3, 1, 7}, 2},
		{{V3, B4, 0x21, 7}, 3},
		{{V3, B4, 0x21, 0xe7}, 4},
		{{V3, B4, 0x21, 0x67}, 3},
		{{V3, B4 & ~(1U << 31), 0x21, 0xe7}, 3},
		{{V2, B4, 0x21, 0xe7}, 2},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		UNIT_INT(cpu_level_of(&rows[i].features), rows[i].level);
#if defined(__x86_64__) && !defined(_WIN32) && !defined(__clang__)
	/* GCC's own look at this processor, which also asks what the system saves. Clang 14 knows no levels. */
	unsigned wanted = __builtin_cpu_supports("x86-64-v4")	? 4
			  : __builtin_cpu_supports("x86-64-v3") ? 3
			  : __builtin_cpu_supports("x86-64-v2") ? 2
								: 1;
	UNIT_INT(cpu_level(), wanted);
#endif
}

static void test_ranges(void)
{
	static const struct {
		const char *range;
		bool valid, holds; /* of 31.0.15.5222 */
	} rows[] = {
		{">=31.0.15.5100 <31.0.15.5600", true, true},
		{">=31.0.15.5100  <31.0.15.5222", true, false},
		{"=31.0.15.5222", true, true},
		{"!=31.0.15.5222.0", true, false},
		{">31", true, true},
		{"<=31.0.15", true, false},
		{"", false, false},
		{"31", false, false},
		{">= 31", false, false},
		{">=31.x", false, false},
		{">=31 or", false, false},
		{">=1.2.3.4.5.6.7.8.9", false, false},
		{"<999999999.999999999.999999999.999999999.999999999.999999999.999999999.999999999.9",
		 false, false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_EQUAL(version_range_is_valid(rows[i].range), rows[i].valid);
		CU_ASSERT_EQUAL(version_in_range("31.0.15.5222", rows[i].range), rows[i].holds);
	}
}

UNIT_MAIN("versions", {"comparison", test_compare}, {"ranges", test_ranges}, {"forms", test_forms},
	  {"levels", test_levels})
