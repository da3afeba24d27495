/* SPDX-License-Identifier: MIT */

/* probe-cuda and probe-nvml as programs, with doubles of the driver's libraries that do one thing
 * wrong each, and their parts that need no library. */

#include "base/tests/unit.h"
#include "workloads/common/kernel.h"
#include "workloads/common/reference.h"
#include "workloads/cuda/cuda.h"
#include "workloads/nvml/nvml.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/with_double.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <unistd.h>

#define TESTS  GPUCERT_BINARY_DIR "/tests/"
#define DOUBLE "LD_LIBRARY_PATH=" TESTS "cuda"

static const struct probe cuda_double = {.program = "probe-cuda", .env = {DOUBLE}};
static const struct probe nvml_double = {.program = "probe-nvml", .env = {DOUBLE}};

static cJSON *with_double(const char *program, const char *settings)
{
	const struct probe probe = {.program = program, .env = {DOUBLE}};
	return probe_with(&probe, settings, "--size=5000");
}

static void test_the_work_is_verified(void)
{
	static const char *const arrays[] = {"values", "y", "hits", NULL};
	cJSON *document CLEANUP_JSON = probe_with(&cuda_double, "", "--seed=4294967295");
	expect_digests(document, arrays);
}

/* Sizes around the size of a work group, and one beyond the invocations of one launch. */
static void test_odd_sizes_are_computed(void)
{
	static const char *const sizes[] = {"--size=1", "--size=63", "--size=65", "--size=4194305"};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cJSON *document CLEANUP_JSON = probe_with(&cuda_double, "", sizes[i]);
		expect_string(document, "/work/status", "ok");
	}
}

static void test_devices_are_told_apart(void)
{
	cJSON *cuda CLEANUP_JSON = with_double("probe-cuda", "devices=3,luid");
	cJSON *nvml CLEANUP_JSON = with_double("probe-nvml", "devices=3");
	static const char *const members[] = {"deviceUuid", "pciAddress", "name", "memoryBytes"};
	expect_count(cuda, "/devices", 3);
	expect_count(nvml, "/devices", 3);
	for (size_t i = 0; i < ARRAY_SIZE(members) * 3; i++) {
		char *pointer CLEANUP_FREE = text_format("/devices/%zu/%s", i % 3, members[i / 3]);
		CU_ASSERT_TRUE(cJSON_Compare(json_pointer(cuda, pointer),
					     json_pointer(nvml, pointer), true));
	}
	expect_string(cuda, "/devices/2/deviceUuid", "03030303030303030303030303030303");
	expect_string(cuda, "/devices/2/deviceLuid", "1212121212121212");
	expect_string(cuda, "/devices/2/computeCapability", "7.5");
	expect_count(cuda, "/devices/0/peers", 0);
	expect_count(cuda, "/devices/2/peers", 1);
	expect_number(cuda, "/devices/2/peers/0", 1);
	expect_string(nvml, "/devices/2/vendorId", "0x10de");
	expect_string(nvml, "/devices/2/deviceId", "0x1eb8");
	expect_string(nvml, "/devices/2/driver/version", "555.1.2");
	expect_string(nvml, "/devices/2/apiVersion", "12.4");
	expect_null(nvml, "/work");
}

static void test_a_device_is_selected(void)
{
	expect_selection(&cuda_double);
}

static void test_no_device_is_told(void)
{
	cJSON *none CLEANUP_JSON = with_double("probe-cuda", "devices=0");
	cJSON *refused CLEANUP_JSON = with_double("probe-cuda", "fail=cuInit:100");
	cJSON *nvml CLEANUP_JSON = with_double("probe-nvml", "devices=0");
	expect_string(none, "/work/reason", "no device is visible");
	expect_string(refused, "/api/status", "ok");
	expect_count(refused, "/devices", 0);
	expect_begins(refused, "/api/messages/0", "cuInit: CUDA_ERROR_NO_DEVICE (100): ");
	expect_string(refused, "/work/status", "unsupported");
	expect_string(nvml, "/api/status", "ok");
	expect_count(nvml, "/devices", 0);
}

