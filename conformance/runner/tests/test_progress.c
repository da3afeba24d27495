/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "conformance/runner/progress.h"

/* The first checks of a run start the runtime and learn what the plugin offers: they say nothing about the rest. */
static void test_slow_checks_do_not_count(void)
{
	uint64_t first[] = {25000, 500, 400};
	uint64_t some[] = {25000, 500, 400, 600, 500, 500};
	CU_ASSERT(progress_estimate_s(first, 3, 68) == UINT64_MAX);
	UNIT_INT((int)progress_estimate_s(some, 6, 66), 33);
	CU_ASSERT(progress_estimate_s(some, 6, 0) == UINT64_MAX);
}

UNIT_MAIN("progress",
	  {"the slowest checks do not count for the time left", test_slow_checks_do_not_count})
