/* SPDX-License-Identifier: MIT */
/*
 * The whole of discovery under Wine, against its real SetupAPI, registry and file system, in which
 * a recorded node is planted, and against a dxcore.dll whose adapters are those of that node. What
 * is found is what was recorded.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/library.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "discovery/doubles/dxcore_double.h"
#include "discovery/tests/windows/plant.h"

enum { LONG_VALUE = 3000, WAIT_MS = 10000 };

static dxcore_double_load_function *dxcore_load;
static dxcore_double_set_old_function *dxcore_set_old;
static dxcore_double_objects_function *dxcore_objects;

static const struct discovery_filter everything = {
	.include_integrated = true,
	.include_detachable = true,
};

static void snapshot_free(struct discovery_snapshot **snapshot)
{
	discovery_free(*snapshot);
}

#define CLEANUP_SNAPSHOT CLEANUP(snapshot_free)

static void watch_close(struct discovery_watch **watch)
{
	discovery_watch_close(*watch);
}

/* Of a file, or of the live system for NULL. */
static struct discovery_snapshot *taken(const char *recorded)
{
	const struct discovery_options options = {.recorded_node = recorded, .filter = everything};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};
	if (discovery_take(&options, &snapshot, &err) < 0)
		(void)printf("\n%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot);
	return snapshot;
}

static void plant(const struct discovery_snapshot *node)
{
	for (size_t i = 0; i < node->device_count; i++)
		UNIT_INT(plant_device(&node->devices[i]), 0);
}

static void unplant(const struct discovery_snapshot *node)
{
	for (size_t i = 0; i < node->device_count; i++)
		plant_remove(&node->devices[i]);
}

static void expect_diagnostic(const struct discovery_snapshot *snapshot, const char *part)
{
	struct text all CLEANUP_TEXT = {0};
	for (size_t i = 0; i < snapshot->diagnostic_count; i++)
		text_addf(&all, "%s: %s\n", snapshot->diagnostics[i].place,
			  snapshot->diagnostics[i].message);
	UNIT_CONTAINS(text_string(&all), part);
}

/* Wine's Windows folder is C:\windows. */
static void expect_path(const char *seen, const char *wanted)
{
	if (strcasecmp(seen, wanted) != 0)
		UNIT_STRING(seen, wanted);
}

static void expect_files(const struct discovery_device *seen, const struct discovery_device *wanted)
{
	UNIT_INT(seen->file_count, wanted->file_count);
	for (size_t i = 0; i < seen->file_count && i < wanted->file_count; i++) {
		expect_path(seen->files[i].source, wanted->files[i].source);
		UNIT_STRING(seen->files[i].destination, wanted->files[i].destination);
		UNIT_STRING(seen->files[i].origin, wanted->files[i].origin);
		UNIT_INT(seen->files[i].bits, wanted->files[i].bits);
	}
}

static void expect_device(const struct discovery_device *seen,
			  const struct discovery_device *wanted)
{
	UNIT_STRING(seen->pnp_instance_id, wanted->pnp_instance_id);
	UNIT_STRING(seen->description, wanted->description);
	UNIT_STRING(seen->vendor, wanted->vendor);
	UNIT_STRING(seen->location_path, wanted->location_path);
	UNIT_STRING(seen->driver_name, wanted->driver_name);
	UNIT_STRING(seen->driver_key, wanted->driver_key);
	expect_path(seen->driver_store_path, wanted->driver_store_path);
	UNIT_INT(seen->kind, wanted->kind);
	UNIT_INT(seen->luid, wanted->luid);
	UNIT_INT(seen->pci_vendor, wanted->pci_vendor);
	UNIT_INT(seen->pci_device, wanted->pci_device);
	UNIT_INT(seen->pci_subsystem_vendor, wanted->pci_subsystem_vendor);
	UNIT_INT(seen->pci_subsystem_device, wanted->pci_subsystem_device);
	UNIT_INT(seen->pci_revision, wanted->pci_revision);
	UNIT_INT(seen->dedicated_memory, wanted->dedicated_memory);
	UNIT_INT(seen->integrated, wanted->integrated);
	UNIT_INT(seen->detachable, wanted->detachable);
	UNIT_INT(seen->display, wanted->display);
	UNIT_INT(seen->compute, wanted->compute);
	UNIT_INT(seen->allocatable, true);
	for (size_t i = 0; wanted->location_paths[i] != NULL; i++)
		UNIT_STRING(seen->location_paths[i], wanted->location_paths[i]);
	for (size_t i = 0; wanted->attributes[i] != NULL; i++)
		UNIT_STRING(seen->attributes[i], wanted->attributes[i]);
	expect_files(seen, wanted);
}