static const struct failing_call failing_calls[] = {
	{"cuCtxCreate", 46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "device", true},
	{"cuCtxCreate", 802, "CUDA_ERROR_SYSTEM_NOT_READY", "device", true},
	{"cuCtxCreate", 999, "CUDA_ERROR_UNKNOWN", "device", true},
	{"cuStreamCreate", 2, "CUDA_ERROR_OUT_OF_MEMORY", "device", true},
	{"cuEventCreate", 4, "CUDA_ERROR_DEINITIALIZED", "device", false},
	{"cuModuleLoadDataEx", 209, "CUDA_ERROR_NO_BINARY_FOR_GPU", "build", true},
	{"cuModuleLoadDataEx", 218, "CUDA_ERROR_INVALID_PTX", "build", true},
	{"cuModuleLoadDataEx", 221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "build", true},
	{"cuModuleLoadDataEx", 222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION", "build", true},
	{"cuModuleGetFunction", 500, "CUDA_ERROR_NOT_FOUND", "build", false},
	{"cuMemAllocHost", 2, "CUDA_ERROR_OUT_OF_MEMORY", "memory", true},
	{"cuMemAlloc", 2, "CUDA_ERROR_OUT_OF_MEMORY", "memory", true},
	{"cuEventRecord", 400, "CUDA_ERROR_INVALID_HANDLE", "upload", false},
	{"cuMemcpyHtoDAsync", 1, "CUDA_ERROR_INVALID_VALUE", "upload", false},
	{"cuStreamQuery", 719, "CUDA_ERROR_LAUNCH_FAILED", "upload", true},
	{"cuEventElapsedTime", 400, "CUDA_ERROR_INVALID_HANDLE", "upload", false},
	{"cuLaunchKernel", 701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "dispatch", false},
	{"cuMemcpyDtoHAsync", 12345, NULL, "download", false},
};

static void test_a_failing_call_is_told(void)
{
	expect_failing_calls(&cuda_double, failing_calls, ARRAY_SIZE(failing_calls));
}

static void test_a_kernel_that_fails_while_it_runs_is_told(void)
{
	cJSON *document CLEANUP_JSON = with_double("probe-cuda", "fail=execution:700");
	expect_string(document, "/work/stage", "dispatch");
	expect_begins(document, "/work/reason",
		      "cuStreamQuery: CUDA_ERROR_ILLEGAL_ADDRESS (700): ");
}

static void test_a_build_log_is_kept(void)
{
	cJSON *document CLEANUP_JSON = with_double("probe-cuda", "fail=cuModuleLoadDataEx:218");
	expect_string(document, "/work/buildLog",
		      "double: ptxas fatal: these kernels do not please");
}

/* A driver that is there and does not work; what it left in the counts is not believed. */
static void test_a_failing_enumeration_is_told(void)
{
	static const struct {
		const char *program, *settings, *reason;
	} cases[] = {
		{"probe-cuda", "fail=cuInit:34", "cuInit: CUDA_ERROR_STUB_LIBRARY (34): "},
		{"probe-cuda", "fail=cuInit:803",
		 "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): "},
		{"probe-cuda", "fail=cuInit:804",
		 "cuInit: CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE (804): "},
		{"probe-cuda", "fail=cuDeviceGetCount:3",
		 "cuDeviceGetCount: CUDA_ERROR_NOT_INITIALIZED (3): "},
		{"probe-cuda", "fail=cuDeviceGet:101",
		 "cuDeviceGet: CUDA_ERROR_INVALID_DEVICE (101)"},
		{"probe-nvml", "fail=nvmlInit:12", "nvmlInit: NVML_ERROR_LIBRARY_NOT_FOUND (12): "},
		{"probe-nvml", "fail=nvmlInit:17", "nvmlInit: NVML_ERROR_OPERATING_SYSTEM (17): "},
		{"probe-nvml", "fail=nvmlInit:18",
		 "nvmlInit: NVML_ERROR_LIB_RM_VERSION_MISMATCH (18): "},
		{"probe-nvml", "fail=nvmlDeviceGetCount:1",
		 "nvmlDeviceGetCount: NVML_ERROR_UNINITIALIZED (1): "},
		{"probe-nvml", "fail=nvmlDeviceGetHandleByIndex:15",
		 "nvmlDeviceGetHandleByIndex: NVML_ERROR_GPU_IS_LOST (15): "},
		{"probe-nvml", "fail=nvmlInit:4711", "nvmlInit: unknown result (4711)"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		cJSON *document CLEANUP_JSON = with_double(cases[i].program, cases[i].settings);
		expect_string(document, "/api/status", "failed");
		expect_begins(document, "/api/reason", cases[i].reason);
		expect_count(document, "/devices", 0);
		expect_null(document, "/work");
	}
}

/* What a device does not tell is null, and takes nothing else with it. */
static void test_what_is_not_told_is_null(void)
{
	cJSON *uuid CLEANUP_JSON = with_double("probe-cuda", "fail=cuDeviceGetUuid:801");
	cJSON *memory CLEANUP_JSON = with_double("probe-nvml", "fail=nvmlDeviceGetMemoryInfo:3");
	cJSON *address CLEANUP_JSON = with_double("probe-nvml", "fail=nvmlDeviceGetPciInfo:3");
	cJSON *strange CLEANUP_JSON = with_double("probe-nvml", "strange-uuid");
	cJSON *time CLEANUP_JSON = with_double("probe-cuda", "timeless");
	cJSON *untold CLEANUP_JSON = with_double("probe-cuda", "fail=cuDeviceGetAttribute:801");
	cJSON *unsized CLEANUP_JSON = with_double("probe-cuda", "fail=cuDeviceTotalMem:999");
	expect_null(untold, "/devices/0/pciAddress");
	expect_null(untold, "/devices/0/type");
	expect_null(untold, "/devices/0/computeCapability");
	expect_string(untold, "/work/status", "ok");
	expect_null(unsized, "/devices/0/memoryBytes");
	expect_null(uuid, "/devices/0/deviceUuid");
	expect_string(uuid, "/work/status", "ok");
	expect_null(memory, "/devices/0/memoryBytes");
	expect_string(memory, "/devices/0/pciAddress", "0000:40:00.0");
	expect_null(address, "/devices/0/pciAddress");
	expect_null(strange, "/devices/0/deviceUuid");
	expect_null(time, "/work/measured/uploadBytesPerSecond");
	expect_string(time, "/work/status", "ok");
}

static void test_nvml_without_a_driver_or_a_permission(void)
{
	cJSON *driver CLEANUP_JSON = with_double("probe-nvml", "fail=nvmlInit:9");
	cJSON *forbidden CLEANUP_JSON = with_double("probe-nvml", "devices=2,forbidden=0");
	expect_string(driver, "/api/status", "unsupported");
	expect_string(driver, "/api/missing", "NVIDIA driver");
	expect_begins(driver, "/api/reason", "nvmlInit: NVML_ERROR_DRIVER_NOT_LOADED (9): ");
	expect_count(forbidden, "/devices", 1);
	expect_number(forbidden, "/devices/0/index", 1);
	CU_ASSERT_PTR_NOT_NULL(
		strstr(string_at(forbidden, "/api/messages/0"), "NVML_ERROR_NO_PERMISSION (4)"));
}

static void test_wrong_results_are_told(void)
{
	static const struct wrong_result cases[] = {
		{"wrong=4321", "values", 4321, false}, {"overrun", "values", 5000, true},
		{"biased", "hits", 0, false},	       {"idle", "values", 0, false},
		{"twice", "values", 0, false},
	};
	cJSON *one CLEANUP_JSON = with_double("probe-cuda", "wrong=4321");
	cJSON *two CLEANUP_JSON = with_double("probe-cuda", "overrun");
	cJSON *all CLEANUP_JSON = with_double("probe-cuda", "biased");
	expect_wrong_results(&cuda_double, cases, ARRAY_SIZE(cases));
	expect_number(one, "/work/mismatches", 1);
	expect_number(two, "/work/mismatches", 2);
	expect_number(all, "/work/mismatches", MONTE_CARLO_STREAMS);
}

static void test_a_hang_times_out(void)
{
	expect_timeout(&cuda_double, "dispatch");
}

static void test_a_crash_prints_nothing(void)
{
	expect_crash(&cuda_double, "cuInit");
	expect_crash(&cuda_double, "cuLaunchKernel");
	expect_crash(&cuda_double, "cuCtxDestroy");
	expect_crash(&nvml_double, "nvmlDeviceGetUUID");
	expect_crash(&nvml_double, "nvmlShutdown");
}

/* More than the device has: the driver says so. */
static void test_more_than_fits_is_told(void)
{
	const struct probe probe = {
		.program = "probe-cuda", .option = "--size=16777216", .env = {DOUBLE}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_begins(document, "/work/reason", "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY (2): ");
	expect_string(document, "/work/stage", "memory");
}

#define STRANGE TESTS "cuda-strange"

/* What may be under the library's name: nothing, no library, one for another machine, another one. */
static void test_a_library_that_cannot_be_used_failed(void)
{
	static const char path[] = STRANGE "/libcuda.so.1";
	const struct probe probe = {.program = "probe-cuda", .env = {"LD_LIBRARY_PATH=" STRANGE}};
	char *bytes CLEANUP_FREE = NULL;
	size_t size = 0;
	UNIT_INT(file_make_directories(STRANGE, 0755, NULL), 0);
	UNIT_INT(file_read(TESTS "cuda/libnvidia-ml.so.1", 64 << 20, &bytes, &size, NULL), 0);
	UNIT_INT(file_write_atomic(path, bytes, size, 0755, NULL), 0);
	cJSON *other CLEANUP_JSON = probe_document(&probe);
	expect_string(other, "/api/status", "failed");
	expect_string(other, "/api/reason", "libcuda.so.1 has no function cuInit");
	bytes[18] =
		(char)0xf3; /* of a RISC-V machine: the dynamic linker looks on, and finds none */
	UNIT_INT(file_write_atomic(path, bytes, size, 0755, NULL), 0);
	expect_unsupported(&probe, "libcuda.so.1");
	UNIT_INT(file_write_atomic(path, "no library", 10, 0755, NULL), 0);
	cJSON *text CLEANUP_JSON = probe_document(&probe);
	expect_string(text, "/api/status", "failed");
	CU_ASSERT_PTR_NOT_NULL(strstr(string_at(text, "/api/reason"), "libcuda.so.1"));
}

static void test_no_library_is_unsupported(void)
{
	if (access("/proc/driver/nvidia", F_OK) == 0)
		return; /* this machine has the libraries */
	expect_unsupported(&(struct probe){.program = "probe-cuda"}, "libcuda.so.1");
	expect_unsupported(&(struct probe){.program = "probe-nvml"}, "libnvidia-ml.so.1");
}

/* The reference itself, which shares its source with the kernel: within the error of the method for
 * every seed, and near it for about as many as chance has it. */
static void test_the_estimate_judges_by_its_error(void)
{
	static uint32_t hits[MONTE_CARLO_STREAMS];
	size_t within_one = 0;
	for (uint32_t seed = 1; seed <= 40; seed++) {
		for (uint32_t i = 0; i < MONTE_CARLO_STREAMS; i++)
			hits[i] = kernel_hits(work_key(seed), i);
		const struct monte_carlo_estimate told = monte_carlo_estimate(hits);
		CU_ASSERT_TRUE(told.standard_errors < 4.5);
		within_one += told.standard_errors < 1 ? 1 : 0;
	}
	CU_ASSERT_TRUE(within_one >= 16 && within_one <= 38); /* 27 of 40 are expected */
	for (uint32_t i = 0; i < MONTE_CARLO_STREAMS; i++)
		hits[i] = MONTE_CARLO_SAMPLES * 3 / 4; /* pi is 3 */
	const struct monte_carlo_estimate three = monte_carlo_estimate(hits);
	CU_ASSERT_EQUAL(three.pi, 3.0);
	CU_ASSERT_TRUE(three.standard_errors > MONTE_CARLO_ERRORS_MAX);
}

static void test_uuids_are_read(void)
{
	static const char *const wrong[] = {
		"",
		"GPU-",
		"01234567-89ab-cdef-0123-456789abcdef",
		"GPU-01234567-89ab-cdef-0123-456789abcde",
		"GPU-01234567-89ab-cdef-0123-456789abcdef0",
		"GPU-01234567-89ab-cdef-0123-456789abcdeg",
		"MIG-GPU-01234567-89ab-cdef-0123-456789abcdef/1/0",
	};
	static const uint8_t bytes[16] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef,
					  0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
	uint8_t uuid[16] = {0};
	CU_ASSERT_TRUE(nvml_parse_uuid("GPU-01234567-89ab-CDEF-0123-456789abcdef", uuid));
	CU_ASSERT_EQUAL(memcmp(uuid, bytes, sizeof(bytes)), 0);
	CU_ASSERT_TRUE(nvml_parse_uuid("MIG-01234567-89ab-cdef-0123-456789abcdef", uuid));
	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
		CU_ASSERT_FALSE(nvml_parse_uuid(wrong[i], uuid));
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the work is verified", test_the_work_is_verified},
		{"odd sizes are computed", test_odd_sizes_are_computed},
		{"devices are told apart", test_devices_are_told_apart},
		{"a device is selected", test_a_device_is_selected},
		{"no device is told", test_no_device_is_told},
		{"a failing call is told", test_a_failing_call_is_told},
		{"a kernel that fails while it runs is told",
		 test_a_kernel_that_fails_while_it_runs_is_told},
		{"a build log is kept", test_a_build_log_is_kept},
		{"a failing enumeration is told", test_a_failing_enumeration_is_told},
		{"what is not told is null", test_what_is_not_told_is_null},
		{"NVML without a driver or a permission",
		 test_nvml_without_a_driver_or_a_permission},
		{"wrong results are reported", test_wrong_results_are_told},
		{"a hang times out", test_a_hang_times_out},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"more than fits is told", test_more_than_fits_is_told},
		{"a library that cannot be used failed", test_a_library_that_cannot_be_used_failed},
		{"no library is unsupported", test_no_library_is_unsupported},
		{"the estimate judges by its error", test_the_estimate_judges_by_its_error},
		{"UUIDs are read", test_uuids_are_read},
		CU_TEST_INFO_NULL,
	};
	return probe_tests("CUDA and NVML", "cuda-documents.ndjson", tests);
}
