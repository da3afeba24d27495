/* SPDX-License-Identifier: MIT */

/* probe-hip as a program: without a runtime, and with a double of it that does one thing wrong
 * each. AMD's own runtime: real_hip.sh. */

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/with_double.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/text.h"

#include <unistd.h>

#define TESTS  GPUCERT_BINARY_DIR "/tests/"
#define DOUBLE "LD_LIBRARY_PATH=" TESTS "hip"
#define PLAIN  "LD_LIBRARY_PATH=" TESTS "hip-plain" /* of ROCm 5, without a compiler */

static const struct probe doubled = {.program = "probe-hip", .env = {DOUBLE}};

static cJSON *document_with(const char *library, const char *settings, const char *option)
{
	const struct probe probe = {.program = "probe-hip", .env = {library}};
	return probe_with(&probe, settings, option);
}

static cJSON *with_double(const char *settings)
{
	return probe_with(&doubled, settings, "--size=5000");
}

static void test_the_work_is_verified(void)
{
	static const char *const arrays[] = {"fill", "values", "y", NULL};
	cJSON *document CLEANUP_JSON = document_with(DOUBLE, "", "--seed=4294967295");
	expect_contains(document, "/api/loader/path", "libamdhip64.so.6");
	expect_string(document, "/api/loader/version", "6.3.42134");
	expect_digests(document, arrays);
}

static void test_odd_sizes_are_computed(void)
{
	static const char *const sizes[] = {"--size=1", "--size=63", "--size=65", "--size=4194240"};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cJSON *document CLEANUP_JSON = document_with(DOUBLE, "", sizes[i]);
		expect_string(document, "/work/status", "ok");
	}
	cJSON *largest CLEANUP_JSON = document_with(DOUBLE, "", "--size=67108864");
	expect_string(largest, "/work/stage", "memory");
	expect_string(largest, "/work/reason", "hipMalloc: hipErrorOutOfMemory (2)");
}

static void test_no_runtime_is_unsupported(void)
{
	expect_unsupported(&(struct probe){.program = "probe-hip"}, "libamdhip64.so");
}

static void test_a_runtime_that_cannot_be_loaded_failed(void)
{
	static const char folder[] = TESTS "hip-broken";
	static const char text[] = "not a library";
	CU_ASSERT_EQUAL_FATAL(file_make_directories(folder, 0755, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(TESTS "hip-broken/libamdhip64.so.7", text,
						strlen(text), 0755, NULL),
			      0);
	cJSON *document CLEANUP_JSON =
		document_with("LD_LIBRARY_PATH=" TESTS "hip-broken", "", "--list");
	expect_string(document, "/api/status", "failed");
	expect_contains(document, "/api/reason", "libamdhip64.so.7");
}

/* Nothing is made up where the runtime does not tell. */
static void test_what_is_not_told_is_null(void)
{
	cJSON *unsized CLEANUP_JSON = with_double("fail=hipDeviceTotalMem:1");
	cJSON *plain CLEANUP_JSON = with_double("fail=hipGetDeviceProperties:1");
	expect_null(unsized, "/devices/0/memoryBytes");
	expect_null(plain, "/devices/0/type");
	CU_ASSERT_PTR_NULL(json_pointer(plain, "/devices/0/computeUnits"));
}

/* The code objects stand for these, the last two are left to the runtime's compiler: a target of
 * none, and a device of unknown architecture. The double loads an object for its own target alone. */
static void test_code_is_chosen_by_architecture(void)
{
	static const char *const names[] = {"gfx90a",  "gfx900",  "gfx906",  "gfx908",	"gfx942",
					    "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200",
					    "gfx1201", "gfx9999", NULL};
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *setting CLEANUP_FREE = text_format("arch=%zu", i);
		cJSON *document CLEANUP_JSON = with_double(setting);
		if (names[i] != NULL)
			expect_string(document, "/devices/0/architecture", names[i]);
		else
			expect_null(document, "/devices/0/architecture");
		expect_string(document, "/work/status", "ok");
	}
}

