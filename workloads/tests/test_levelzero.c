/* SPDX-License-Identifier: MIT */

/* probe-levelzero as a program: the real loader without a driver, and with driver doubles that do
 * one thing wrong each. */

#include "base/tests/unit.h"
#include "workloads/levelzero/work_spirv.h" /* generated from work.spv */
#include "workloads/tests/expect.h"
#include "workloads/tests/with_double.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <unistd.h>

#define TESTS	      GPUCERT_BINARY_DIR "/tests/"
#define FIRST	      TESTS "libdouble_levelzero_1.so"
#define SECOND	      TESTS "libdouble_levelzero_2.so"
#define DRIVERS	      "ZE_ENABLE_ALT_DRIVERS="
#define OWN_LOADER    "LD_LIBRARY_PATH=" TESTS "levelzero"
#define NO_LEAK_CHECK "LSAN_OPTIONS=detect_leaks=0" /* the loader keeps what it made */

static const struct probe doubled = {.program = "probe-levelzero",
				     .env = {DRIVERS FIRST, NO_LEAK_CHECK}};

static cJSON *document_with(const char *drivers, const char *settings, const char *option)
{
	const struct probe probe = {.program = "probe-levelzero", .env = {drivers, NO_LEAK_CHECK}};
	return probe_with(&probe, settings, option);
}

static cJSON *with_double(const char *settings)
{
	return probe_with(&doubled, settings, "--size=5000");
}

static void test_the_work_is_verified(void)
{
	static const char *const arrays[] = {"fill", "values", "y", NULL};
	cJSON *document CLEANUP_JSON = document_with(DRIVERS FIRST, "", "--seed=4294967295");
	expect_contains(document, "/api/loader/path", "libze_loader.so.1");
	expect_digests(document, arrays);
}

static void test_odd_sizes_are_computed(void)
{
	static const char *const sizes[] = {"--size=1", "--size=63", "--size=65", "--size=4194241"};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cJSON *document CLEANUP_JSON = document_with(DRIVERS FIRST, "", sizes[i]);
		expect_string(document, "/work/status",
			      i == ARRAY_SIZE(sizes) - 1 ? "unsupported" : "ok");
	}
	cJSON *largest CLEANUP_JSON = document_with(DRIVERS FIRST, "", "--size=67108864");
	expect_string(largest, "/work/stage", "memory");
	expect_contains(largest, "/work/reason", "67108864 elements do not fit an allocation of");
}

/* A loader of version 1.10 or newer has one function for what took two. */
static void test_a_newer_loader(void)
{
	cJSON *document CLEANUP_JSON = document_with(OWN_LOADER, "", "--size=5000");
	cJSON *failing CLEANUP_JSON =
		document_with(OWN_LOADER, "fail=zeInitDrivers:1879179264", "--size=5000");
	cJSON *older CLEANUP_JSON =
		document_with(OWN_LOADER, "fail=zeInitDrivers:2013265921", "--size=5000");
	expect_string(document, "/work/status", "ok");
	expect_string(older, "/work/status", "ok"); /* of its drivers, not of the loader */
	expect_string(failing, "/api/status", "failed");
	expect_string(failing, "/api/reason",
		      "zeInitDrivers: ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE (1879179264)");
}

static void test_no_driver_is_unsupported(void)
{
	static const char *const none[] = {NULL, DRIVERS "/nonexistent/libdriver.so"};
	for (size_t i = 0; i < ARRAY_SIZE(none); i++) {
		const struct probe probe = {.program = "probe-levelzero",
					    .env = {NO_LEAK_CHECK, none[i]}};
		cJSON *document CLEANUP_JSON = probe_document(&probe);
		expect_unsupported(&probe, "Level Zero driver");
		expect_contains(document, "/api/reason", "ZE_RESULT_ERROR_UNINITIALIZED");
	}
	const struct probe empty = {.program = "probe-levelzero",
				    .env = {DRIVERS FIRST, "GPUCERT_DOUBLE=no-driver"}};
	expect_unsupported(&empty, "Level Zero driver");
}

/* The loader calls it the same as an absent one. */
static void test_a_driver_that_cannot_be_loaded_failed(void)
{
	static const char path[] = TESTS "broken-levelzero.so";
	static const char text[] = "not a library";
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, text, strlen(text), 0755, NULL), 0);
	cJSON *document CLEANUP_JSON =
		document_with(DRIVERS TESTS "broken-levelzero.so", "", "--list");
	expect_string(document, "/api/status", "failed");
	expect_contains(document, "/api/reason", "broken-levelzero.so");
}

