/* SPDX-License-Identifier: MIT */
/* The device that worked is the one that was granted, or it is not said to be. */
#include "base/json.h"
#include "conformance/checks/tests/recorder.h"
#include "conformance/checks/visibility.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Two GPUs of one model and one of another; /dev/null and /dev/zero stand for render nodes. */
static const struct discovery_node nodes[] = {{"/dev/null", "/dev/null", "rw"},
					      {"/dev/zero", "/dev/zero", "rw"}};
static const struct discovery_device devices[] = {
	{.id = "a",
	 .kind = DISCOVERY_DISPLAY,
	 .pci_vendor = 0x1002,
	 .pci_device = 0x73bf,
	 .pci_address = "0000:03:00.0",
	 .luid = 0x0102,
	 .nodes = &nodes[0],
	 .node_count = 1},
	{.id = "b",
	 .kind = DISCOVERY_DISPLAY,
	 .pci_vendor = 0x1002,
	 .pci_device = 0x73bf,
	 .pci_address = "0000:04:00.0",
	 .nodes = &nodes[1],
	 .node_count = 1},
	{.id = "c",
	 .kind = DISCOVERY_DISPLAY,
	 .pci_vendor = 0x8086,
	 .pci_device = 0x4905,
	 .pci_address = "0000:05:00.0"},
	{.id = "soft",
	 .kind = DISCOVERY_SOFTWARE,
	 .pci_vendor = DISCOVERY_UNKNOWN,
	 .pci_device = DISCOVERY_UNKNOWN,
	 .pci_address = ""},
};
static struct discovery_snapshot node = {.devices = devices, .device_count = ARRAY_SIZE(devices)};

static const char *told;
static size_t granted;

static void body(struct check_run *run)
{
	char *text CLEANUP_FREE = text_format("{\"devices\": [{%s}]}", told);
	cJSON *document CLEANUP_JSON = NULL;
	CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &document, NULL), 0);
	identity_expect(run, &node, &devices[granted], document, NULL);
}

#define HARDWARE "\"software\": false"
#define MODEL	 HARDWARE ", \"vendorId\": \"0x1002\", \"deviceId\": \"0x73bf\""

static void test_what_agrees_and_what_does_not(void)
{
	static const struct {
		size_t granted;
		const char *told;
		enum report_outcome wanted;
		const char *reason;
	} cases[] = {
		{0, MODEL ", \"pciAddress\": \"0000:03:00.0\"", REPORT_PASS, ""},
		{0, MODEL ", \"pciAddress\": \"0000:04:00.0\"", REPORT_FAIL, "/pciAddress"},
		{0, MODEL ", \"drm\": {\"render\": \"1:3\"}", REPORT_PASS, ""},
		{0, MODEL ", \"drm\": {\"render\": \"1:5\"}", REPORT_FAIL, "/drm/render"},
		{0, MODEL ", \"deviceLuid\": \"0201000000000000\"", REPORT_PASS, ""},
		{0, MODEL ", \"deviceLuid\": \"0301000000000000\"", REPORT_FAIL, "/deviceLuid"},
		/* One model, two devices: not told apart. */
		{0, MODEL, REPORT_UNSUPPORTED, "distinguishes this device"},
		{0, HARDWARE, REPORT_UNSUPPORTED, "distinguishes this device"},
		{2, HARDWARE, REPORT_UNSUPPORTED, "distinguishes this device"},
		/* The only one of its model, or of its vendor. */
		{2, HARDWARE ", \"vendorId\": \"0x8086\", \"deviceId\": \"0x4905\"", REPORT_PASS,
		 ""},
		{2, HARDWARE ", \"vendorId\": \"0x8086\"", REPORT_PASS, ""},
		{2, HARDWARE ", \"vendorId\": \"0x10de\", \"deviceId\": \"0x1eb8\"", REPORT_FAIL,
		 "/vendorId"},
		{2, HARDWARE ", \"vendorId\": \"0x8086\", \"deviceId\": \"0x4906\"", REPORT_FAIL,
		 "/deviceId"},
		/* Software. */
		{2, "\"software\": true", REPORT_FAIL, "a software renderer stands in"},
		{3, "\"software\": true", REPORT_PASS, ""},
		{3, "\"software\": false", REPORT_FAIL, "/software"},
		{3, "\"software\": 1", REPORT_FAIL, "/software"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		granted = cases[i].granted;
		told = cases[i].told;
		recorder_expect(body, cases[i].wanted, cases[i].reason);
	}
}

static void body_of_two(struct check_run *run)
{
	static const char *const addresses[] = {"0000:03:00.0", "0000:04:00.0"};
	struct identity_seen seen CLEANUP(identity_seen_free) = {0};
	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		char *text CLEANUP_FREE = text_format(
			"{\"devices\": [{" HARDWARE ", \"pciAddress\": \"%s\", \"deviceUuid\": "
			"\"%s\"}]}",
			addresses[i], told != NULL && i == 1 ? told : "00");
		cJSON *document CLEANUP_JSON = NULL;
		CU_ASSERT_EQUAL_FATAL(json_parse(text, strlen(text), &document, NULL), 0);
		identity_expect(run, &node, &devices[i], document, &seen);
		identity_expect(run, &node, &devices[i], document, &seen); /* once more: the same */
	}
}

static void test_uuids_differ(void)
{
	told = "01";
	recorder_expect(body_of_two, REPORT_PASS, "");
	told = NULL;
	recorder_expect(body_of_two, REPORT_FAIL, "00, as of a");
}

static void body_without_outcome(struct check_run *run)
{
	(void)check_expect(run, true, "something", "held", "held");
	body(run);
}

static void test_under_an_emulator(void)
{
	node.system.emulator = "Wine 10.0";
	granted = 2;
	told = "\"software\": true";
	recorder_expect(body_without_outcome, REPORT_PASS, "");
	node.system.emulator = NULL;
}

UNIT_MAIN("identity", {"what agrees and what does not", test_what_agrees_and_what_does_not},
	  {"UUIDs differ", test_uuids_differ}, {"under an emulator", test_under_an_emulator})
