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
	struct granted_reader *reader CLEANUP_GRANTED_READER = granted_reader_new(node);
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
	CU_ASSERT_EQUAL(granted_by(node, &grant).source, GRANTED_UNKNOWN);
	discovery_free(node);
}

/* Two cards of one driver, one of another, a software driver. */
static void test_a_plugin_serves_all_of_a_driver(void)
{
	struct discovery_device devices[] = {
		{.id = "a",
		 .vendor = "AMD",
		 .driver_name = "amdgpu",
		 .pci_device = 1,
		 .allocatable = true},
		{.id = "b",
		 .vendor = "AMD",
		 .driver_name = "amdgpu",
		 .pci_device = 2,
		 .allocatable = true},
		{.id = "c", .vendor = "NVIDIA", .driver_name = "nvidia", .allocatable = true},
		{.id = "s",
		 .vendor = "Mesa",
		 .driver_name = "lavapipe",
		 .kind = DISCOVERY_SOFTWARE,
		 .allocatable = true},
		{.id = "t",
		 .vendor = "Mesa",
		 .driver_name = "lavapipe",
		 .kind = DISCOVERY_SOFTWARE,
		 .allocatable = true},
	};
	struct discovery_snapshot node = {.devices = devices, .device_count = ARRAY_SIZE(devices)};
	struct granted granted = {.devices = {&devices[0], &devices[3]}, .count = 2};
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		devices[i].pci_address = devices[i].uuid = "";
	CU_ASSERT_TRUE(granted_requires(&node, &granted, &devices[1]));
	CU_ASSERT_FALSE(granted_requires(&node, &granted, &devices[2]));
	CU_ASSERT_FALSE(granted_requires(&node, &granted, &devices[4]));
	CU_ASSERT_TRUE(granted_may_be_elsewhere(&node, &granted, &devices[1]));
	devices[1].pci_device = 1;
	CU_ASSERT_FALSE(granted_may_be_elsewhere(&node, &granted, &devices[1]));
	devices[0].pci_address = devices[1].pci_address = "0000:03:00.0";
	CU_ASSERT_TRUE(granted_may_be_elsewhere(&node, &granted, &devices[1]));
	devices[1].display = true;
	CU_ASSERT_TRUE(granted_requires(&node, &granted, &devices[1]));
	node.system.os = "windows";
	CU_ASSERT_FALSE(granted_requires(&node, &granted, &devices[1]));
	devices[0].display = true;
	CU_ASSERT_TRUE(granted_requires(&node, &granted, &devices[1]));
	devices[1].allocatable = false;
	CU_ASSERT_FALSE(granted_requires(&node, &granted, &devices[1]));
}

/* Where nothing but software exists, it is what the node has. */
static void test_software_is_required_where_no_hardware_exists(void)
{
	const struct discovery_device devices[] = {
		{.id = "s",
		 .vendor = "Mesa",
		 .driver_name = "lavapipe",
		 .kind = DISCOVERY_SOFTWARE,
		 .allocatable = true},
		{.id = "t",
		 .vendor = "Mesa",
		 .driver_name = "lavapipe",
		 .kind = DISCOVERY_SOFTWARE,
		 .allocatable = true},
		{.id = "p",
		 .vendor = "PoCL",
		 .driver_name = "pocl",
		 .kind = DISCOVERY_SOFTWARE,
		 .allocatable = true},
	};
	const struct discovery_snapshot node = {.devices = devices,
						.device_count = ARRAY_SIZE(devices)};
	const struct granted granted = {.devices = {&devices[0]}, .count = 1};
	CU_ASSERT_TRUE(granted_requires(&node, &granted, &devices[1]));
	CU_ASSERT_FALSE(granted_requires(&node, &granted, &devices[2]));
}

static size_t count_named(const char *id, const char *variable, const char *value,
			  const char *mount)
{
	const struct discovery_device devices[] = {
		{.id = "0",
		 .pci_address = "0000:3b:00.0",
		 .uuid = "GPU-1fbb6a07-7d5c-11ee-b962-0242ac120002",
		 .vendor = "NVIDIA",
		 .driver_name = "nvidia",
		 .allocatable = true},
		{.id = "1",
		 .pci_address = "0000:d8:00.0",
		 .uuid = "",
		 .vendor = "NVIDIA",
		 .driver_name = "nvidia",
		 .allocatable = true},
		{.id = "2",
		 .pci_address = "0000:e8:00.0",
		 .uuid = "GPU-2a8f3c11-7d5c-11ee-b962-0242ac120002",
		 .vendor = "NVIDIA",
		 .driver_name = "nvidia"},
	};
	const struct discovery_snapshot node = {.devices = devices,
						.device_count = ARRAY_SIZE(devices)};
	struct grant_entry envs[] = {{.name = variable, .value = value}};
	struct grant_entry mounts[] = {{.host_path = "/dev/null", .container_path = mount}};
	const struct grant grant = {.envs = {envs, 1}, .mounts = {mounts, 1}};
	struct granted named = {0};
	granted_read_names(&node, id, &grant, &named);
	return named.count;
}

/* By the UUID anywhere, and by index in NVIDIA's variable; a GPU that is divided cannot be meant. */
static void test_names_in_answers(void)
{
	static const char uuid[] = "GPU-1fbb6a07-7d5c-11ee-b962-0242ac120002";
	static const char divided[] = "MIG-GPU-2a8f3c11-7d5c-11ee-b962-0242ac120002/1/0";
	static const char mount[] =
		"/var/run/nvidia-container-devices/GPU-1fbb6a07-7d5c-11ee-b962-0242ac120002";
	static const char nvidia[] = "NVIDIA_VISIBLE_DEVICES";
	UNIT_INT(count_named("GPU-1fbb6a07-7d5c-11ee-b962-0242ac120002::1", "X", "", "/x"), 1);
	UNIT_INT(count_named("gpu", nvidia, uuid, "/x"), 1);
	UNIT_INT(count_named("gpu", "ANY", uuid, "/x"), 1);
	UNIT_INT(count_named("gpu", "X", "", mount), 1);
	UNIT_INT(count_named("gpu", nvidia, "1", "/x"), 1);
	UNIT_INT(count_named("gpu", nvidia, "0,1", "/x"), 2);
	UNIT_INT(count_named("gpu", nvidia, "2", "/x"), 0);
	UNIT_INT(count_named("gpu", nvidia, "0:1", "/x"), 0);
	UNIT_INT(count_named("gpu", "OTHER", "0", "/x"), 0);
	UNIT_INT(count_named("0::1", "X", "", "/x"), 0);
	UNIT_INT(count_named("gpu", nvidia, divided, "/x"), 0);
	UNIT_INT(count_named("gpu", nvidia, "all", "/x"), 0);
	UNIT_INT(count_named("GPU-1fbb6a07-7d5c-11ee-b962-0242ac1200023", "X", "", "/x"), 0);
}

UNIT_MAIN("grant", {"a location path grants its device", test_location_path_grants_its_device},
	  {"a class grants every display device", test_class_grants_every_display_device},
	  {"other strings grant nothing", test_other_strings_grant_nothing},
	  {"files alone grant nothing", test_files_alone_grant_nothing},
	  {"UUIDs and indices in an answer", test_names_in_answers},
	  {"a plugin serves all devices of a driver", test_a_plugin_serves_all_of_a_driver},
	  {"software is required where no hardware exists",
	   test_software_is_required_where_no_hardware_exists})
