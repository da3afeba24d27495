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

static struct discovery_device device = {.id = "a", .pci_vendor = 0x10de, .pci_device = 0x1eb8};
static const char *devices;

static void among(struct check_run *run)
{
	char *text CLEANUP_FREE = text_format("{\"devices\": [%s]}", devices);
	cJSON *document CLEANUP_JSON = NULL;
	CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &document, NULL), 0);
	agreement_expect_among(run, &device, document);
}

#define MODEL(id, address)                                                                         \
	"{\"vendorId\": \"0x10de\", \"deviceId\": \"" id "\", \"pciAddress\": \"" address "\"}"
#define T4_A MODEL("0x1eb8", "0000:1b:00.0")
#define T4_B MODEL("0x1eb8", "0000:1c:00.0")
#define L4   MODEL("0x27b8", "0000:1d:00.0")

static void test_the_granted_one_is_among_those_of_the_host(void)
{
	static const struct {
		const char *address, *devices;
		enum report_outcome outcome;
		const char *why;
	} cases[] = {
		{"0000:1c:00.0", T4_A ", " T4_B, REPORT_PASS, ""},
		{"0000:1c:00.0", T4_A ", " L4, REPORT_FAIL, "the granted one not"},
		{"0000:1c:00.0", "", REPORT_FAIL, "0 devices"},
		{"", T4_A ", " L4, REPORT_PASS, ""},
		{"", L4, REPORT_FAIL, "the granted one not"},
		{"", T4_A ", " T4_B, REPORT_UNSUPPORTED, "2 devices of its model"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		device.pci_address = cases[i].address;
		devices = cases[i].devices;
		recorder_expect(among, cases[i].outcome, cases[i].why);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"both show the same", test_both_show_the_same},
		{"the granted one is among those of the host",
		 test_the_granted_one_is_among_those_of_the_host},
		CU_TEST_INFO_NULL,
	};
	return unit_run("agreement", tests);
}