static void expect_node(const struct discovery_snapshot *node)
{
	struct discovery_snapshot *live CLEANUP_SNAPSHOT = taken(NULL);
	UNIT_STRING(live->system.os, "windows");
	UNIT_STRING(live->system.enumerator, "dxcore");
	UNIT_CONTAINS(live->system.emulator, "Wine ");
	UNIT_INT(live->device_count, node->device_count);
	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *seen = discovery_find(live, node->devices[i].id);
		CU_ASSERT_PTR_NOT_NULL(seen);
		if (seen != NULL)
			expect_device(seen, &node->devices[i]);
	}
	/* Adapters and lists are given back. */
	UNIT_INT(dxcore_objects(), 0);
}

static void expect_recorded(const char *file)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(file);
	plant(node);
	UNIT_INT(dxcore_load(file), 0);
	expect_node(node);
	dxcore_set_old(true);
	expect_node(node);
	dxcore_set_old(false);
	unplant(node);
}

#define T4S   GPUCERT_SOURCE_DIR "/discovery/nodes/windows-4x-tesla-t4.json"
#define MIXED GPUCERT_SOURCE_DIR "/discovery/nodes/windows-mixed.json"

static void test_four_t4s(void)
{
	expect_recorded(T4S);
}

static void test_integrated_detachable_and_computing_devices(void)
{
	expect_recorded(MIXED);
}

static char *written(const struct discovery_snapshot *node, size_t first, size_t count)
{
	struct discovery_snapshot part = *node;
	char *path = text_format("%s/dxcore-%zu-%zu.json", unit_temporary(), first, count);
	char *json = NULL;
	part.devices += first;
	part.device_count = count;
	part.diagnostic_count = 0;
	json = discovery_to_json(&part);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	UNIT_INT(file_write_atomic(path, json, strlen(json), 0644, NULL), 0);
	discovery_string_free(json);
	return path;
}

static void test_one_t4_among_devices_without_adapter(void)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(T4S);
	char *one CLEANUP_FREE = written(node, 1, 1);
	plant(node);
	UNIT_INT(dxcore_load(one), 0);
	struct discovery_snapshot *live CLEANUP_SNAPSHOT = taken(NULL);
	unplant(node);
	UNIT_NEED(live->device_count == 1);
	expect_device(&live->devices[0], &node->devices[1]);
	expect_diagnostic(live, "no DirectX adapter belongs to this device");
}

static bool signalled(const struct discovery_watch *watch)
{
	return WaitForSingleObject((HANDLE)discovery_watch_handle(watch), 0) == WAIT_OBJECT_0;
}

/* No timer: what is seen was told. */
static void test_removed_and_returned(void)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(T4S);
	char *three CLEANUP_FREE = written(node, 0, 3);
	struct discovery_watch *watch CLEANUP(watch_close) = NULL;
	struct error err = {0};
	plant(node);
	UNIT_INT(dxcore_load(T4S), 0);
	UNIT_INT(discovery_watch_open(NULL, 0, &watch, &err), 0);
	CU_ASSERT_FALSE(signalled(watch));
	CU_ASSERT_FALSE(discovery_watch_changed(watch));
	UNIT_INT(dxcore_load(three), 0);
	CU_ASSERT_TRUE(signalled(watch));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	CU_ASSERT_FALSE(signalled(watch));
	CU_ASSERT_FALSE(discovery_watch_changed(watch));
	struct discovery_snapshot *without CLEANUP_SNAPSHOT = taken(NULL);
	UNIT_INT(without->device_count, 3);
	CU_ASSERT_PTR_NULL(discovery_find(without, node->devices[3].id));
	UNIT_INT(dxcore_load(T4S), 0);
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	struct discovery_snapshot *again CLEANUP_SNAPSHOT = taken(NULL);
	UNIT_INT(again->device_count, 4);
	CU_ASSERT_PTR_NOT_NULL(discovery_find(again, node->devices[3].id));
	unplant(node);
}

