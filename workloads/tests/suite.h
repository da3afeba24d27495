/* SPDX-License-Identifier: MIT */
#ifndef WORKLOADS_TESTS_SUITE_H
#define WORKLOADS_TESTS_SUITE_H

/* The main() of a CUnit program with one suite. */

#include <CUnit/Basic.h>

static inline int suite_run(const char *name, CU_TestInfo *tests)
{
	CU_SuiteInfo suites[] = {{.pName = name, .pTests = tests}, CU_SUITE_INFO_NULL};
	unsigned failures = 0;

	if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS)
		return 2;
	CU_basic_set_mode(CU_BRM_VERBOSE);
	(void)CU_basic_run_tests();
	failures = CU_get_number_of_failures();
	CU_cleanup_registry();
	return failures == 0 ? 0 : 1;
}

#endif
