/* SPDX-License-Identifier: MIT */
/* What is recorded of a limit on a device's memory. No kernel here has the controller: what containers took is made
 * up, in the sizes of a card of 8 GiB. */
#include "conformance/checks/device_memory.h"
#include "conformance/checks/tests/recorder.h"

static struct device_memory seen;

static void body(struct check_run *run)
{
	device_memory_judge(run, &seen);
}

static void test_a_limit_holds_or_not(void)
{
	static const struct {
		uint64_t used, set, read, used_within;
		const char *end;
		enum report_outcome outcome;
		const char *why;
	} cases[] = {
		/* refused; gone on in memory of the host; gone on by giving up some of its own */
		{50331648, 25165824, 25165824, 0, "failed VK_ERROR_OUT_OF_DEVICE_MEMORY",
		 REPORT_PASS, ""},
		{50331648, 25165824, 25165824, 8388608, "ok ", REPORT_PASS, ""},
		{50331648, 25165824, 25165824, 25165824, "ok ", REPORT_PASS, ""},
		{50331648, 25165824, 25165824, 50331648, "ok ", REPORT_FAIL,
		 "used under the limit: got 50331648 of 25165824 bytes"},
		{50331648, 25165824, UINT64_MAX, 8388608, "ok ", REPORT_FAIL,
		 "limit: got 18446744073709551615, set to 25165824"},
		{9663676416, 4831838208, 4831838208, 0, "ok ", REPORT_FAIL, "of 8514437120 bytes"},
		{0, 0, 0, 0, "ok ", REPORT_UNSUPPORTED, "nothing is charged"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		seen = (struct device_memory){
			.label = "card",
			.region = "drm/0000:03:00.0/vram0",
			.capacity = 8514437120,
			.used = cases[i].used,
			.set = cases[i].set,
			.read = cases[i].read,
			.used_within = cases[i].used_within,
			.end = cases[i].end,
		};
		recorder_expect(body, cases[i].outcome, cases[i].why);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a limit holds or not", test_a_limit_holds_or_not},
		CU_TEST_INFO_NULL,
	};
	return unit_run("device_memory", tests);
}