static void test_watch_ticks_where_nothing_is_told(void)
{
	struct discovery_watch *watch CLEANUP(watch_close) = NULL;
	UNIT_INT(discovery_watch_open(NULL, 1, &watch, NULL), 0);
	UNIT_INT(WaitForSingleObject((HANDLE)discovery_watch_handle(watch), WAIT_MS),
		 WAIT_OBJECT_0);
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
}

/* Upstream reads names of 255 characters and values of 1024 bytes, and loses a key to what is
 * longer. */
static void test_fault_long_names_and_values(void)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(T4S);
	struct discovery_device *t4 = (struct discovery_device *)(uintptr_t)&node->devices[0];
	WCHAR name[400] = L"";
	WCHAR value[LONG_VALUE] = L"";
	t4->file_count = 0;
	node->device_count = 1;
	for (size_t i = 0; i < ARRAY_SIZE(name) - 1; i++)
		name[i] = L'n';
	for (size_t i = 0; i < ARRAY_SIZE(value) - 1; i++)
		value[i] = i % 200 == 199 ? L'\\' : L'd';
	wcscpy(value + ARRAY_SIZE(value) - 7, L"\\x.dll");
	plant(node);
	UNIT_INT(plant_value(t4, "CopyToVmOverwrite", name, REG_SZ, value, sizeof(value)), 0);
	UNIT_INT(plant_value(t4, "CopyToVmOverwrite", L"short", REG_SZ, L"y.dll", 12), 0);
	UNIT_INT(dxcore_load(T4S), 0);
	struct discovery_snapshot *live CLEANUP_SNAPSHOT = taken(NULL);
	unplant(node);
	UNIT_NEED(live->device_count == 1 && live->devices[0].file_count == 2);
	UNIT_STRING(live->devices[0].files[0].destination, "C:\\Windows\\System32\\x.dll");
	UNIT_STRING(live->devices[0].files[1].destination, "C:\\Windows\\System32\\y.dll");
}

static void test_malformed_registry_data(void)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(T4S);
	const struct discovery_device *t4 = &node->devices[0];
	const DWORD number = 1;
	node->device_count = 1;
	plant(node);
	UNIT_INT(plant_value(t4, "CopyToVmOverwrite", L"a", REG_DWORD, &number, 4), 0);
	UNIT_INT(plant_value(t4, "CopyToVmOverwrite", L"b", REG_MULTI_SZ, "x", 1), 0);
	UNIT_INT(plant_value(t4, "CopyToVmOverwrite", L"c", REG_BINARY, NULL, 0), 0);
	UNIT_INT(plant_value(t4, "CopyToVmOverwrite", L"d", REG_SZ, L"..\\x.dll", 18), 0);
	UNIT_INT(dxcore_load(T4S), 0);
	struct discovery_snapshot *live CLEANUP_SNAPSHOT = taken(NULL);
	unplant(node);
	UNIT_NEED(live->device_count == 1);
	expect_files(&live->devices[0], t4);
	expect_diagnostic(live, "\\CopyToVmOverwrite\\a: its type is 4");
	expect_diagnostic(live, "\\CopyToVmOverwrite\\b: an odd number of bytes");
	expect_diagnostic(live, "\\CopyToVmOverwrite\\c: its type is 3");
	expect_diagnostic(live, "\\CopyToVmOverwrite\\d: the source is not a path inside");
}

