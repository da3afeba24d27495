/* SPDX-License-Identifier: MIT */
/*
 * What the discovery library of TensorWorks' DirectX device plugins gets wrong, and what it leaves
 * to chance: a test each that ours does not (reference-plugin/tests/upstream-differences.md). From plain data, so on
 * every system.
 */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "discovery/windows/adapter.h"
#include "discovery/windows/copy_to_vm.h"
#include "discovery/windows/device_id.h"
#include "discovery/windows/runtime_files.h"

#include <uchar.h>

#define STORE	   "C:\\Windows\\System32\\DriverStore\\FileRepository\\nv.inf_amd64_1"
#define T4	   "PCI\\VEN_10DE&DEV_1EB8&SUBSYS_12A210DE&REV_A1\\3&13C0B0C5&1&D8"
#define T4_TWIN	   "PCI\\VEN_10DE&DEV_1EB8&SUBSYS_12A210DE&REV_A1\\3&13C0B0C5&1&E0"
#define SYSTEM32   "C:\\Windows\\System32\\"
#define ALL_OF_GPU (ADAPTER_D3D11_GRAPHICS | ADAPTER_D3D12_GRAPHICS | ADAPTER_D3D12_CORE_COMPUTE)

enum { REG_BINARY_TYPE = 3, REG_SZ_TYPE = 1, REG_EXPAND_SZ_TYPE = 2, REG_MULTI_SZ_TYPE = 7 };

static const char *const one_path[] = {"PCIROOT(0)#PCI(1B00)", NULL};

static struct adapter adapter(int64_t luid, unsigned attributes)
{
	return (struct adapter){
		.luid = luid,
		.description = "",
		.ids = {ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN,
			ADAPTER_ID_UNKNOWN},
		.dedicated_memory = -1,
		.shared_memory = -1,
		.hardware = true,
		.described = true,
		.attributes = attributes,
	};
}

static struct pnp_device device(const char *instance_id, int64_t luid)
{
	return (struct pnp_device){
		.instance_id = instance_id,
		.description = "",
		.manufacturer = "NVIDIA",
		.driver_key = "{4d36e968-e325-11ce-bfc1-08002be10318}\\0004",
		.driver_version = "",
		.service = "",
		.location_paths = one_path,
		.has_luid = true,
		.luid = luid,
		.store_path = STORE,
		.store_path_error = "",
	};
}

