/* SPDX-License-Identifier: MIT */
/* Adapters and plug-and-play devices become the devices of a snapshot. Names of tests that begin
 * with "fault" tell what the DirectX device plugins of TensorWorks get wrong. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "discovery/windows/adapter.h"
#include "discovery/windows/device_id.h"
#include "discovery/windows/runtime_files.h"

#include <stdlib.h>
#include <string.h>

#define T4    "PCI\\VEN_10DE&DEV_1EB8&SUBSYS_12A210DE&REV_A1\\3&13C0B0C5&1&"
#define STORE "C:\\Windows\\System32\\DriverStore\\FileRepository\\nv.inf_amd64_1b50"

static const char *const pci_1b[] = {"PCIROOT(0)#PCI(1B00)", "ACPI(_SB_)#ACPI(PCI0)#ACPI(GPU0)",
				     NULL};
static const char *const acpi_first[] = {"ACPI(_SB_)#ACPI(GPU0)", "PCIROOT(0)#PCI(0200)", NULL};
static const char *const acpi_only[] = {"ACPI(_SB_)#ACPI(GPU0)", NULL};
static const char *const no_paths[] = {NULL};

static struct adapter gpu_adapter(int64_t luid)
{
	return (struct adapter){
		.luid = luid,
		.description = "NVIDIA Tesla T4",
		.ids = {0x10de, 0x1eb8, 0x12a210de, 0xa1},
		.driver_version = UINT64_C(31) << 48 | UINT64_C(15) << 16 | 3640,
		.dedicated_memory = INT64_C(16) << 30,
		.shared_memory = -1,
		.hardware = true,
		.described = true,
		.attributes = ADAPTER_D3D11_GRAPHICS | ADAPTER_D3D12_GRAPHICS |
			      ADAPTER_D3D12_CORE_COMPUTE | ADAPTER_HARDWARE_GPU,
	};
}

static struct pnp_device gpu_device(int64_t luid, const char *instance_id)
{
	return (struct pnp_device){
		.instance_id = instance_id,
		.description = "NVIDIA Tesla T4",
		.manufacturer = "NVIDIA",
		.driver_key = "{4d36e968-e325-11ce-bfc1-08002be10318}\\0004",
		.driver_version = "31.0.15.3640",
		.service = "nvlddmkm",
		.location_paths = pci_1b,
		.has_luid = true,
		.luid = luid,
		.store_path = STORE,
		.store_path_error = "",
	};
}

/* Every device and every diagnostic; the caller frees the snapshot. */
static struct discovery_snapshot *assemble(const struct adapter *adapters, size_t adapter_count,
					   const struct pnp_device *devices, size_t device_count)
{
	static const struct discovery_filter all = {.include_integrated = true,
						    .include_detachable = true};
	const struct windows_hardware hardware = {.adapters = adapters,
						  .adapter_count = adapter_count,
						  .devices = devices,
						  .device_count = device_count,
						  .windows = "C:\\Windows"};
	struct builder builder CLEANUP_BUILDER = {0};
	struct discovery_snapshot *snapshot = NULL;
	windows_assemble(&hardware, &builder);
	CU_ASSERT_EQUAL_FATAL(builder_finish(&builder, &all, &snapshot, NULL), 0);
	return snapshot;
}

static bool says(const struct discovery_snapshot *snapshot, const char *place, const char *message)
{
	for (size_t i = 0; i < snapshot->diagnostic_count; i++) {
		if (strstr(snapshot->diagnostics[i].place, place) != NULL &&
		    strstr(snapshot->diagnostics[i].message, message) != NULL)
			return true;
	}
	return false;
}

