/* SPDX-License-Identifier: MIT */
/* CUDA and NVML show the same devices, or it is told which one does not. */
#include "base/json.h"
#include "conformance/checks/tests/recorder.h"
#include "conformance/checks/visibility.h"

#define UUID  "01010101010101010101010101010101"
#define FIRST "{\"deviceUuid\": \"" UUID "\", \"pciAddress\": \"0000:40:00.0\"}"
#define SECOND                                                                                     \
	"{\"deviceUuid\": \"02020202020202020202020202020202\", \"pciAddress\": \"0000:41:00.0\"}"
#define PART                                                                                       \
	"{\"deviceUuid\": \"03030303030303030303030303030303\", \"pciAddress\": \"0000:40:00.0\"}"
#define MOVED	"{\"deviceUuid\": \"" UUID "\", \"pciAddress\": \"0001:40:00.0\"}"
#define UNKNOWN "{\"deviceUuid\": null, \"pciAddress\": null}"

static const char *apis, *unsteered;

static void body(struct check_run *run)
{
	char *text CLEANUP_FREE = text_format("{\"apis\": %s, \"unsteered\": %s}", apis, unsteered);
	cJSON *document CLEANUP_JSON = NULL;
	CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &document, NULL), 0);
	agreement_expect(run, "one device", document);
}

#define API(name, status, devices)                                                                 \
	"{\"api\": {\"name\": \"" name "\", \"status\": \"" status "\"}, \"devices\": [" devices   \
	"]}"
#define BOTH(cuda, nvml) "[" API("cuda", "ok", cuda) ", " API("nvml", "ok", nvml) "]"

static void test_both_show_the_same(void)
{
	static const struct {
		const char *apis, *unsteered;
		enum report_outcome outcome;
		const char *why;
	} cases[] = {
		{BOTH(FIRST, FIRST), "null", REPORT_PASS, ""},
		{BOTH(FIRST ", " SECOND, SECOND ", " FIRST), "null", REPORT_PASS, ""},
		{BOTH(PART, FIRST), "null", REPORT_PASS, ""},
		{BOTH(MOVED, FIRST), "null", REPORT_PASS, ""},
		/* more through NVML is judged by what was granted */
		{BOTH(FIRST, FIRST ", " SECOND), "null", REPORT_PASS, ""},
		{BOTH(SECOND, FIRST), "null", REPORT_FAIL, "0000:41:00.0, not shown by NVML"},
		{BOTH(FIRST, ""), "null", REPORT_FAIL, "0000:40:00.0, not shown by NVML"},
		{BOTH(UNKNOWN, UNKNOWN), "null", REPORT_FAIL, "without an identity"},
		/* a variable hid one from CUDA alone */
		{BOTH(SECOND, FIRST), BOTH(FIRST, FIRST), REPORT_PASS, ""},
		{BOTH(FIRST, FIRST), BOTH(SECOND, FIRST), REPORT_FAIL, "not shown by NVML"},
		/* nothing to compare */
		{BOTH("", FIRST), "null", REPORT_BROKEN, ""},
		{"[" API("cuda", "ok", FIRST) ", " API("nvml", "unsupported", "") "]", "null",
		 REPORT_BROKEN, ""},
		{"[" API("cuda", "failed", "") ", " API("nvml", "ok", FIRST) "]", "null",
		 REPORT_BROKEN, ""},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		apis = cases[i].apis;
		unsteered = cases[i].unsteered;
		recorder_expect(body, cases[i].outcome, cases[i].why);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"both show the same", test_both_show_the_same},
		CU_TEST_INFO_NULL,
	};
	return unit_run("agreement", tests);
}