static struct discovery_snapshot *take(const struct discovery_filter *filter,
				       const struct adapter *adapters, size_t adapter_count,
				       const struct pnp_device *devices, size_t device_count)
{
	static const struct discovery_filter all = {.include_integrated = true,
						    .include_detachable = true};
	struct builder builder CLEANUP_BUILDER = {.place_prefix = ""};
	const struct windows_hardware hardware = {
		.adapters = adapters,
		.adapter_count = adapter_count,
		.devices = devices,
		.device_count = device_count,
		.adapters_are_complete = true,
		.windows = "C:\\Windows",
	};
	struct discovery_snapshot *snapshot = NULL;
	windows_assemble(&hardware, &builder);
	UNIT_INT(builder_finish(&builder, filter != NULL ? filter : &all, &snapshot, NULL), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(snapshot);
	return snapshot;
}

/* Ids and diagnostics, one a line. */
static void describe(const struct discovery_snapshot *snapshot, struct text *out)
{
	for (size_t i = 0; i < snapshot->device_count; i++)
		text_addf(out, "%s\n", snapshot->devices[i].id);
	for (size_t i = 0; i < snapshot->diagnostic_count; i++)
		text_addf(out, "! %s: %s\n", snapshot->diagnostics[i].place,
			  snapshot->diagnostics[i].message);
}

static void expect(struct discovery_snapshot *snapshot, const char *wanted)
{
	struct text seen CLEANUP_TEXT = {0};
	describe(snapshot, &seen);
	UNIT_STRING(text_string(&seen), wanted);
	discovery_free(snapshot);
}

/* D3D11 only, everything, core compute only: which filter admits which. */
static void test_filters(void)
{
	const struct adapter adapters[] = {
		adapter(1, ADAPTER_D3D11_GRAPHICS),
		adapter(2, ALL_OF_GPU),
		adapter(3, ADAPTER_D3D12_CORE_COMPUTE),
	};
	const struct pnp_device devices[] = {device("A", 1), device("B", 2), device("C", 3)};
	const struct discovery_filter display = {.display_only = true};
	const struct discovery_filter compute = {.compute_only = true};
	struct discovery_snapshot *all = take(NULL, adapters, 3, devices, 3);
	UNIT_INT(all->device_count, 3);
	CU_ASSERT_TRUE(all->devices[0].display && !all->devices[0].compute);
	CU_ASSERT_TRUE(all->devices[1].display && all->devices[1].compute);
	CU_ASSERT_TRUE(!all->devices[2].display && all->devices[2].compute);
	UNIT_INT(all->devices[2].kind, DISCOVERY_COMPUTE);
	discovery_free(all);
	expect(take(&display, adapters, 3, devices, 3), "A\nB\n");
	expect(take(&compute, adapters, 3, devices, 3), "C\n");
}

static void test_software_adapters(void)
{
	struct adapter warp = adapter(9, ALL_OF_GPU);
	const struct pnp_device basic = device("ROOT\\BASICRENDER\\0000", 9);
	warp.hardware = false;
	expect(take(NULL, &warp, 1, &basic, 1), "");
	/* That no device stands behind it is as it should be. */
	expect(take(NULL, &warp, 1, NULL, 0), "");
}

static void test_integrated_and_detachable(void)
{
	struct adapter adapters[] = {adapter(1, ALL_OF_GPU), adapter(2, ALL_OF_GPU)};
	const struct pnp_device devices[] = {device("A", 1), device("B", 2)};
	const struct discovery_filter plain = {0};
	const struct discovery_filter integrated = {.include_integrated = true};
	adapters[0].integrated = true;
	adapters[1].detachable = true;
	expect(take(&plain, adapters, 2, devices, 2), "");
	expect(take(&integrated, adapters, 2, devices, 2), "A\n");
	expect(take(NULL, adapters, 2, devices, 2), "A\nB\n");
}

/* LUIDs are others after every boot. */
static void test_luids_change_nothing(void)
{
	const struct adapter before[] = {adapter(7048070, ALL_OF_GPU),
					 adapter(7098126, ALL_OF_GPU)};
	const struct pnp_device first[] = {device(T4, 7048070), device(T4_TWIN, 7098126)};
	const struct adapter after[] = {adapter(5, ALL_OF_GPU), adapter(4, ALL_OF_GPU)};
	const struct pnp_device second[] = {device(T4_TWIN, 4), device(T4, 5)};
	static const char wanted[] = "PCI-10DE-1EB8-12A210DE-A1-3-13C0B0C5-1-D8\n"
				     "PCI-10DE-1EB8-12A210DE-A1-3-13C0B0C5-1-E0\n";
	expect(take(NULL, before, 2, first, 2), wanted);
	expect(take(NULL, after, 2, second, 2), wanted);
}

/* -1 is what upstream returns for an error, and a LUID. */
static void test_any_luid(void)
{
	static const int64_t luids[] = {-1, INT64_MIN, INT64_MAX, 1};
	for (size_t i = 0; i < ARRAY_SIZE(luids); i++) {
		const struct adapter one = adapter(luids[i], ALL_OF_GPU);
		const struct pnp_device of_it = device("A", luids[i]);
		struct discovery_snapshot *snapshot = take(NULL, &one, 1, &of_it, 1);
		UNIT_INT(snapshot->device_count, 1);
		CU_ASSERT_TRUE(snapshot->devices[0].luid == luids[i]);
		discovery_free(snapshot);
	}
}

/* 0.0.1 wrote SUBSYS with fewer digits, and found no such device. */
static void test_leading_zeros(void)
{
	struct adapter_ids ids =
		device_id_parse("PCI\\VEN_8086&DEV_0166&SUBSYS_01341028&REV_09\\3&11583659&0&10");
	UNIT_INT(ids.vendor, 0x8086);
	UNIT_INT(ids.device, 0x0166);
	UNIT_INT(ids.subsystem, 0x01341028);
	UNIT_INT(ids.revision, 0x09);
	UNIT_INT(device_id_parse("PCI\\VEN_1AF4&DEV_1050&SUBSYS_0000110A&REV_01\\4&1").subsystem,
		 0x110A);
}

static void test_nothing_is_dropped_in_silence(void)
{
	const struct adapter adapters[] = {adapter(1, ALL_OF_GPU), adapter(2, ALL_OF_GPU)};
	struct pnp_device devices[] = {device("A", 1), device("B", 3), device("C", 0)};
	devices[2].has_luid = false;
	expect(take(NULL, adapters, 2, devices, 3),
	       "A\n"
	       "! B: : no DirectX adapter belongs to this device\n"
	       "! C: : no DirectX adapter belongs to this device, which has no LUID\n"
	       "! adapter LUID 2: no plug-and-play device has this LUID\n");
}

static void test_other_buses(void)
{
	static const char *const acpi[] = {"ACPI(_SB_)#ACPI(GPU0)", NULL};
	static const char *const none[] = {NULL};
	const struct adapter adapters[] = {adapter(1, ALL_OF_GPU), adapter(2, ALL_OF_GPU)};
	struct pnp_device devices[] = {device("ACPI\\QCOM0C60\\0", 1), device("VMBUS\\{1}\\2", 2)};
	struct discovery_snapshot *snapshot = NULL;
	devices[0].location_paths = acpi;
	devices[1].location_paths = none;
	snapshot = take(NULL, adapters, 2, devices, 2);
	UNIT_INT(snapshot->device_count, 2);
	CU_ASSERT_FALSE(snapshot->devices[0].allocatable || snapshot->devices[1].allocatable);
	UNIT_CONTAINS(snapshot->devices[0].not_allocatable_reason, "ACPI(_SB_)#ACPI(GPU0)");
	UNIT_CONTAINS(snapshot->devices[1].not_allocatable_reason, "no location path");
	UNIT_STRING(snapshot->devices[0].location_path, "");
	discovery_free(snapshot);
}

/* Upstream takes the first, whatever it is. */
static void test_the_path_of_pci(void)
{
	static const char *const paths[] = {"ACPI(_SB_)#ACPI(PCI0)#ACPI(GFX0)",
					    "PCIROOT(0)#PCI(0200)", NULL};
	const struct adapter one = adapter(1, ALL_OF_GPU);
	struct pnp_device of_it = device("A", 1);
	struct discovery_snapshot *snapshot = NULL;
	of_it.location_paths = paths;
	snapshot = take(NULL, &one, 1, &of_it, 1);
	UNIT_STRING(snapshot->devices[0].location_path, "PCIROOT(0)#PCI(0200)");
	UNIT_STRING(snapshot->devices[0].location_paths[0], paths[0]);
	UNIT_STRING(snapshot->devices[0].location_paths[1], paths[1]);
	CU_ASSERT_TRUE(snapshot->devices[0].allocatable);
	discovery_free(snapshot);
}

static void test_one_bad_device_costs_itself(void)
{
	const struct adapter adapters[] = {adapter(1, ALL_OF_GPU), adapter(2, ALL_OF_GPU)};
	struct pnp_device devices[] = {device("A", 1), device("B", 2)};
	struct discovery_snapshot *snapshot = NULL;
	devices[0].store_path = "";
	devices[0].store_path_error = "D3DKMTQueryAdapterInfo: the driver refuses";
	devices[0].problem = 43;
	snapshot = take(NULL, adapters, 2, devices, 2);
	UNIT_INT(snapshot->device_count, 2);
	UNIT_INT(snapshot->devices[0].health, DISCOVERY_UNHEALTHY);
	UNIT_CONTAINS(snapshot->devices[0].health_reason, "43");
	UNIT_INT(snapshot->devices[1].health, DISCOVERY_HEALTHY);
	UNIT_STRING(snapshot->devices[1].driver_store_path, STORE);
	UNIT_INT(snapshot->diagnostic_count, 1);
	UNIT_CONTAINS(snapshot->diagnostics[0].message, "the driver refuses");
	discovery_free(snapshot);
}

static void test_vendor_and_manufacturer(void)
{
	struct adapter adapters[] = {adapter(1, ALL_OF_GPU), adapter(2, ALL_OF_GPU)};
	struct pnp_device devices[] = {device("A", 1), device("PCI\\VEN_FFFE&DEV_0001\\2", 2)};
	struct discovery_snapshot *snapshot = NULL;
	adapters[0].ids.vendor = 0x1002;
	devices[0].manufacturer = "Advanced Micro Devices, Inc.";
	snapshot = take(NULL, adapters, 2, devices, 2);
	UNIT_STRING(snapshot->devices[0].vendor, "AMD");
	UNIT_STRING(snapshot->devices[0].manufacturer, "Advanced Micro Devices, Inc.");
	UNIT_STRING(snapshot->devices[1].vendor, "0xfffe");
	discovery_free(snapshot);
}

static void test_members_that_upstream_does_not_read(void)
{
	struct adapter one = adapter(1, ALL_OF_GPU | ADAPTER_HARDWARE_GPU);
	const struct pnp_device of_it = device(T4, 1);
	struct discovery_snapshot *snapshot = NULL;
	const struct discovery_device *seen = NULL;
	one.driver_version = UINT64_C(0x001F0000000F0E81);
	one.dedicated_memory = INT64_C(16) << 30;
	one.shared_memory = INT64_C(8) << 30;
	snapshot = take(NULL, &one, 1, &of_it, 1);
	seen = &snapshot->devices[0];
	UNIT_STRING(seen->driver_version, "31.0.15.3713");
	CU_ASSERT_TRUE(seen->dedicated_memory == INT64_C(16) << 30);
	CU_ASSERT_TRUE(seen->shared_memory == INT64_C(8) << 30);
	UNIT_INT(seen->pci_vendor, 0x10de);
	UNIT_STRING(seen->attributes[3], "hardware-gpu");
	discovery_free(snapshot);
}

#define VALUE(key_, name_, type_, text_)                                                           \
	{                                                                                          \
		.key = (key_), .name = (name_), .type = (type_), .data = (const uint8_t *)(text_), \
		.size = sizeof(text_)                                                              \
	}

/* "destination <= source" of the files below the store, and the diagnostics. */
static void expect_files(const struct registry_value *values, size_t count, const char *wanted)
{
	const struct adapter one = adapter(1, ALL_OF_GPU);
	struct pnp_device of_it = device(T4, 1);
	struct discovery_snapshot *snapshot = NULL;
	struct text seen CLEANUP_TEXT = {0};
	of_it.values = values;
	of_it.value_count = count;
	snapshot = take(NULL, &one, 1, &of_it, 1);
	for (size_t i = 0; i < snapshot->devices[0].file_count; i++) {
		const struct discovery_file *file = &snapshot->devices[0].files[i];
		CU_ASSERT_TRUE(text_starts_with(file->source, STORE "\\"));
		text_addf(&seen, "%s <= %s (%u)\n", file->destination, file->source + strlen(STORE),
			  file->bits);
	}
	for (size_t i = 0; i < snapshot->diagnostic_count; i++)
		text_addf(&seen, "! %s\n", snapshot->diagnostics[i].message);
	UNIT_STRING(text_string(&seen), wanted);
	discovery_free(snapshot);
}

static void test_documented_values(void)
{
	static const struct registry_value values[] = {
		VALUE("CopyToVmOverwrite", "1", REG_MULTI_SZ_TYPE,
		      u"CopyToVm\\softgpu1.dll\0softgpu2.dll\0"),
		VALUE("CopyToVmOverwrite", "2", REG_SZ_TYPE, u"softgpu3.dll"),
		VALUE("CopyToVmOverwrite", "3", REG_MULTI_SZ_TYPE, u"sub\\one.dll\0"),
		VALUE("CopyToVmOverwriteWow64", "4", REG_MULTI_SZ_TYPE,
		      u"Subdir1\\Subdir2\\softgpu2wow64.dll\0softgpu.dll\0"),
	};
	expect_files(values, ARRAY_SIZE(values),
		     SYSTEM32 "softgpu2.dll <= \\CopyToVm\\softgpu1.dll (64)\n" SYSTEM32
			      "softgpu3.dll <= \\softgpu3.dll (64)\n" SYSTEM32
			      "one.dll <= \\sub\\one.dll (64)\n"
			      "C:\\Windows\\SysWOW64\\softgpu.dll <= "
			      "\\Subdir1\\Subdir2\\softgpu2wow64.dll (32)\n");
}

/* An empty second string ends a REG_MULTI_SZ, which says the same. */
static void test_empty_second_string(void)
{
	static const struct registry_value values[] = {
		VALUE("CopyToVmOverwrite", "1", REG_MULTI_SZ_TYPE, u"sub\\a.dll\0\0"),
	};
	expect_files(values, 1, SYSTEM32 "a.dll <= \\sub\\a.dll (64)\n");
}

/* Upstream loses the whole key to each of these. */
static void test_a_bad_value_costs_itself(void)
{
	static const struct registry_value values[] = {
		VALUE("CopyToVmOverwrite", "1", REG_BINARY_TYPE, u"a.dll\0"),
		VALUE("CopyToVmOverwrite", "2", REG_EXPAND_SZ_TYPE, u"b.dll"),
		VALUE("CopyToVmOverwrite", "3", REG_MULTI_SZ_TYPE, u"c.dll\0d.dll\0e.dll\0"),
		VALUE("CopyToVmOverwrite", "4", REG_MULTI_SZ_TYPE, u""),
		{"CopyToVmOverwrite", "5", REG_MULTI_SZ_TYPE, (const uint8_t *)"f\0.", 3},
		{"CopyToVmOverwrite", "6", REG_MULTI_SZ_TYPE, NULL, 0},
		VALUE("CopyToVmOverwrite", "7", REG_MULTI_SZ_TYPE, u"good.dll\0"),
	};
	expect_files(values, ARRAY_SIZE(values),
		     SYSTEM32 "good.dll <= \\good.dll (64)\n"
			      "! its type is 3, not REG_MULTI_SZ or REG_SZ\n"
			      "! its type is 2, not REG_MULTI_SZ or REG_SZ\n"
			      "! more than two strings\n"
			      "! it is empty\n"
			      "! an odd number of bytes is not UTF-16\n"
			      "! it is empty\n");
}

static void test_missing_terminators(void)
{
	static const char16_t text[] = u"a.dll\0b.dll";
	const struct registry_value values[] = {
		{"CopyToVmOverwrite", "1", REG_MULTI_SZ_TYPE, (const uint8_t *)text,
		 sizeof(text) - sizeof(text[0])},
		{"CopyToVmOverwrite", "2", REG_SZ_TYPE, (const uint8_t *)text, 5 * sizeof(text[0])},
	};
	expect_files(values, 2,
		     SYSTEM32 "b.dll <= \\a.dll (64)\n" SYSTEM32 "a.dll <= \\a.dll (64)\n");
}

/* Upstream has 1,024 bytes for a value. */
static void test_large_values(void)
{
	static const char name[] = "a.dll";
	static char16_t source[800 + sizeof(name) + 1];
	const size_t length = 800;
	struct copy_to_vm_file file CLEANUP(copy_to_vm_file_free) = {0};
	for (size_t i = 0; i < length; i++)
		source[i] = i % 2 == 0 ? u'd' : u'\\';
	for (size_t i = 0; i < sizeof(name); i++)
		source[length + i] = (char16_t)name[i];
	UNIT_INT(copy_to_vm_parse(REG_MULTI_SZ_TYPE, (const uint8_t *)source, sizeof(source), &file,
				  NULL),
		 0);
	UNIT_INT(strlen(file.source), length + strlen(name));
	UNIT_STRING(file.destination, name);
}

static void test_paths_stay_in_place(void)
{
	static const char outside[] = "! the source is not a path inside the driver's folder\n";
	static const char elsewhere[] = "! the destination is not a bare file name\n";
	static const struct registry_value sources[] = {
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"..\\a.dll"),
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"sub\\..\\..\\a.dll"),
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"sub/../../a.dll"),
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"C:\\a.dll"),
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"\\a.dll"),
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"\\\\host\\share\\a.dll"),
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"a.dll:stream"),
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"NUL"),
	};
	static const struct registry_value destinations[] = {
		VALUE("CopyToVmOverwrite", "1", REG_MULTI_SZ_TYPE, u"a.dll\0drivers\\a.sys\0"),
		VALUE("CopyToVmOverwrite", "1", REG_MULTI_SZ_TYPE, u"a.dll\0..\0"),
		VALUE("CopyToVmOverwrite", "1", REG_MULTI_SZ_TYPE, u"a.dll\0C:\\a.dll\0"),
		VALUE("CopyToVmOverwrite", "1", REG_MULTI_SZ_TYPE, u"a.dll\0con.dll\0"),
		VALUE("CopyToVmOverwrite", "1", REG_MULTI_SZ_TYPE, u"a.dll\0a.dll.\0"),
	};
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++)
		expect_files(&sources[i], 1, outside);
	for (size_t i = 0; i < ARRAY_SIZE(destinations); i++)
		expect_files(&destinations[i], 1, elsewhere);
}