static void test_one_gpu(void)
{
	const struct adapter adapter = gpu_adapter(7048070);
	const struct pnp_device device = gpu_device(7048070, T4 "D8");
	struct discovery_snapshot *snapshot = assemble(&adapter, 1, &device, 1);
	const struct discovery_device *gpu = &snapshot->devices[0];
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 1);
	UNIT_STRING(gpu->id, "PCI-10DE-1EB8-12A210DE-A1-3-13C0B0C5-1-D8");
	UNIT_STRING(gpu->vendor, "NVIDIA");
	UNIT_STRING(gpu->location_path, "PCIROOT(0)#PCI(1B00)");
	UNIT_STRING(gpu->location_paths[1], pci_1b[1]);
	UNIT_STRING(gpu->driver_version, "31.0.15.3640");
	UNIT_STRING(gpu->driver_name, "nvlddmkm");
	UNIT_STRING(gpu->driver_store_path, STORE);
	UNIT_INT(gpu->luid, 7048070);
	UNIT_INT(gpu->pci_subsystem_vendor, 0x10de);
	UNIT_INT(gpu->pci_subsystem_device, 0x12a2);
	UNIT_INT(gpu->kind, DISCOVERY_DISPLAY);
	CU_ASSERT_TRUE(gpu->allocatable);
	UNIT_STRING(gpu->attributes[2], "d3d12-core-compute");
	UNIT_INT(snapshot->diagnostic_count, 0);
	discovery_free(snapshot);
}

static void test_fault_identical_boards_are_told_apart(void)
{
	struct adapter adapters[4];
	struct pnp_device devices[4];
	static const char *const ids[] = {T4 "D8", T4 "E0", T4 "E8", T4 "F0"};
	for (size_t i = 0; i < 4; i++) {
		adapters[i] = gpu_adapter(100 + (int64_t)i);
		devices[i] = gpu_device(103 - (int64_t)i, ids[i]);
	}
	struct discovery_snapshot *snapshot = assemble(adapters, 4, devices, 4);
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 4);
	UNIT_STRING(snapshot->devices[0].pnp_instance_id, T4 "D8");
	UNIT_INT(snapshot->devices[0].luid, 103);
	UNIT_INT(snapshot->devices[3].luid, 100);
	discovery_free(snapshot);
}

static void test_fault_mcdm_device_computes(void)
{
	struct adapter adapter = gpu_adapter(-5);
	struct pnp_device device = gpu_device(-5, "PCI\\VEN_8086&DEV_7D1D\\0");
	adapter.attributes = ADAPTER_D3D12_CORE_COMPUTE | ADAPTER_HARDWARE_NPU;
	device.compute_class = true;
	struct discovery_snapshot *snapshot = assemble(&adapter, 1, &device, 1);
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 1);
	CU_ASSERT_TRUE(snapshot->devices[0].compute);
	CU_ASSERT_FALSE(snapshot->devices[0].display);
	UNIT_INT(snapshot->devices[0].kind, DISCOVERY_COMPUTE);
	UNIT_INT(snapshot->devices[0].luid, -5);
	discovery_free(snapshot);
	/* Newer ones run models, and no shaders. */
	adapter.attributes = ADAPTER_D3D12_GENERIC_ML | ADAPTER_HARDWARE_NPU;
	snapshot = assemble(&adapter, 1, &device, 1);
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 1);
	CU_ASSERT_TRUE(snapshot->devices[0].compute);
	UNIT_INT(snapshot->devices[0].kind, DISCOVERY_COMPUTE);
	discovery_free(snapshot);
}

static void test_software_adapters_are_no_devices(void)
{
	struct adapter adapters[] = {gpu_adapter(1), gpu_adapter(2)};
	const struct pnp_device device = gpu_device(1, T4 "D8");
	adapters[1].hardware = false;
	adapters[1].description = "Microsoft Basic Render Driver";
	struct discovery_snapshot *snapshot = assemble(adapters, 2, &device, 1);
	UNIT_INT(snapshot->device_count, 1);
	UNIT_INT(snapshot->diagnostic_count, 0);
	discovery_free(snapshot);
}

static void test_fault_no_partner_is_said(void)
{
	const struct adapter adapter = gpu_adapter(1);
	const struct pnp_device device = gpu_device(2, T4 "D8");
	struct pnp_device without = gpu_device(0, T4 "E0");
	without.has_luid = false;
	const struct pnp_device devices[] = {device, without};
	struct discovery_snapshot *snapshot = assemble(&adapter, 1, devices, 2);
	UNIT_INT(snapshot->device_count, 0);
	CU_ASSERT_TRUE(says(snapshot, "adapter LUID 1", "no plug-and-play device"));
	CU_ASSERT_TRUE(says(snapshot, T4 "D8", "no DirectX adapter"));
	CU_ASSERT_TRUE(says(snapshot, T4 "E0", "has no LUID"));
	discovery_free(snapshot);
}

