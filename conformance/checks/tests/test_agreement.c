/* SPDX-License-Identifier: MIT */
/* What the APIs of one container tell of its device is the same, or it is told which one tells what. */
#include "base/json.h"
#include "conformance/checks/tests/recorder.h"
#include "conformance/checks/visibility.h"

#define BYTES(digit) digit digit digit digit digit digit digit digit
#define UUID(digit)  "\"deviceUuid\": \"" BYTES(digit) BYTES(digit) BYTES(digit) BYTES(digit) "\""
#define BUS(address) "\"pciAddress\": \"" address "\""
#define MESA	     "\"driverUuid\": \"" BYTES("a") "\""
#define VENDORS	     "\"driverUuid\": \"" BYTES("b") "\""
#define NVIDIA	     "\"vendor\": \"NVIDIA Corporation\""
#define PROPRIETARY  "\"driver\": {\"idName\": \"VK_DRIVER_ID_NVIDIA_PROPRIETARY\"}"
#define NVK	     "\"driver\": {\"idName\": \"VK_DRIVER_ID_MESA_NVK\"}"
#define FIRST	     "{" UUID("1") ", " BUS("0000:40:00.0") "}"
#define PART	     "{" UUID("3") ", " BUS("0000:40:00.0") "}"
#define SECOND	     "{" UUID("2") ", " BUS("0000:41:00.0") "}"
#define FAR	     "{" UUID("1") ", " BUS("0001:40:00.0") "}"
#define FARTHER	     "{" UUID("1") ", " BUS("0002:40:00.0") "}"
#define UNKNOWN	     "{\"deviceUuid\": null, \"pciAddress\": null}"

static const char *apis, *unsteered;

static void body(struct check_run *run)
{
	char *text CLEANUP_FREE = text_format("{\"apis\": %s, \"unsteered\": %s}", apis, unsteered);
	cJSON *document CLEANUP_JSON = NULL;
	CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &document, NULL), 0);
	if (agreement_expect(run, "one device", document) == 0)
		check_not_applicable(run, "nothing to compare");
}

#define API(name, status, devices)                                                                 \
	"{\"api\": {\"name\": \"" name "\", \"status\": \"" status "\"}, \"devices\": [" devices   \
	"]}"
#define TWO(one, its, other, theirs) "[" API(one, "ok", its) ", " API(other, "ok", theirs) "]"

static void test_all_tell_the_same(void)
{
	static const struct {
		const char *apis, *unsteered;
		enum report_outcome outcome;
		const char *why;
	} cases[] = {
		{TWO("cuda", FIRST, "nvml", FIRST), "null", REPORT_PASS, ""},
		/* an API that does not tell the domain of the bus */
		{TWO("cuda", FAR, "nvml", FIRST), "null", REPORT_PASS, ""},
		{TWO("cuda", FAR, "nvml", FARTHER), "null", REPORT_FAIL,
		 "pciAddress: got 0001:40:00.0 by cuda, 0002:40:00.0 by nvml"},
		/* a part of a device */
		{TWO("cuda", PART, "nvml", FIRST), "null", REPORT_PASS, ""},
		{TWO("cuda", SECOND, "nvml", FIRST), "null", REPORT_FAIL, "0000:41:00.0 by cuda"},
		{TWO("vulkan", FIRST, "cuda", SECOND), "null", REPORT_FAIL, "0000:41:00.0 by cuda"},
		/* UUIDs: of one driver the same, */
		{TWO("vulkan", "{" UUID("1") ", " MESA "}", "opengl", "{" UUID("1") ", " MESA "}"),
		 "null", REPORT_PASS, ""},
		{TWO("vulkan", "{" UUID("1") ", " MESA "}", "opengl", "{" UUID("2") ", " MESA "}"),
		 "null", REPORT_FAIL, "deviceUuid"},
		{TWO("vulkan", "{" UUID("1") ", " MESA ", " PROPRIETARY "}", "cuda",
		     "{" UUID("2") "}"),
		 "null", REPORT_FAIL, "by vulkan, 22222222222222222222222222222222 by cuda"},
		{TWO("opencl", "{" UUID("1") ", " NVIDIA "}", "cuda", "{" UUID("2") "}"), "null",
		 REPORT_FAIL, "by opencl"},
		/* of two drivers not, and where it is not told whose they are. */
		{TWO("vulkan", "{" UUID("1") ", " MESA "}", "opencl",
		     "{" UUID("2") ", " VENDORS "}"),
		 "null", REPORT_NOT_APPLICABLE, ""},
		{TWO("vulkan", "{" UUID("1") ", " MESA ", " NVK "}", "cuda", "{" UUID("2") "}"),
		 "null", REPORT_NOT_APPLICABLE, ""},
		{TWO("vulkan", "{" UUID("1") ", " MESA "}", "hip", "{" UUID("2") "}"), "null",
		 REPORT_NOT_APPLICABLE, ""},
		/* LUIDs and render nodes */
		{TWO("dxgi", "{\"deviceLuid\": \"01\"}", "vulkan", "{\"deviceLuid\": \"02\"}"),
		 "null", REPORT_FAIL, "deviceLuid: got 02 by vulkan, 01 by dxgi"},
		{TWO("vulkan", "{\"drm\": {\"render\": \"226:128\"}}", "opengl",
		     "{\"drm\": {\"render\": \"226:129\"}}"),
		 "null", REPORT_FAIL, "drm/render"},
		/* a variable hid one from CUDA alone */
		{TWO("cuda", SECOND, "nvml", FIRST), TWO("cuda", FIRST, "nvml", FIRST), REPORT_PASS,
		 ""},
		{TWO("cuda", FIRST, "nvml", FIRST), TWO("cuda", SECOND, "nvml", FIRST), REPORT_FAIL,
		 "pciAddress"},
		/* nothing to compare */
		{TWO("cuda", "", "nvml", FIRST), "null", REPORT_NOT_APPLICABLE, ""},
		{TWO("cuda", UNKNOWN, "nvml", FIRST), "null", REPORT_NOT_APPLICABLE, ""},
		{"[" API("cuda", "failed", FIRST) ", " API("nvml", "ok", SECOND) "]", "null",
		 REPORT_NOT_APPLICABLE, ""},
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
		{"all tell the same", test_all_tell_the_same},
		{"the granted one is among those of the host",
		 test_the_granted_one_is_among_those_of_the_host},
		CU_TEST_INFO_NULL,
	};
	return unit_run("agreement", tests);
}
