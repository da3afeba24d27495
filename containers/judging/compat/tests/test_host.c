/* SPDX-License-Identifier: MIT */
/* Facts of hosts: the file's form and its bounds, and what a recorded node tells. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tests/unit.h"
#include "containers/judging/compat/host.h"

#include <discovery/include/gpucert/discovery.h>

static void expect_refused(const char *json, int code, const char *says)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct error err = {0};
	UNIT_INT(host_facts_parse(json, strlen(json), &host, &err), code);
	UNIT_CONTAINS(err.text, says);
}

#define HOST(members) "{\"schema\": \"gpucert-host/1\", \"os\": \"linux\"" members "}"

static void test_refused(void)
{
	struct text text CLEANUP_TEXT = {0};
	expect_refused("", ERROR_FORMAT, "line 1");
	expect_refused("[]", ERROR_FORMAT, "object");
	expect_refused("{\"schema\": \"gpucert-host/2\", \"os\": \"linux\"}", ERROR_FORMAT,
		       "schema: expected \"gpucert-host/1\"");
	expect_refused("{\"schema\": \"gpucert-host/1\"}", ERROR_FORMAT, "os");
	expect_refused(HOST(", \"cpuLevel\": 5"), ERROR_FORMAT, "cpuLevel");
	expect_refused(HOST(", \"cpuLevel\": -1"), ERROR_FORMAT, "cpuLevel");
	expect_refused(HOST(", \"colour\": \"red\""), ERROR_FORMAT, "colour: unknown member");
	expect_refused(HOST(", \"gpus\": [{\"vendor\": 1}]"), ERROR_FORMAT, "gpus[0].vendor");
	expect_refused(HOST(", \"gpus\": {}"), ERROR_FORMAT, "gpus");
	expect_refused(HOST(", \"windows\": {\"version\": \"ten\"}"), ERROR_FORMAT,
		       "windows.version");
	expect_refused(HOST(", \"windows\": {\"version\": \"10.0.99999999999.1\"}"), ERROR_LIMIT,
		       "windows.version");
	text_add(&text, "{\"schema\": \"gpucert-host/1\", \"os\": \"");
	for (size_t i = 0; i <= HOST_TEXT_MAX; i++)
		text_add(&text, "x");
	text_add(&text, "\"}");
	expect_refused(text_string(&text), ERROR_FORMAT, "os: longer than 256 bytes");
	text_reset(&text);
	text_add(&text, "{\"schema\": \"gpucert-host/1\", \"os\": \"linux\", \"gpus\": [{}");
	for (size_t i = 0; i < HOST_GPUS_MAX; i++)
		text_add(&text, ",{}");
	text_add(&text, "]}");
	expect_refused(text_string(&text), ERROR_LIMIT, "more than 1024");
}

/* What is written is what was read. */
static void test_round_trip(void)
{
	static const char *const names[] = {"linux-h200", "windows-server-2022", "windows-11-25h2"};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct host_facts host CLEANUP_HOST_FACTS = {0};
		struct error err = {0};
		char *wanted CLEANUP_FREE = NULL;
		char *path CLEANUP_FREE =
			text_format("%s/containers/judging/compat/tests/hosts/%s.json",
				    GPUCERT_SOURCE_DIR, names[i]);
		UNIT_INT(host_facts_read(path, &host, &err), 0);
		UNIT_STRING(err.text, "");
		UNIT_INT(file_read(path, 1 << 16, &wanted, NULL, &err), 0);
		cJSON *json CLEANUP_JSON = host_facts_to_json(&host);
		char *seen CLEANUP_FREE = json_print(json);
		UNIT_STRING(seen, wanted);
	}
}

static void read_node(const char *name, struct host_facts *out)
{
	struct error err = {0};
	char *path CLEANUP_FREE =
		text_format("%s/discovery/nodes/%s.json", GPUCERT_SOURCE_DIR, name);
	UNIT_INT(host_facts_read(path, out, &err), 0);
	UNIT_STRING(err.text, "");
}