static void test_fault_pci_path_is_chosen(void)
{
	const struct adapter adapters[] = {gpu_adapter(1), gpu_adapter(2), gpu_adapter(3)};
	struct pnp_device devices[] = {gpu_device(1, T4 "1"), gpu_device(2, T4 "2"),
				       gpu_device(3, T4 "3")};
	devices[0].location_paths = acpi_first;
	devices[1].location_paths = acpi_only;
	devices[2].location_paths = no_paths;
	struct discovery_snapshot *snapshot = assemble(adapters, 3, devices, 3);
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 3);
	UNIT_STRING(snapshot->devices[0].location_path, "PCIROOT(0)#PCI(0200)");
	UNIT_STRING(snapshot->devices[1].location_path, acpi_only[0]);
	CU_ASSERT_TRUE(snapshot->devices[1].allocatable);
	CU_ASSERT_FALSE(snapshot->devices[2].allocatable);
	CU_ASSERT_TRUE(says(snapshot, T4 "3", "no location path"));
	discovery_free(snapshot);
}

/* In a guest of Hyper-V GPUs hang below VMBUS, and HCS accepts the path. */
static void test_a_gpu_below_vmbus_is_offered(void)
{
	static const char *const paths[] = {
		"ACPI(_SB_)#ACPI(VMOD)#ACPI(VMBS)#VMBUS({44C4F61D-4444-4400-9D52-802E27EDE19F})#PCI(0000)",
		NULL};
	const struct adapter adapters[] = {gpu_adapter(1), gpu_adapter(2)};
	struct pnp_device devices[] = {gpu_device(1, T4 "1"), gpu_device(2, "ROOT\\DISPLAY\\0000")};
	devices[0].location_paths = paths;
	devices[1].location_paths = paths;
	struct discovery_snapshot *snapshot = assemble(adapters, 2, devices, 2);
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 2);
	UNIT_STRING(snapshot->devices[0].location_path, paths[0]);
	CU_ASSERT_TRUE(snapshot->devices[0].allocatable);
	CU_ASSERT_FALSE(snapshot->devices[1].allocatable);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(snapshot->devices[1].not_allocatable_reason, "not a PCI device"));
	discovery_free(snapshot);
}

/* Before DXCore, the type of an adapter distinguishes them: a server's own display controller renders nothing. */
static void test_an_adapter_that_does_not_render_is_no_gpu(void)
{
	static const struct {
		unsigned type;
		bool hardware;
	} types[] = {
		{0x0b, true},  /* render, display, post: the GPU that a screen is attached to */
		{0x01, true},  /* render alone */
		{0x0a, false}, /* display and post: Microsoft Basic Display Driver */
		{0x05, false}, /* render by software: Microsoft Basic Render Driver */
		{0x42, false}, /* indirect display */
		{0x800, true}, /* compute only */
	};
	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		struct adapter adapter = gpu_adapter(1);
		const struct pnp_device device = gpu_device(1, T4 "1");
		adapter.attributes = 0;
		adapter_set_type(&adapter, types[i].type);
		struct discovery_snapshot *snapshot = assemble(&adapter, 1, &device, 1);
		UNIT_INT(snapshot->device_count, types[i].hardware ? 1 : 0);
		discovery_free(snapshot);
	}
}

static const uint8_t a_dll[] = {'a', 0, '.', 0, 'd', 0, 'l', 0, 'l', 0, 0, 0};
static const uint8_t big_a_dll[] = {'s', 0, '\\', 0, 'A', 0, '.', 0, 'D', 0, 'L', 0, 'L', 0, 0, 0};
static const uint8_t up_dll[] = {'.', 0, '.', 0, '\\', 0, 'a', 0, 0, 0};