/* A library of that name that is something else. */
static void test_a_loader_without_functions_failed(void)
{
	static const char folder[] = TESTS "levelzero-other";
	CU_ASSERT_EQUAL_FATAL(file_make_directories(folder, 0755, NULL), 0);
	(void)remove(TESTS "levelzero-other/libze_loader.so.1");
	CU_ASSERT_EQUAL_FATAL(
		symlink(TESTS "libdouble_opencl.so", TESTS "levelzero-other/libze_loader.so.1"), 0);
	cJSON *document CLEANUP_JSON =
		document_with("LD_LIBRARY_PATH=" TESTS "levelzero-other", "", "--list");
	expect_string(document, "/api/status", "failed");
	expect_string(document, "/api/reason", "libze_loader.so.1 has no function zeInit");
}

static void test_devices_are_told_apart(void)
{
	cJSON *document CLEANUP_JSON = with_double("devices=3");
	expect_count(document, "/devices", 3);
	expect_string(document, "/devices/2/name", "Double 2 \xef\xbf\xbd");
	expect_string(document, "/devices/2/type", "discrete-gpu");
	expect_string(document, "/devices/2/vendorId", "0x8086");
	expect_string(document, "/devices/2/deviceId", "0x56a0");
	expect_string(document, "/devices/2/deviceUuid", "03030303030303030303030303030303");
	expect_string(document, "/devices/2/driverUuid", "d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0");
	expect_string(document, "/devices/2/deviceLuid", "1212121212121212");
	expect_string(document, "/devices/2/pciAddress", "0001:42:00.0");
	expect_string(document, "/devices/2/apiVersion", "1.3");
	expect_string(document, "/devices/2/driver/version", "0x01066666");
	expect_number(document, "/devices/2/computeUnits", 512);
	expect_number(document, "/devices/2/memoryBytes", 64 << 20);
	cJSON *unsized CLEANUP_JSON = with_double("fail=zeDeviceGetMemoryProperties:2013265921");
	expect_null(unsized, "/devices/0/memoryBytes");
	expect_bool(document, "/devices/2/software", false);
}

