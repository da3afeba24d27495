/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "conformance/runner/progress.h"
#include "rpc/loop.h"

#include <string.h>

/* The first checks of a run start the runtime and learn what the plugin offers: they say nothing about the rest. */
static void test_slow_checks_do_not_count(void)
{
	uint64_t first[] = {25000, 500, 400};
	uint64_t some[] = {25000, 500, 400, 600, 500, 500};
	CU_ASSERT(progress_estimate_s(first, 3, 68) == UINT64_MAX);
	UNIT_INT((int)progress_estimate_s(some, 6, 66), 33);
	CU_ASSERT(progress_estimate_s(some, 6, 0) == UINT64_MAX);
}

static bool shows(const struct progress *progress, const char *what)
{
	struct text line CLEANUP_TEXT = {0};
	progress_add_line(progress, &line);
	return strstr(text_string(&line), what) != NULL;
}

static void test_oldest_check_is_shown(void)
{
	const struct progress_options options = {.planned = 4, .quiet = true};
	uv_loop_t loop;
	CU_ASSERT_FATAL(loop_open(&loop, NULL) == 0);
	struct progress *progress = progress_open(&loop, &options);
	progress_begin(progress, "suite.first");
	progress_begin(progress, "suite.second");
	progress_begin(progress, "suite.third");
	CU_ASSERT(shows(progress, "[0/4] suite.first "));
	progress_end(progress, "suite.second", REPORT_PASS, "", 1);
	CU_ASSERT(shows(progress, "[1/4] suite.first "));
	progress_end(progress, "suite.left-out", REPORT_UNSUPPORTED, "", 0);
	progress_end(progress, "suite.first", REPORT_FAIL, "", 1);
	CU_ASSERT(shows(progress, "1 not passed"));
	CU_ASSERT(shows(progress, " suite.third "));
	progress_end(progress, "suite.third", REPORT_PASS, "", 1);
	CU_ASSERT(!shows(progress, "suite"));
	progress_close(progress);
	UNIT_INT(loop_drain(&loop, 1000, NULL), 0);
}

UNIT_MAIN("progress",
	  {"the slowest checks do not count for the time left", test_slow_checks_do_not_count},
	  {"of several checks the oldest is shown", test_oldest_check_is_shown})