static void test_runtime_files(void)
{
	/* The order of the keys decides, not that of the registry. */
	static const struct registry_value values[] = {
		{"CopyToVmWhenNewer", "second", 1, big_a_dll, sizeof(big_a_dll)},
		{"CopyToVmOverwrite", "bad", 1, up_dll, sizeof(up_dll)},
		{"CopyToVmOverwrite", "first", 1, a_dll, sizeof(a_dll)},
		{"CopyToVmOverwriteWow64", "small", 1, a_dll, sizeof(a_dll)},
	};
	const struct adapter adapter = gpu_adapter(1);
	struct pnp_device device = gpu_device(1, T4 "D8");
	device.values = values;
	device.value_count = ARRAY_SIZE(values);
	struct discovery_snapshot *snapshot = assemble(&adapter, 1, &device, 1);
	const struct discovery_device *gpu = &snapshot->devices[0];
	CU_ASSERT_EQUAL_FATAL(gpu->file_count, 2);
	UNIT_STRING(gpu->files[0].source, STORE "\\a.dll");
	UNIT_STRING(gpu->files[0].destination, "C:\\Windows\\System32\\a.dll");
	UNIT_STRING(gpu->files[0].origin, "CopyToVmOverwrite");
	UNIT_STRING(gpu->files[1].destination, "C:\\Windows\\SysWOW64\\a.dll");
	UNIT_INT(gpu->files[1].bits, 32);
	CU_ASSERT_TRUE(says(snapshot, "CopyToVmOverwrite\\bad", "inside the driver's folder"));
	CU_ASSERT_TRUE(says(snapshot, "CopyToVmWhenNewer\\second", "s\\A.DLL is left out"));
	discovery_free(snapshot);
}

static void test_fault_in_a_container_in_any_case(void)
{
	static const struct registry_value value = {"CopyToVmOverwrite", "x", 1, a_dll,
						    sizeof(a_dll)};
	const struct adapter adapter = gpu_adapter(1);
	struct pnp_device device = gpu_device(1, T4 "D8");
	device.store_path = "\\SystemRoot\\system32\\HOSTDRIVERSTORE\\FileRepository\\nv";
	device.values = &value;
	device.value_count = 1;
	struct discovery_snapshot *snapshot = assemble(&adapter, 1, &device, 1);
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 1);
	UNIT_INT(snapshot->devices[0].file_count, 0);
	UNIT_STRING(snapshot->devices[0].driver_store_path,
		    "C:\\Windows\\system32\\HOSTDRIVERSTORE\\FileRepository\\nv");
	discovery_free(snapshot);
}

static void test_store_paths(void)
{
	static const struct {
		const char *path, *wanted;
	} cases[] = {
		{"\\SystemRoot\\System32\\x", "C:\\Windows\\System32\\x"},
		{"\\systemroot\\a/b\\", "C:\\Windows\\a\\b"},
		{"\\??\\D:\\store", "D:\\store"},
		{"C:/Windows/x", "C:\\Windows\\x"},
		{"C:\\a\\..\\b", NULL},
		{"\\\\host\\share\\x", NULL},
		{"relative\\x", NULL},
		{"C:\\a:b", NULL},
		{"", NULL},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *path CLEANUP_FREE = NULL;
		int rc = store_path_normalize(cases[i].path, "C:\\Windows", &path, NULL);
		UNIT_INT(rc, cases[i].wanted != NULL ? 0 : ERROR_FORMAT);
		UNIT_STRING(path != NULL ? path : "",
			    cases[i].wanted != NULL ? cases[i].wanted : "");
	}
	CU_ASSERT_TRUE(store_path_is_in_container("C:\\W\\HostDriverStore\\f"));
	CU_ASSERT_FALSE(store_path_is_in_container("C:\\W\\MyHostDriverStore2\\f"));
}

static void test_fault_ids_with_leading_zeros(void)
{
	struct adapter_ids ids =
		device_id_parse("PCI\\VEN_10DE&DEV_0FF3&SUBSYS_0000110A&REV_0B\\4&1&0");
	UNIT_INT(ids.vendor, 0x10de);
	UNIT_INT(ids.device, 0x0ff3);
	UNIT_INT(ids.subsystem, 0x0000110a);
	UNIT_INT(ids.revision, 0x0b);
	ids = device_id_parse("ACPI\\VEN_QCOM&DEV_0C36\\0");
	CU_ASSERT_EQUAL(ids.vendor, ADAPTER_ID_UNKNOWN);
}