/* Upstream gives discovery up for one device whose properties have another type. */
static void test_fault_a_malformed_device_costs_itself(void)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(T4S);
	const char *first = node->devices[0].pnp_instance_id;
	const char *second = node->devices[1].pnp_instance_id;
	const DWORD number = 1;
	char decimal[32] = "";
	WCHAR luid[32] = L"";
	plant(node);
	UNIT_INT(plant_property(first, &plant_luid, DEVPROP_TYPE_UINT32, &number, 4), 0);
	UNIT_INT(plant_property(first, &plant_location_paths, DEVPROP_TYPE_UINT32, &number, 4), 0);
	/* A LUID may come as text. */
	(void)snprintf(decimal, sizeof(decimal), "%lld", (long long)node->devices[1].luid);
	for (size_t i = 0; decimal[i] != '\0'; i++)
		luid[i] = (WCHAR)decimal[i];
	UNIT_INT(plant_property(second, &plant_luid, DEVPROP_TYPE_STRING, luid,
				(DWORD)((strlen(decimal) + 1) * sizeof(WCHAR))),
		 0);
	UNIT_INT(dxcore_load(T4S), 0);
	struct discovery_snapshot *live CLEANUP_SNAPSHOT = taken(NULL);
	unplant(node);
	UNIT_INT(live->device_count, 3);
	CU_ASSERT_PTR_NULL(discovery_find(live, node->devices[0].id));
	CU_ASSERT_PTR_NOT_NULL(discovery_find(live, node->devices[1].id));
	expect_diagnostic(live, "the LUID has type");
	expect_diagnostic(live, "the location paths have type");
	expect_diagnostic(live, "no plug-and-play device has this LUID");
}

/* Surrogates included: U+1F3AE. */
static void test_names_beyond_ascii(void)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(T4S);
	struct discovery_device *t4 = (struct discovery_device *)(uintptr_t)&node->devices[0];
	node->device_count = 1;
	t4->description = "Grafikger\xC3\xA4t \xF0\x9F\x8E\xAE";
	t4->manufacturer = "\xE8\x8B\xB1\xE4\xBC\x9F\xE8\xBE\xBE";
	char *file CLEANUP_FREE = written(node, 0, 1);
	plant(node);
	UNIT_INT(dxcore_load(file), 0);
	struct discovery_snapshot *live CLEANUP_SNAPSHOT = taken(NULL);
	unplant(node);
	UNIT_NEED(live->device_count == 1);
	UNIT_STRING(live->devices[0].description, t4->description);
	UNIT_STRING(live->devices[0].manufacturer, t4->manufacturer);
}

static bool load_double(void)
{
	void *handle = NULL;
	struct error err = {0};
	if (library_open(DOUBLE_DIRECTORY "/dxcore.dll", &handle, &err) == 0 &&
	    library_function(handle, "dxcore_double_load", &dxcore_load, &err) == 0 &&
	    library_function(handle, "dxcore_double_set_old", &dxcore_set_old, &err) == 0 &&
	    library_function(handle, "dxcore_double_objects", &dxcore_objects, &err) == 0)
		return true;
	(void)printf("%s\n", err.text);
	return false;
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"four T4s", test_four_t4s},
		{"integrated, detachable and computing devices",
		 test_integrated_detachable_and_computing_devices},
		{"one T4 among devices without adapter", test_one_t4_among_devices_without_adapter},
		{"removed and returned", test_removed_and_returned},
		{"watch ticks where nothing is told", test_watch_ticks_where_nothing_is_told},
		{"fault: long names and values", test_fault_long_names_and_values},
		{"malformed registry data", test_malformed_registry_data},
		{"fault: a malformed device costs itself",
		 test_fault_a_malformed_device_costs_itself},
		{"names beyond ASCII", test_names_beyond_ascii},
		CU_TEST_INFO_NULL,
	};
	if (!plant_is_allowed())
		return 77;
	return load_double() ? unit_run("discovery by DXCore", tests) : 1;
}