static void test_two_drivers(void)
{
	const struct probe probe = {
		"probe-levelzero",
		"--device",
		"3",
		{DRIVERS FIRST "," SECOND, "GPUCERT_DOUBLE=devices=2", NO_LEAK_CHECK}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_count(document, "/devices", 4);
	expect_string(document, "/devices/1/pciAddress", "0001:41:00.0");
	expect_string(document, "/devices/3/pciAddress", "0001:49:00.0");
	expect_number(document, "/devices/3/index", 3);
	expect_number(document, "/work/device", 3);
	expect_string(document, "/work/status", "ok");
}

static void test_other_devices(void)
{
	cJSON *old CLEANUP_JSON = with_double("old");
	cJSON *software CLEANUP_JSON = with_double("software");
	cJSON *none CLEANUP_JSON = with_double("devices=0");
	cJSON *boasting CLEANUP_JSON = with_double("boast,devices=2");
	expect_null(old, "/devices/0/deviceUuid");
	expect_null(old, "/devices/0/deviceLuid");
	expect_null(old, "/devices/0/pciAddress");
	expect_string(old, "/work/status", "ok");
	expect_bool(software, "/devices/0/software", true);
	expect_string(software, "/devices/0/type", "cpu");
	expect_string(none, "/api/status", "ok");
	expect_string(none, "/work/reason", "no device is visible");
	expect_count(boasting, "/devices", 2);
}

static const struct failing_call failing_calls[] = {
	{"zeInit", 0x78000002, "ZE_RESULT_ERROR_UNSUPPORTED_VERSION", NULL, false},
	{"zeInit", 0x70020000, "ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE", NULL, false},
	{"zeDeviceGet", 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", NULL, false},
	{"zeDeviceGetProperties", 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", NULL, false},
	{"zeDeviceGetCommandQueueGroupProperties", 0x7ffffffe, "ZE_RESULT_ERROR_UNKNOWN", "device",
	 false},
	{"zeContextCreate", 0x70000002, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY", "device", false},
	{"zeCommandQueueCreate", 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", "device", false},
	{"zeCommandListCreate", 0x70000006, "ZE_RESULT_ERROR_DEVICE_REQUIRES_RESET", "device",
	 false},
	{"zeFenceCreate", 0x70000003, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "device", false},
	{"zeModuleCreate", 0x70000004, "ZE_RESULT_ERROR_MODULE_BUILD_FAILURE", "build", false},
	{"zeKernelCreate", 0x78000011, "ZE_RESULT_ERROR_INVALID_KERNEL_NAME", "build", false},
	{"zeKernelSetGroupSize", 0x78000013, "ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION",
	 "build", false},
	{"zeMemAllocDevice", 0x70000003, "ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", "memory", false},
	{"zeMemAllocHost", 0x70000002, "ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY", "memory", false},
	{"zeCommandListAppendMemoryFill", 0x78000009, "ZE_RESULT_ERROR_UNSUPPORTED_SIZE", "upload",
	 false},
	{"zeCommandListAppendBarrier", 0x7ffffffe, "ZE_RESULT_ERROR_UNKNOWN", "upload", false},
	{"zeCommandListAppendMemoryCopy", 0x78000004, "ZE_RESULT_ERROR_INVALID_ARGUMENT", "upload",
	 false},
	{"zeCommandListClose", 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", "upload", false},
	{"zeCommandQueueExecuteCommandLists", 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", "upload",
	 false},
	{"zeFenceHostSynchronize", 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", "upload", false},
	{"zeFenceReset", 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", "upload", false},
	{"zeCommandListReset", 0x1234, NULL, "upload", false},
	{"zeKernelSetArgumentValue", 0x78000015, "ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX",
	 "dispatch", false},
	{"zeCommandListAppendLaunchKernel", 0x70000001, "ZE_RESULT_ERROR_DEVICE_LOST", "dispatch",
	 false},
};

static void test_a_failing_call_is_told(void)
{
	expect_failing_calls(&doubled, failing_calls, ARRAY_SIZE(failing_calls));
}

/* Facts that a driver does not tell are null, and the work goes on. */
static void test_unknown_facts_are_null(void)
{
	static const struct {
		const char *setting, *pointer;
	} cases[] = {
		{"fail=zeDriverGetApiVersion:2147483646", "/devices/0/apiVersion"},
		{"fail=zeDriverGetProperties:2147483646", "/devices/0/driver/version"},
		{"fail=zeDevicePciGetPropertiesExt:2013265923", "/devices/0/pciAddress"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = with_double(cases[i].setting);
		expect_null(document, cases[i].pointer);
		expect_string(document, "/work/status", "ok");
	}
}

static void test_the_build_log_is_kept(void)
{
	cJSON *document CLEANUP_JSON = with_double("fail=zeModuleCreate:1879048196");
	cJSON *endless CLEANUP_JSON = with_double("boast,fail=zeModuleCreate:1879048196");
	expect_string(document, "/work/buildLog", "double: error: the module does not please");
	expect_null(endless, "/work/buildLog");
}

static void test_other_failures_are_told(void)
{
	static const struct {
		const char *setting, *status, *stage, *reason;
	} cases[] = {
		{"no-address", "failed", "memory",
		 "zeMemAllocDevice reported success and no address"},
		{"graphics-only", "unsupported", "device", "no queue of the device runs kernels"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = with_double(cases[i].setting);
		expect_string(document, "/work/status", cases[i].status);
		expect_string(document, "/work/stage", cases[i].stage);
		expect_string(document, "/work/reason", cases[i].reason);
	}
}

/* "null" says success to everything, as the null driver of the loader's source does, and does nothing. */
static void test_wrong_results_are_told(void)
{
	static const struct wrong_result cases[] = {
		{"wrong=4321", "values", 4321, false}, {"overrun", "values", 5000, true},
		{"idle", "values", 0, false},	       {"twice", "values", 0, false},
		{"unfilled", "fill", 0, false},	       {"null", "fill", 0, false},
	};
	expect_wrong_results(&doubled, cases, ARRAY_SIZE(cases));
}

static void test_a_hang_times_out(void)
{
	expect_timeout(&doubled, "upload");
}

static void test_a_crash_prints_nothing(void)
{
	expect_crash(&doubled, "zeInit");
	expect_crash(&doubled, "zeCommandQueueExecuteCommandLists");
}

/* What drivers print does not reach the document. */
static void test_noise_goes_elsewhere(void)
{
	cJSON *document CLEANUP_JSON = with_double("noise");
	expect_string(document, "/work/status", "ok");
}

/* By the specification of SPIR-V: the magic number, and the version that every driver takes. */
static void test_the_module_is_spirv(void)
{
	uint32_t words[2] = {0};
	memcpy(words, work_spirv, sizeof(words));
	CU_ASSERT_EQUAL(words[0], 0x07230203);
	CU_ASSERT_EQUAL(words[1], 0x00010000);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the work is verified", test_the_work_is_verified},
		{"odd sizes are computed", test_odd_sizes_are_computed},
		{"a newer loader", test_a_newer_loader},
		{"no driver is unsupported", test_no_driver_is_unsupported},
		{"a driver that cannot be loaded failed",
		 test_a_driver_that_cannot_be_loaded_failed},
		{"a loader without functions failed", test_a_loader_without_functions_failed},
		{"devices are told apart", test_devices_are_told_apart},
		{"two drivers", test_two_drivers},
		{"other devices", test_other_devices},
		{"a failing call is told", test_a_failing_call_is_told},
		{"unknown facts are null", test_unknown_facts_are_null},
		{"the build log is kept", test_the_build_log_is_kept},
		{"other failures are told", test_other_failures_are_told},
		{"wrong results are reported", test_wrong_results_are_told},
		{"a hang times out", test_a_hang_times_out},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"noise goes elsewhere", test_noise_goes_elsewhere},
		{"the module is SPIR-V", test_the_module_is_spirv},
		CU_TEST_INFO_NULL,
	};
	return probe_tests("Level Zero", "levelzero-documents.ndjson", tests);
}