static void test_ids_of_long_instances(void)
{
	struct builder builder CLEANUP_BUILDER = {0};
	const char *first = device_id_of_instance(
		&builder,
		"SWD\\DISPLAY_ADAPTER_WITH_A_NAME\\{01234567-89AB-CDEF-0123-456789ABCDEF}0");
	const char *second = device_id_of_instance(
		&builder,
		"SWD\\DISPLAY_ADAPTER_WITH_A_NAME\\{01234567-89AB-CDEF-0123-456789ABCDEF}1");
	CU_ASSERT_TRUE(device_id_is_valid(first));
	CU_ASSERT_TRUE(device_id_is_valid(second));
	CU_ASSERT_STRING_NOT_EQUAL(first, second);
}

static void test_device_tree_where_adapters_are_mute(void)
{
	const struct adapter adapter = {.luid = 1011,
					.description = "",
					.ids = {ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN,
						ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN},
					.hardware = true};
	struct pnp_device device = gpu_device(4097, T4 "D8");
	device.problem = 43;
	struct discovery_snapshot *snapshot = assemble(&adapter, 1, &device, 1);
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 1);
	CU_ASSERT_TRUE(snapshot->devices[0].display);
	UNIT_INT(snapshot->devices[0].pci_vendor, 0x10de);
	UNIT_INT(snapshot->devices[0].health, DISCOVERY_UNHEALTHY);
	CU_ASSERT_PTR_NOT_NULL(strstr(snapshot->devices[0].health_reason, "43"));
	discovery_free(snapshot);
}

/* DXCore that lists nothing says that there is nothing. */
static void test_no_adapter_by_dxcore(void)
{
	const struct pnp_device device = gpu_device(1, T4 "D8");
	const struct windows_hardware hardware = {.devices = &device,
						  .device_count = 1,
						  .adapters_are_complete = true,
						  .windows = "C:\\Windows"};
	struct builder builder CLEANUP_BUILDER = {0};
	struct discovery_snapshot *snapshot = assemble(NULL, 0, &device, 1);
	const struct discovery_filter all = {0};
	UNIT_INT(snapshot->device_count, 1);
	discovery_free(snapshot);
	windows_assemble(&hardware, &builder);
	CU_ASSERT_EQUAL_FATAL(builder_finish(&builder, &all, &snapshot, NULL), 0);
	UNIT_INT(snapshot->device_count, 0);
	CU_ASSERT_TRUE(says(snapshot, T4 "D8", "no DirectX adapter belongs to this device"));
	discovery_free(snapshot);
}

static void test_store_that_is_not_found(void)
{
	const struct adapter adapter = gpu_adapter(1);
	struct pnp_device device = gpu_device(1, T4 "D8");
	device.store_path = "";
	device.store_path_error = "status 0xc0000001";
	struct discovery_snapshot *snapshot = assemble(&adapter, 1, &device, 1);
	UNIT_INT(snapshot->device_count, 1);
	CU_ASSERT_TRUE(says(snapshot, T4 "D8", "status 0xc0000001"));
	discovery_free(snapshot);
}

UNIT_MAIN("Windows devices", {"one GPU", test_one_gpu},
	  {"fault: identical boards were mixed up", test_fault_identical_boards_are_told_apart},
	  {"fault: MCDM devices were said not to compute", test_fault_mcdm_device_computes},
	  {"software adapters are no devices", test_software_adapters_are_no_devices},
	  {"fault: what has no partner vanished", test_fault_no_partner_is_said},
	  {"fault: the first location path was taken", test_fault_pci_path_is_chosen},
	  {"a GPU below VMBUS is offered", test_a_gpu_below_vmbus_is_offered},
	  {"an adapter that does not render is no GPU",
	   test_an_adapter_that_does_not_render_is_no_gpu},
	  {"runtime files", test_runtime_files},
	  {"fault: HostDriverStore in another case was missed",
	   test_fault_in_a_container_in_any_case},
	  {"paths of the driver store", test_store_paths},
	  {"fault: ids with leading zeros never matched", test_fault_ids_with_leading_zeros},
	  {"ids of long instances", test_ids_of_long_instances},
	  {"the device tree has to do where adapters are mute",
	   test_device_tree_where_adapters_are_mute},
	  {"devices are none where DXCore lists no adapter", test_no_adapter_by_dxcore},
	  {"a driver store folder that is not found", test_store_that_is_not_found})
