/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "base/windows_device.h"
#include "conformance/checks/granted.h"

#include <stdlib.h>
#include <string.h>

static const char windows_node[] = GPUCERT_SOURCE_DIR "/discovery/nodes/windows-4x-tesla-t4.json";

static struct granted granted_by(const struct discovery_snapshot *node, const struct grant *grant)
{
	struct granted_reader *reader CLEANUP_GRANTED_READER = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(granted_reader_new(node, &reader, &err), 0);
	return granted_read(reader, grant);
}

static struct granted granted_of(const struct discovery_snapshot *node,
				 const char *const *host_paths)
{
	struct grant_entry devices[4] = {0};
	struct grant grant = {.devices = {devices, 0}};
	for (; host_paths[grant.devices.count] != NULL; grant.devices.count++)
		devices[grant.devices.count] = (struct grant_entry){
			.container_path = "",
			.host_path = host_paths[grant.devices.count],
			.permissions = "",
		};
	return granted_by(node, &grant);
}

static struct discovery_snapshot *read_windows_node(void)
{
	struct discovery_options options = {.recorded_node = windows_node};
	struct discovery_snapshot *node = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(discovery_take(&options, &node, &err), 0);
	CU_ASSERT_EQUAL_FATAL(node->device_count, 4);
	return node;
}

static void test_location_path_grants_its_device(void)
{
	struct discovery_snapshot *node = read_windows_node();
	char *host_path = text_format("vpci-location-path://%s", node->devices[2].location_path);
	const char *const host_paths[] = {host_path, NULL};
	struct granted granted = granted_of(node, host_paths);
	CU_ASSERT_EQUAL_FATAL(granted.count, 1);
	CU_ASSERT_PTR_EQUAL(granted.devices[0], &node->devices[2]);
	free(host_path);
	discovery_free(node);
}

static void test_class_grants_every_display_device(void)
{
	static const char *const forms[] = {
		"class/" WINDOWS_DISPLAY_CLASS,
		"class://5b45201d-f2f2-4f3b-85bb-30ff1f953599",
		"vpci-class-guid://" WINDOWS_DISPLAY_CLASS,
	};
	struct discovery_snapshot *node = read_windows_node();
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const char *const host_paths[] = {forms[i], NULL};
		CU_ASSERT_EQUAL(granted_of(node, host_paths).count, 4);
	}
	discovery_free(node);
}

static void test_other_strings_grant_nothing(void)
{
	static const char *const strings[] = {
		"vpci-location-path://",
		"vpci-location-path://PCIROOT(9)#PCI(0000)",
		"class/00000000-0000-0000-0000-000000000000",
		"gpu://PCIROOT(0)#PCI(1B00)",
		"/dev/dri/renderD128",
		"",
	};
	struct discovery_snapshot *node = read_windows_node();
	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++) {
		const char *const host_paths[] = {strings[i], NULL};
		CU_ASSERT_EQUAL(granted_of(node, host_paths).count, 0);
	}
	discovery_free(node);
}

static void test_files_alone_grant_nothing(void)
{
	struct grant_entry mounts[] = {
		{.host_path = "C:\\driver\\a.dll", .container_path = "C:\\a.dll"}};
	struct grant_entry envs[] = {{.name = "SOME_DEVICES", .value = "0"}};
	struct grant grant = {.mounts = {mounts, 1}};
	struct discovery_snapshot *node = read_windows_node();
	CU_ASSERT_EQUAL(granted_by(node, &grant).source, GRANTED_NOTHING);
	grant.envs = (struct grant_list){envs, 1};
	CU_ASSERT_EQUAL(granted_by(node, &grant).source, GRANTED_UNTOLD);
	discovery_free(node);
}

UNIT_MAIN("grant", {"a location path grants its device", test_location_path_grants_its_device},
	  {"a class grants every display device", test_class_grants_every_display_device},
	  {"other strings grant nothing", test_other_strings_grant_nothing},
	  {"files alone grant nothing", test_files_alone_grant_nothing})