/* Overwrite before WhenNewer; System32 does not know case. */
static void test_same_destinations(void)
{
	static const struct registry_value values[] = {
		VALUE("CopyToVmWhenNewer", "1", REG_MULTI_SZ_TYPE, u"new.dll\0OPENCL.dll\0"),
		VALUE("CopyToVmOverwrite", "2", REG_MULTI_SZ_TYPE, u"over.dll\0OpenCL.dll\0"),
		VALUE("CopyToVmOverwriteWow64", "3", REG_MULTI_SZ_TYPE, u"w.dll\0OpenCL.dll\0"),
	};
	expect_files(values, ARRAY_SIZE(values),
		     SYSTEM32 "OpenCL.dll <= \\over.dll (64)\n"
			      "C:\\Windows\\SysWOW64\\OpenCL.dll <= \\w.dll (32)\n"
			      "! C:\\Windows\\System32\\OPENCL.dll is " STORE
			      "\\over.dll already; new.dll is left out\n");
}

/* Half of a surrogate pair is no reason to give up. */
static void test_names_beyond_ascii(void)
{
	static const char16_t half[] = {0xD83D, u'x', 0};
	static const struct registry_value values[] = {
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"gr\u00e4fik\U0001f4a1.dll"),
		VALUE("CopyToVmOverwrite", "2", REG_SZ_TYPE, half),
	};
	expect_files(values, 2,
		     SYSTEM32 "gr\xc3\xa4"
			      "fik\xf0\x9f\x92\xa1.dll <= \\gr\xc3\xa4"
			      "fik\xf0\x9f\x92\xa1.dll (64)\n" SYSTEM32
			      "\xef\xbf\xbdx <= \\\xef\xbf\xbdx (64)\n");
}

