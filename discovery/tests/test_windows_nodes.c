/* SPDX-License-Identifier: MIT */
/*
 * Which devices a Windows node has, of all that DirectX and the plug-and-play manager say.
 * Names that begin with "fault" carry one of the DirectX device plugins that are in use today.
 */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "discovery/windows/assemble.h"

#define STORE	   "\\SystemRoot\\System32\\DriverStore\\FileRepository\\nv.inf_amd64_1"
#define STORE_FULL "C:\\Windows\\System32\\DriverStore\\FileRepository\\nv.inf_amd64_1"
#define T4	   "PCI\\VEN_10DE&DEV_1EB8&SUBSYS_12A210DE&REV_A1\\3&13C0B0C5&1&"

enum { GRAPHICS = ADAPTER_D3D11_GRAPHICS | ADAPTER_D3D12_GRAPHICS | ADAPTER_D3D12_CORE_COMPUTE };

static const struct discovery_filter everything = {
	.include_integrated = true,
	.include_detachable = true,
};

static struct adapter adapter_of(int64_t luid, unsigned attributes)
{
	return (struct adapter){
		.luid = luid,
		.description = "NVIDIA Tesla T4",
		.ids = {0x10DE, 0x1EB8, 0x12A210DE, 0xA1},
		.driver_version = UINT64_C(0x001F000F00110022),
		.dedicated_memory = INT64_C(16) << 30,
		.shared_memory = INT64_C(8) << 30,
		.hardware = true,
		.described = true,
		.attributes = attributes,
	};
}

static struct pnp_device device_at(const char *instance_id, int64_t luid,
				   const char *const *location_paths)
{
	return (struct pnp_device){
		.instance_id = instance_id,
		.description = "NVIDIA Tesla T4",
		.manufacturer = "NVIDIA",
		.driver_key = "{4d36e968-e325-11ce-bfc1-08002be10318}\\0004",
		.driver_version = "31.0.15.1",
		.service = "nvlddmkm",
		.location_paths = location_paths,
		.has_luid = true,
		.luid = luid,
		.store_path = STORE,
		.store_path_error = "",
	};
}

static const char *const slot_1b[] = {"PCIROOT(0)#PCI(1B00)", NULL};
static const char *const slot_1c[] = {"PCIROOT(0)#PCI(1C00)", NULL};

/* Free with discovery_free(). NULL ends a test. */
static struct discovery_snapshot *assembled(const struct windows_hardware *hardware,
					    const struct discovery_filter *filter)
{
	struct builder builder CLEANUP_BUILDER = {.system = {"windows", "", "", "", "", ""}};
	struct discovery_snapshot *snapshot = NULL;
	struct windows_hardware in_windows = *hardware;
	struct error err = {0};

	in_windows.windows = "C:\\Windows";
	windows_assemble(&in_windows, &builder);
	UNIT_INT(builder_finish(&builder, filter, &snapshot, &err), 0);
	return snapshot;
}

static void snapshot_free(struct discovery_snapshot **snapshot)
{
	discovery_free(*snapshot);
}

#define CLEANUP_SNAPSHOT CLEANUP(snapshot_free)

/* One adapter and one device, by LUID or not. */
static struct discovery_snapshot *assembled_one(const struct adapter *adapter,
						const struct pnp_device *device)
{
	const struct windows_hardware hardware = {
		.adapters = adapter,
		.adapter_count = adapter != NULL ? 1 : 0,
		.devices = device,
		.device_count = device != NULL ? 1 : 0,
	};

	return assembled(&hardware, &everything);
}

static const char *diagnostics_of(const struct discovery_snapshot *snapshot)
{
	static char text[4096];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < snapshot->diagnostic_count && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s: %s\n",
					 snapshot->diagnostics[i].place,
					 snapshot->diagnostics[i].message);
	return text;
}

/* Which of the three classes of adapters is admitted: without filter, display only, compute only.
 */
