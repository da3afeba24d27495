/* SPDX-License-Identifier: MIT */
#pragma once

/* What every CUnit program here needs: its table of tests, run to an exit code, and assertions that
 * show what they saw. */

#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With a sanitizer, memory and time are not those of the program alone. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define UNIT_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define UNIT_SANITIZED 1
#endif
#endif
#ifndef UNIT_SANITIZED
#define UNIT_SANITIZED 0
#endif

/* main() of a test program: UNIT_MAIN("text", {"escapes", test_escapes}, ...). */
#define UNIT_MAIN(suite, ...)                                                                      \
	int main(void)                                                                             \
	{                                                                                          \
		CU_TestInfo unit_tests[] = {__VA_ARGS__, CU_TEST_INFO_NULL};                       \
                                                                                                   \
		return unit_run(suite, unit_tests);                                                \
	}

/* Runs the tests between open() and close() of their suite, each NULL or 0 where it went well. The
 * exit code is 1 when a test or one of the two failed, or when no test ran. */
static inline int unit_run_in(const char *suite, CU_InitializeFunc open, CU_CleanupFunc close,
			      CU_TestInfo *tests)
{
	CU_SuiteInfo unit_suites[] = {
		{.pName = suite, .pInitFunc = open, .pCleanupFunc = close, .pTests = tests},
		CU_SUITE_INFO_NULL,
	};
	int passed = 0;
	if (CU_initialize_registry() != CUE_SUCCESS ||
	    CU_register_suites(unit_suites) != CUE_SUCCESS)
		return 1;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	(void)CU_basic_run_tests();
	passed = CU_get_number_of_tests_run() > 0 && CU_get_number_of_failure_records() == 0;
	CU_cleanup_registry();
	return passed ? 0 : 1;
}

static inline int unit_run(const char *suite, CU_TestInfo *tests)
{
	return unit_run_in(suite, NULL, NULL, tests);
}

static inline void unit_string(const char *seen, const char *wanted, unsigned line,
			       const char *file)
{
	int equal = seen != NULL && wanted != NULL && strcmp(seen, wanted) == 0;
	if (!equal)
		(void)printf("\n%s:%u: saw \"%s\"\n  wanted \"%s\"\n", file, line,
			     seen != NULL ? seen : "(null)", wanted != NULL ? wanted : "(null)");
	(void)CU_assertImplementation(equal, line, "strings are equal", file, "", CU_FALSE);
}

static inline void unit_contains(const char *seen, const char *part, unsigned line,
				 const char *file)
{
	int found = seen != NULL && strstr(seen, part) != NULL;
	if (!found)
		(void)printf("\n%s:%u: \"%s\" is not in:\n%s\n", file, line, part,
			     seen != NULL ? seen : "(null)");
	(void)CU_assertImplementation(found, line, "text contains", file, "", CU_FALSE);
}

static inline void unit_int(long long seen, long long wanted, unsigned line, const char *file)
{
	if (seen != wanted)
		(void)printf("\n%s:%u: saw %lld, wanted %lld\n", file, line, seen, wanted);
	(void)CU_assertImplementation(seen == wanted, line, "numbers are equal", file, "",
				      CU_FALSE);
}

/* An existing folder for temporary files, whose path is short enough for sockets. */
static inline const char *unit_temporary(void)
{
#ifdef _WIN32
	const char *named = getenv("TEMP");
	return named != NULL ? named : "C:\\Windows\\Temp";
#else
	return "/tmp";
#endif
}

/* Ends the test when the condition does not hold. */
#define UNIT_NEED(condition)                                                                       \
	do {                                                                                       \
		CU_ASSERT_TRUE(condition);                                                         \
		if (!(condition))                                                                  \
			return;                                                                    \
	} while (0)

#define UNIT_STRING(seen, wanted) unit_string(seen, wanted, __LINE__, __FILE__)
#define UNIT_CONTAINS(seen, part) unit_contains(seen, part, __LINE__, __FILE__)
#define UNIT_INT(seen, wanted)	  unit_int((long long)(seen), (long long)(wanted), __LINE__, __FILE__)