static void expect_store(const char *path, const char *wanted)
{
	char *seen CLEANUP_FREE = NULL;
	UNIT_INT(store_path_normalize(path, "C:\\Windows", &seen, NULL), 0);
	UNIT_STRING(seen, wanted);
}

static void test_store_paths(void)
{
	static const char *const bad[] = {
		"",	   "relative\\x", "\\\\host\\share", "C:\\Windows\\..\\x",
		"C:\\a:b", "\\Device\\x"};
	expect_store("\\SystemRoot\\System32\\DriverStore\\x", SYSTEM32 "DriverStore\\x");
	expect_store("\\systemroot\\System32\\x\\", SYSTEM32 "x");
	expect_store("\\??\\C:\\Windows\\x", "C:\\Windows\\x");
	expect_store("C:/Windows/x", "C:\\Windows\\x");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *seen CLEANUP_FREE = NULL;
		struct error err = {0};
		UNIT_INT(store_path_normalize(bad[i], "C:\\Windows", &seen, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, "is not the path of a driver store folder");
	}
}

static void test_containers_are_recognised(void)
{
	static const struct registry_value value =
		VALUE("CopyToVmOverwrite", "1", REG_SZ_TYPE, u"a.dll");
	const struct adapter one = adapter(1, ALL_OF_GPU);
	struct pnp_device of_it = device(T4, 1);
	struct discovery_snapshot *snapshot = NULL;
	CU_ASSERT_TRUE(store_path_is_in_container(SYSTEM32 "HostDriverStore\\FileRepository\\x"));
	CU_ASSERT_TRUE(store_path_is_in_container("c:\\windows\\system32\\hostdriverstore\\x"));
	CU_ASSERT_FALSE(store_path_is_in_container(SYSTEM32 "DriverStore\\HostDriverStore.old\\x"));
	of_it.store_path = SYSTEM32 "HOSTDRIVERSTORE\\FileRepository\\x";
	of_it.values = &value;
	of_it.value_count = 1;
	snapshot = take(NULL, &one, 1, &of_it, 1);
	UNIT_INT(snapshot->device_count, 1);
	UNIT_INT(snapshot->devices[0].file_count, 0);
	discovery_free(snapshot);
}

UNIT_MAIN("upstream faults", {"filters", test_filters},
	  {"software adapters", test_software_adapters},
	  {"integrated and detachable", test_integrated_and_detachable},
	  {"LUIDs change nothing", test_luids_change_nothing}, {"any LUID", test_any_luid},
	  {"leading zeros", test_leading_zeros},
	  {"nothing is dropped in silence", test_nothing_is_dropped_in_silence},
	  {"other buses", test_other_buses}, {"the path of PCI", test_the_path_of_pci},
	  {"one bad device costs itself", test_one_bad_device_costs_itself},
	  {"vendor and manufacturer", test_vendor_and_manufacturer},
	  {"members that upstream does not read", test_members_that_upstream_does_not_read},
	  {"documented values", test_documented_values},
	  {"empty second string", test_empty_second_string},
	  {"a bad value costs itself", test_a_bad_value_costs_itself},
	  {"missing terminators", test_missing_terminators}, {"large values", test_large_values},
	  {"paths stay in place", test_paths_stay_in_place},
	  {"same destinations", test_same_destinations},
	  {"names beyond ASCII", test_names_beyond_ascii}, {"store paths", test_store_paths},
	  {"containers are recognised", test_containers_are_recognised})