static void expect_class(unsigned attributes, bool display, bool compute)
{
	const struct adapter adapter = adapter_of(1, attributes);
	const struct pnp_device device = device_at(T4 "D8", 1, slot_1b);
	const struct windows_hardware hardware = {
		.adapters = &adapter, .adapter_count = 1, .devices = &device, .device_count = 1};
	const struct discovery_filter filters[] = {
		{0}, {.display_only = true}, {.compute_only = true}};
	const size_t counts[] = {1, display ? 1 : 0, display ? 0 : 1};

	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		struct discovery_snapshot *snapshot CLEANUP_SNAPSHOT =
			assembled(&hardware, &filters[i]);

		UNIT_NEED(snapshot != NULL);
		UNIT_INT(snapshot->device_count, counts[i]);
		if (snapshot->device_count == 0)
			continue;
		UNIT_INT(snapshot->devices[0].display, display);
		UNIT_INT(snapshot->devices[0].compute, compute);
		UNIT_INT(snapshot->devices[0].kind,
			 display ? DISCOVERY_DISPLAY : DISCOVERY_COMPUTE);
	}
}

/* Upstream says that a device which only computes cannot compute, and filters nothing for most of
 * its filters. */
static void test_fault_computing_devices_compute(void)
{
	expect_class(ADAPTER_D3D11_GRAPHICS, true, false);
	expect_class(GRAPHICS, true, true);
	expect_class(ADAPTER_D3D12_CORE_COMPUTE, false, true);
	expect_class(ADAPTER_D3D12_CORE_COMPUTE | ADAPTER_D3D12_GENERIC_ML | ADAPTER_HARDWARE_NPU,
		     false, true);
}

static void test_integrated_and_detachable_devices_are_asked_for(void)
{
	struct adapter adapters[] = {adapter_of(1, GRAPHICS), adapter_of(2, GRAPHICS)};
	const struct pnp_device devices[] = {device_at(T4 "D8", 1, slot_1b),
					     device_at(T4 "E0", 2, slot_1c)};
	const struct windows_hardware hardware = {
		.adapters = adapters, .adapter_count = 2, .devices = devices, .device_count = 2};

	adapters[0].integrated = true;
	adapters[1].detachable = true;
	for (unsigned i = 0; i < 4; i++) {
		const struct discovery_filter filter = {.include_integrated = (i & 1) != 0,
							.include_detachable = (i & 2) != 0};
		struct discovery_snapshot *snapshot CLEANUP_SNAPSHOT =
			assembled(&hardware, &filter);

		UNIT_NEED(snapshot != NULL);
		UNIT_INT(snapshot->device_count, (i & 1) + (i >> 1 & 1));
	}
}

/* DXCore that lists nothing says that there is nothing. */
static void test_devices_are_none_where_dxcore_lists_no_adapter(void)
{
	const struct pnp_device device = device_at(T4 "D8", 7, slot_1b);
	struct windows_hardware hardware = {.devices = &device, .device_count = 1};
	struct discovery_snapshot *fallback CLEANUP_SNAPSHOT = assembled(&hardware, &everything);

	hardware.adapters_are_complete = true;
	struct discovery_snapshot *complete CLEANUP_SNAPSHOT = assembled(&hardware, &everything);

	UNIT_NEED(fallback != NULL && complete != NULL);
	UNIT_INT(fallback->device_count, 1);
	UNIT_INT(complete->device_count, 0);
	UNIT_CONTAINS(diagnostics_of(complete), "no DirectX adapter belongs to this device");
}

static void test_fault_large_and_negative_luids_join(void)
{
	const int64_t luids[] = {-1, INT64_MIN, INT64_MAX, INT64_C(1) << 32};

	for (size_t i = 0; i < ARRAY_SIZE(luids); i++) {
		struct adapter adapter = adapter_of(luids[i], GRAPHICS);
		struct pnp_device device = device_at(T4 "D8", luids[i], slot_1b);
		struct discovery_snapshot *snapshot CLEANUP_SNAPSHOT =
			assembled_one(&adapter, &device);

		UNIT_NEED(snapshot != NULL && snapshot->device_count == 1);
		UNIT_INT(snapshot->devices[0].luid, luids[i]);
	}
}