static void test_nodes(void)
{
	struct host_facts nvidia CLEANUP_HOST_FACTS = {0};
	struct host_facts mixed CLEANUP_HOST_FACTS = {0};
	struct host_facts windows CLEANUP_HOST_FACTS = {0};
	read_node("linux-2x-tesla-t4", &nvidia);
	UNIT_NEED(nvidia.gpu_count == 2);
	UNIT_STRING(nvidia.os, "linux");
	UNIT_STRING(nvidia.architecture, "amd64");
	UNIT_STRING(nvidia.kernel, "5.15.0-122-generic");
	UNIT_INT(nvidia.cpu_level, 0);
	UNIT_STRING(nvidia.gpus[0].vendor, "nvidia");
	UNIT_STRING(nvidia.gpus[1].driver_version, "550.54.15");
	read_node("linux-intel-amd", &mixed);
	UNIT_NEED(mixed.gpu_count == 2);
	UNIT_STRING(mixed.gpus[0].vendor, "intel");
	UNIT_STRING(mixed.gpus[0].architecture, ""); /* Gen12 */
	UNIT_STRING(mixed.gpus[1].vendor, "amd");
	read_node("windows-mixed", &windows);
	UNIT_STRING(windows.os_version, "10.0.26100.2454");
	UNIT_INT(windows.windows.revision, 2454);
	UNIT_STRING(windows.windows_edition, "client");
	UNIT_STRING(windows.kernel, "");
	UNIT_NEED(windows.gpu_count >= 2);
	UNIT_STRING(windows.gpus[0].wddm, "3.1");
	UNIT_STRING(windows.gpus[0].vendor, "amd");
}

static void test_missing_file(void)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct error err = {0};
	UNIT_INT(host_facts_read("/nowhere/host.json", &host, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "host.json");
}

/* Intel's devices that compute-runtime calls legacy are known by their ids. */
static void test_generations(void)
{
	static const struct {
		int32_t device;
		const char *generation;
	} rows[] = {{0x1912, "gen9"},  {0x5916, "gen9"}, {0x1616, "gen8"},
		    {0x8a52, "gen11"}, {0x9a49, ""},	 {0x4680, ""},
		    {0x56a0, ""},      {0x7d55, ""},	 {DISCOVERY_UNKNOWN, ""}};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct host_facts host CLEANUP_HOST_FACTS = {0};
		const struct discovery_device device = {.vendor = "Intel",
							.description = "",
							.driver_name = "i915",
							.driver_version = "",
							.pci_vendor = 0x8086,
							.pci_device = rows[i].device};
		const struct discovery_snapshot node = {
			.system = {.os = "linux", .product = "", .build = "", .architecture = ""},
			.devices = &device,
			.device_count = 1};
		UNIT_INT(host_facts_of_node(&node, &host, NULL), 0);
		UNIT_STRING(host.gpus[0].architecture, rows[i].generation);
	}
}

/* This machine, whatever it is: known where it must be, and written in a form that is read again. */
static void test_local(void)
{
	struct host_facts host CLEANUP_HOST_FACTS = {0};
	struct host_facts again CLEANUP_HOST_FACTS = {0};
	struct error err = {0};
	UNIT_INT(host_facts_local(NULL, &host, &err), 0);
	UNIT_STRING(err.text, "");
#ifdef __x86_64__
	CU_ASSERT_TRUE(host.cpu_level >= 1 && host.cpu_level <= 4);
	UNIT_STRING(host.architecture, "amd64");
#endif
	CU_ASSERT_TRUE(strcmp(host.os, "windows") == 0 ? host.windows.build > 0
						       : host.kernel[0] != '\0');
	cJSON *json CLEANUP_JSON = host_facts_to_json(&host);
	char *text CLEANUP_FREE = json_print(json);
	UNIT_NEED(text != NULL);
	UNIT_INT(host_facts_parse(text, strlen(text), &again, &err), 0);
	UNIT_INT(again.gpu_count, host.gpu_count);
}

UNIT_MAIN("facts of hosts", {"refused", test_refused}, {"round trip", test_round_trip},
	  {"recorded nodes", test_nodes}, {"missing file", test_missing_file},
	  {"Intel's generations", test_generations}, {"this machine", test_local})