static void test_no_code_for_a_device_is_told(void)
{
	cJSON *named CLEANUP_JSON = document_with(PLAIN, "arch=11", "--size=5000");
	cJSON *nameless CLEANUP_JSON = document_with(PLAIN, "arch=12", "--size=5000");
	cJSON *known CLEANUP_JSON = document_with(PLAIN, "arch=0", "--size=5000");
	expect_string(named, "/work/status", "unsupported");
	expect_string(named, "/work/stage", "build");
	expect_string(named, "/work/reason",
		      "no code object for gfx9999, and the runtime has no compiler (hiprtc)");
	expect_contains(nameless, "/work/reason", "a device of unknown architecture");
	expect_contains(known, "/api/loader/path", "libamdhip64.so.5");
	expect_number(known, "/devices/0/computeUnits", 60);
	expect_string(known, "/work/status", "ok");
}

/* Of the runtime's major version. */
static void test_a_compiler_of_its_own(void)
{
	static const char *const links[][2] = {
		{TESTS "hip-plain/libamdhip64.so.5", TESTS "hip-split/libamdhip64.so.5"},
		{TESTS "hip/libamdhip64.so.6", TESTS "hip-split/libhiprtc.so.5"},
	};
	CU_ASSERT_EQUAL_FATAL(file_make_directories(TESTS "hip-split", 0755, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		(void)remove(links[i][1]);
		CU_ASSERT_EQUAL_FATAL(symlink(links[i][0], links[i][1]), 0);
	}
	cJSON *document CLEANUP_JSON =
		document_with("LD_LIBRARY_PATH=" TESTS "hip-split", "arch=11", "--size=5000");
	expect_contains(document, "/api/loader/path", "hip-plain");
	expect_string(document, "/work/status", "ok");
}

static void test_a_compiler_that_refuses_is_told(void)
{
	cJSON *refused CLEANUP_JSON = with_double("arch=11,fail=hiprtcCompileProgram:6");
	cJSON *created CLEANUP_JSON = with_double("arch=11,fail=hiprtcCreateProgram:11");
	cJSON *endless CLEANUP_JSON = with_double("arch=11,boast");
	cJSON *silent CLEANUP_JSON = with_double("arch=11,boast,fail=hiprtcCompileProgram:6");
	expect_string(refused, "/work/status", "failed");
	expect_string(refused, "/work/reason",
		      "hiprtcCompileProgram: HIPRTC_ERROR_COMPILATION (6)");
	expect_string(refused, "/work/buildLog", "double: error: the kernel does not please");
	expect_string(created, "/work/reason",
		      "hiprtcCreateProgram: HIPRTC_ERROR_INTERNAL_ERROR (11)");
	expect_contains(endless, "/work/reason", "18446744073709551615 bytes of code");
	expect_null(silent, "/work/buildLog");
}

static void test_devices_are_told_apart(void)
{
	cJSON *document CLEANUP_JSON = with_double("devices=3,integrated");
	cJSON *old CLEANUP_JSON = with_double("old");
	cJSON *many CLEANUP_JSON = document_with(DOUBLE, "devices=2147483647", "--list");
	expect_count(document, "/devices", 3);
	expect_string(document, "/devices/2/name", "Double 2 \xef\xbf\xbd");
	expect_string(document, "/devices/2/type", "integrated-gpu");
	expect_string(document, "/devices/2/pciAddress", "0000:42:00.0");
	expect_string(document, "/devices/2/apiVersion", "6.3.42134");
	expect_number(document, "/devices/2/computeUnits", 60);
	expect_number(document, "/devices/2/memoryBytes", 64 << 20);
	expect_bool(document, "/devices/2/software", false);
	expect_null(old, "/devices/0/pciAddress");
	expect_string(old, "/work/status", "ok");
	expect_count(many, "/devices", 256);
}

/* As AMD's own runtime says it: another code at each call, and the count is left alone. */
static void test_no_device_is_told(void)
{
	cJSON *document CLEANUP_JSON = with_double("devices=0");
	expect_string(document, "/api/status", "ok");
	expect_string(document, "/api/messages/0", "hipInit: hipErrorInvalidDevice (101)");
	expect_string(document, "/api/messages/1", "hipGetDeviceCount: hipErrorNoDevice (100)");
	expect_count(document, "/devices", 0);
	expect_string(document, "/work/reason", "no device is visible");
}

static const struct failing_call failing_calls[] = {
	{"hipInit", 3, NULL, NULL, false},
	{"hipGetDeviceCount", 719, "hipErrorLaunchFailure", NULL, false},
	{"hipSetDevice", 101, "hipErrorInvalidDevice", "device", false},
	{"hipStreamCreate", 2, "hipErrorOutOfMemory", "device", false},
	{"hipModuleLoadData", 209, "hipErrorNoBinaryForGpu", "build", false},
	{"hipModuleGetFunction", 500, NULL, "build", false},
	{"hipMalloc", 2, "hipErrorOutOfMemory", "memory", false},
	{"hipHostMalloc", 2, "hipErrorOutOfMemory", "memory", false},
	{"hipMemcpyAsync", 719, "hipErrorLaunchFailure", "upload", false},
	{"hipMemsetD32Async", 719, "hipErrorLaunchFailure", "upload", false},
	{"hipStreamQuery", 719, "hipErrorLaunchFailure", "upload", false},
	{"hipModuleLaunchKernel", 719, "hipErrorLaunchFailure", "dispatch", false},
};

static void test_a_failing_call_is_told(void)
{
	expect_failing_calls(&doubled, failing_calls, ARRAY_SIZE(failing_calls));
}

/* Facts that a runtime does not tell are null. */
static void test_unknown_facts_are_null(void)
{
	cJSON *version CLEANUP_JSON = with_double("fail=hipDriverGetVersion:1");
	cJSON *properties CLEANUP_JSON = with_double("fail=hipGetDeviceProperties:1");
	cJSON *address CLEANUP_JSON = with_double("fail=hipDeviceGetPCIBusId:1");
	expect_null(version, "/devices/0/apiVersion");
	expect_null(properties, "/devices/0/type");
	expect_null(properties, "/devices/0/architecture");
	expect_null(address, "/devices/0/pciAddress");
}

static void test_wrong_results_are_told(void)
{
	static const struct wrong_result cases[] = {
		{"wrong=4321", "values", 4321, false},
		{"overrun", "values", 5000, true},
		{"twice", "values", 0, false},
		{"unfilled", "fill", 0, false},
		{"null", "fill", 0, false},
	};
	expect_wrong_results(&doubled, cases, ARRAY_SIZE(cases));
	cJSON *idle CLEANUP_JSON = with_double("idle");
	cJSON *nowhere CLEANUP_JSON = with_double("no-address");
	expect_string(idle, "/work/status", "wrong");
	expect_string(nowhere, "/work/reason", "hipMalloc reported success and no address");
}

static void test_a_hang_times_out(void)
{
	expect_timeout(&doubled, "upload");
}

static void test_a_crash_prints_nothing(void)
{
	expect_crash(&doubled, "hipInit");
	expect_crash(&doubled, "hipModuleLaunchKernel");
}

/* What runtimes print does not reach the document. */
static void test_noise_goes_elsewhere(void)
{
	cJSON *document CLEANUP_JSON = with_double("noise");
	expect_string(document, "/work/status", "ok");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"the work is verified", test_the_work_is_verified},
		{"odd sizes are computed", test_odd_sizes_are_computed},
		{"no runtime is unsupported", test_no_runtime_is_unsupported},
		{"a runtime that cannot be loaded failed",
		 test_a_runtime_that_cannot_be_loaded_failed},
		{"what is not told is null", test_what_is_not_told_is_null},
		{"code is chosen by architecture", test_code_is_chosen_by_architecture},
		{"no code for a device is told", test_no_code_for_a_device_is_told},
		{"a compiler of its own", test_a_compiler_of_its_own},
		{"a compiler that refuses is told", test_a_compiler_that_refuses_is_told},
		{"devices are told apart", test_devices_are_told_apart},
		{"no device is told", test_no_device_is_told},
		{"a failing call is told", test_a_failing_call_is_told},
		{"unknown facts are null", test_unknown_facts_are_null},
		{"wrong results are told", test_wrong_results_are_told},
		{"a hang times out", test_a_hang_times_out},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"noise goes elsewhere", test_noise_goes_elsewhere},
		CU_TEST_INFO_NULL,
	};
	return probe_tests("HIP", "hip-documents.ndjson", tests);
}