/* LUIDs are new after each start of the system. */
static void test_ids_survive_other_luids(void)
{
	struct adapter before = adapter_of(1, GRAPHICS);
	struct pnp_device then = device_at(T4 "D8", 1, slot_1b);
	struct adapter after = adapter_of(99, GRAPHICS);
	struct pnp_device now = device_at(T4 "D8", 99, slot_1b);
	struct discovery_snapshot *first CLEANUP_SNAPSHOT = assembled_one(&before, &then);
	struct discovery_snapshot *second CLEANUP_SNAPSHOT = assembled_one(&after, &now);

	UNIT_NEED(first != NULL && second != NULL);
	UNIT_NEED(first->device_count == 1 && second->device_count == 1);
	UNIT_STRING(first->devices[0].id, second->devices[0].id);
}

/* Upstream looks for PCI ids, and never sees devices of another bus. */
static void test_fault_devices_that_are_not_of_pci_are_listed(void)
{
	static const char *const vmbus[] = {"VMBUS(DA0A7802)", NULL};
	struct adapter adapter = adapter_of(1, ADAPTER_D3D12_CORE_COMPUTE);
	struct pnp_device device = device_at("VMBUS\\{DA0A7802}\\5&1C&0", 1, vmbus);

	adapter.ids = (struct adapter_ids){ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN,
					   ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN};
	device.manufacturer = "Qualcomm Technologies, Inc.";
	struct discovery_snapshot *snapshot CLEANUP_SNAPSHOT = assembled_one(&adapter, &device);

	UNIT_NEED(snapshot != NULL && snapshot->device_count == 1);
	UNIT_INT(snapshot->devices[0].pci_vendor, DISCOVERY_UNKNOWN);
	UNIT_STRING(snapshot->devices[0].vendor, "Qualcomm Technologies, Inc.");
	CU_ASSERT_FALSE(snapshot->devices[0].allocatable);
}

static void test_vendors_by_pci_id(void)
{
	struct adapter adapter = adapter_of(1, GRAPHICS);
	struct pnp_device device = device_at(T4 "D8", 1, slot_1b);

	adapter.ids.vendor = 0x1002;
	device.manufacturer = "Advanced Micro Devices, Inc.";
	struct discovery_snapshot *amd CLEANUP_SNAPSHOT = assembled_one(&adapter, &device);

	adapter.ids.vendor = 0x1AF5;
	struct discovery_snapshot *other CLEANUP_SNAPSHOT = assembled_one(&adapter, &device);

	UNIT_NEED(amd != NULL && amd->device_count == 1);
	UNIT_NEED(other != NULL && other->device_count == 1);
	UNIT_STRING(amd->devices[0].vendor, "AMD");
	UNIT_STRING(amd->devices[0].manufacturer, "Advanced Micro Devices, Inc.");
	UNIT_STRING(other->devices[0].vendor, "0x1af5");
}

UNIT_MAIN("Windows nodes",
	  {"fault: computing devices compute", test_fault_computing_devices_compute},
	  {"integrated and detachable devices are asked for",
	   test_integrated_and_detachable_devices_are_asked_for},
	  {"devices are none where DXCore lists no adapter",
	   test_devices_are_none_where_dxcore_lists_no_adapter},
	  {"fault: large and negative LUIDs join", test_fault_large_and_negative_luids_join},
	  {"ids survive other LUIDs", test_ids_survive_other_luids},
	  {"fault: devices that are not of PCI are listed",
	   test_fault_devices_that_are_not_of_pci_are_listed},
	  {"vendors by PCI id", test_vendors_by_pci_id})
