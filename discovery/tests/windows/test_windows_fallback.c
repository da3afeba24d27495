/* SPDX-License-Identifier: MIT */
/* Where DXCore is a stub, as Wine's is, D3DKMT and the device tree have to do. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "discovery/tests/windows/plant.h"

#define T4S GPUCERT_SOURCE_DIR "/discovery/nodes/windows-4x-tesla-t4.json"

static void snapshot_free(struct discovery_snapshot **snapshot)
{
	discovery_free(*snapshot);
}

#define CLEANUP_SNAPSHOT CLEANUP(snapshot_free)

static struct discovery_snapshot *taken(const char *recorded)
{
	const struct discovery_options options = {.recorded_node = recorded};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};
	if (discovery_take(&options, &snapshot, &err) < 0)
		(void)printf("\n%s\n", err.text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot);
	return snapshot;
}

static bool has_diagnostic(const struct discovery_snapshot *snapshot, const char *part)
{
	for (size_t i = 0; i < snapshot->diagnostic_count; i++) {
		if (strstr(snapshot->diagnostics[i].message, part) != NULL)
			return true;
	}
	return false;
}

static void test_planted_devices_are_listed(void)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(T4S);
	for (size_t i = 0; i < node->device_count; i++)
		UNIT_INT(plant_device(&node->devices[i]), 0);
	struct discovery_snapshot *live CLEANUP_SNAPSHOT = taken(NULL);
	UNIT_STRING(live->system.enumerator, "d3dkmt");
	CU_ASSERT_TRUE(has_diagnostic(live, "D3DKMT takes its place"));
	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *wanted = &node->devices[i];
		const struct discovery_device *seen = discovery_find(live, wanted->id);
		CU_ASSERT_PTR_NOT_NULL(seen);
		if (seen == NULL)
			continue;
		UNIT_STRING(seen->location_path, wanted->location_path);
		UNIT_STRING(seen->vendor, "NVIDIA");
		UNIT_INT(seen->pci_subsystem_device, 0x12A2);
		UNIT_INT(seen->luid, wanted->luid);
		UNIT_INT(seen->file_count, wanted->file_count);
		CU_ASSERT_TRUE(seen->allocatable && seen->display && seen->compute);
		UNIT_INT(strcasecmp(seen->driver_store_path, wanted->driver_store_path), 0);
		plant_remove(wanted);
	}
}

/* Neither kernel nor INF tell where the driver lies: a diagnostic that says both. */
static void test_fault_a_driver_store_nobody_tells(void)
{
	struct discovery_snapshot *node CLEANUP_SNAPSHOT = taken(T4S);
	UNIT_INT(plant_device(&node->devices[0]), 0);
	UNIT_INT(plant_value(&node->devices[0], "", L"InfPath", REG_SZ, L"oem77.inf", 20), 0);
	struct discovery_snapshot *live CLEANUP_SNAPSHOT = taken(NULL);
	const struct discovery_device *seen = discovery_find(live, node->devices[0].id);
	plant_remove(&node->devices[0]);
	UNIT_NEED(seen != NULL);
	UNIT_INT(seen->file_count, 0);
	UNIT_STRING(seen->driver_store_path, "");
	CU_ASSERT_TRUE(has_diagnostic(live, "driver store folder: D3DKMT"));
	CU_ASSERT_TRUE(has_diagnostic(live, "oem77.inf"));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"planted devices are listed", test_planted_devices_are_listed},
		{"fault: a driver store nobody tells", test_fault_a_driver_store_nobody_tells},
		CU_TEST_INFO_NULL,
	};
	return plant_is_allowed() ? unit_run("discovery without DXCore", tests) : 77;
}
