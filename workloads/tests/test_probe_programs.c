/* SPDX-License-Identifier: MIT */

/* The probes as programs: with the drivers of this machine, without any, and with driver doubles
 * that do one thing wrong each. The loaders are always the real ones. */

#include "base/tests/unit.h"
#include "workloads/common/reference.h"
#include "workloads/tests/expect.h"
#include "workloads/tests/with_double.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

#define PROGRAMS      GPUCERT_BINARY_DIR "/libexec/gpucert/"
#define TESTS	      GPUCERT_BINARY_DIR "/tests/"
#define VULKAN_DOUBLE "VK_DRIVER_FILES=" TESTS "double_vulkan.json"
#define OPENCL_DOUBLE "OCL_ICD_VENDORS=" TESTS "opencl/"
/* CUDA and HIP: both are found by their names. */
#define CUDA_DOUBLE	 "LD_LIBRARY_PATH=" TESTS "cuda:" TESTS "hip"
#define OPENGL_DOUBLE	 "__EGL_VENDOR_LIBRARY_FILENAMES=" TESTS "double_opengl.json"
#define LEVELZERO_DOUBLE "ZE_ENABLE_ALT_DRIVERS=" TESTS "libdouble_levelzero_1.so"
#define NO_LEAK_CHECK	 "LSAN_OPTIONS=detect_leaks=0"
#define UNHURRIED	 "--timeout=110000" /* the processor may be busy with other tests */

static const struct probe vulkan_double = {.program = "probe-vulkan", .env = {VULKAN_DOUBLE}};
static const struct probe opencl_double = {.program = "probe-opencl", .env = {OPENCL_DOUBLE}};

static cJSON *with_double(const char *program, const char *settings)
{
	const struct probe probe = {.program = program, .env = {VULKAN_DOUBLE, OPENCL_DOUBLE}};
	return probe_with(&probe, settings, "--size=5000");
}

static void test_real_drivers_work(void)
{
	static const char *const programs[] = {"probe-vulkan", "probe-opencl", "probe-d3d12"};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cJSON *document CLEANUP_JSON = probe_document(
			&(struct probe){.program = programs[i], .env = {NO_LEAK_CHECK}});
		expect_string(document, "/api/status", "ok");
		expect_null(document, "/api/reason");
		expect_string(document, "/work/status", "ok");
		expect_bool(document, "/work/verified", true);
		expect_number(document, "/work/elements", 1 << 20);
		CU_ASSERT(cJSON_IsString(json_pointer(document, "/devices/0/name")));
		CU_ASSERT(cJSON_IsNumber(json_pointer(document, "/work/timings/dispatchMs")));
	}
}

/* Sizes around the size of a work group, and one beyond the groups of one dispatch (65535 * 64). */
static void test_odd_sizes_are_computed(void)
{
	static const char *const sizes[] = {"--size=1", "--size=63", "--size=65", "--size=4194304"};
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		cJSON *document CLEANUP_JSON =
			probe_document(&(struct probe){.program = "probe-vulkan",
						       .option = sizes[i],
						       .value = UNHURRIED,
						       .env = {NO_LEAK_CHECK}});
		expect_string(document, "/work/status", "ok");
	}
}

/* Direct3D 12 through vkd3d draws, and its adapter is the processor. */
static void test_d3d12_draws(void)
{
	cJSON *document CLEANUP_JSON = probe_document(
		&(struct probe){.program = "probe-d3d12",
				.option = "--size=4194305", /* more than one dispatch holds */
				.value = UNHURRIED,
				.env = {NO_LEAK_CHECK}});
	expect_string(document, "/work/status", "ok");
	expect_string(document, "/work/featureLevel", "11_0");
	expect_number(document, "/work/render/pixels", 64 * 64);
	expect_number(document, "/work/render/mismatches", 0);
	expect_bool(document, "/devices/0/software", true);
}

static void test_list_does_no_work(void)
{
	const struct probe probe = {.program = "probe-vulkan",
				    .option = "--list",
				    .env = {VULKAN_DOUBLE, "GPUCERT_DOUBLE=crash=vkCreateDevice"}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_count(document, "/devices", 1);
	expect_null(document, "/work");
}

static double seed_of(const char *option, const char *value)
{
	const struct probe probe = {.program = "probe-vulkan",
				    .option = option,
				    .value = value,
				    .env = {VULKAN_DOUBLE}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	const cJSON *seed = json_pointer(document, "/work/seed");
	expect_string(document, "/work/status", "ok");
	CU_ASSERT_FATAL(cJSON_IsNumber(seed));
	return seed->valuedouble;
}

static void test_input_differs_between_runs(void)
{
	CU_ASSERT_NOT_EQUAL(seed_of("--size", "100"), seed_of("--size", "100"));
	CU_ASSERT_EQUAL(seed_of("--seed", "4294967295"), 4294967295.0);
}

/* Whoever launches a probe knows its document again, and can tell what the work came to. */
static void test_a_document_belongs_to_its_launch(void)
{
	static const char *const programs[] = {"probe-vulkan", "probe-opencl", "probe-d3d12",
					       "probe-visibility"};
	static const char path[] = GPUCERT_BINARY_DIR "/tests/probe-launch";
	static const char line[] = "n0nce 4294967295\n";
	char digest[DIGEST_SIZE] = "";
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, line, strlen(line), 0600, NULL), 0);
	CU_ASSERT_EQUAL(work_expected_digest("values", UINT32_MAX, 1 << 20, digest, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cJSON *document CLEANUP_JSON =
			probe_document(&(struct probe){.program = programs[i],
						       .option = "--launch",
						       .value = path,
						       .env = {NO_LEAK_CHECK}});
		expect_string(document, "/nonce", "n0nce");
		if (strcmp(programs[i], "probe-visibility") == 0)
			continue;
		expect_number(document, "/work/seed", UINT32_MAX);
		expect_string(document, "/work/digests/values", digest);
	}
}

static void test_a_nonce_is_repeated(void)
{
	cJSON *with CLEANUP_JSON = probe_document(&(struct probe){.program = "probe-vulkan",
								  .option = "--nonce",
								  .value = "0123456789abcdef",
								  .env = {VULKAN_DOUBLE}});
	cJSON *without CLEANUP_JSON =
		probe_document(&(struct probe){.program = "probe-vulkan", .env = {VULKAN_DOUBLE}});
	struct process_result spaced = probe_run(&(struct probe){.program = "probe-vulkan",
								 .option = "--nonce",
								 .value = "a b",
								 .env = {VULKAN_DOUBLE}});
	expect_string(with, "/nonce", "0123456789abcdef");
	expect_null(without, "/nonce");
	CU_ASSERT_EQUAL(spaced.code, 1);
	CU_ASSERT_EQUAL(spaced.out.size, 0);
	process_result_free(&spaced);
}

static void test_no_driver_is_unsupported(void)
{
	expect_unsupported(&(struct probe){.program = "probe-vulkan",
					   .env = {"VK_DRIVER_FILES=/nonexistent.json"}},
			   "Vulkan driver");
	expect_unsupported(&(struct probe){.program = "probe-d3d12",
					   .env = {"VK_DRIVER_FILES=/nonexistent.json"}},
			   "Vulkan driver");
	expect_unsupported(&(struct probe){.program = "probe-opencl",
					   .env = {"OCL_ICD_VENDORS=/nonexistent/"}},
			   "OpenCL driver");
}

static void test_a_driver_that_cannot_be_loaded_failed(void)
{
	const struct probe probe = {.program = "probe-vulkan",
				    .env = {"VK_DRIVER_FILES=" TESTS "absent_vulkan.json"}};
	cJSON *document CLEANUP_JSON = probe_document(&probe);
	expect_string(document, "/api/status", "failed");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(string_at(document, "/api/reason"), "/nonexistent/libdriver.so"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(string_at(document, "/api/messages/0"), "/nonexistent/libdriver.so"));
}

static void test_a_bare_environment_is_enough(void)
{
	const char *const argv[] = {"env", "-i", NO_LEAK_CHECK, PROGRAMS "probe-vulkan", NULL};
	const struct process_spec spec = {.argv = argv};
	struct process_result result = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(process_run(&spec, &result, &err), 0);
	CU_ASSERT_EQUAL(result.code, 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text_string(&result.out), "\"verified\":true"));
	process_result_free(&result);
}

static void test_devices_are_told_apart(void)
{
	cJSON *vulkan CLEANUP_JSON = with_double("probe-vulkan", "devices=3");
	cJSON *opencl CLEANUP_JSON = with_double("probe-opencl", "devices=3");
	expect_count(vulkan, "/devices", 3);
	expect_string(vulkan, "/devices/2/deviceUuid", "03030303030303030303030303030303");
	expect_string(vulkan, "/devices/2/driverUuid", "d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0");
	expect_string(vulkan, "/devices/2/deviceLuid", "1212121212121212");
	expect_string(vulkan, "/devices/2/pciAddress", "10000:42:00.0");
	expect_string(vulkan, "/devices/2/drm/render", "226:130");
	expect_null(vulkan, "/devices/2/drm/primary");
	expect_string(vulkan, "/devices/2/vendorId", "0x10de");
	expect_string(vulkan, "/devices/2/deviceId", "0x1eba");
	expect_string(vulkan, "/devices/2/type", "discrete-gpu");
	expect_bool(vulkan, "/devices/2/software", false);
	expect_number(vulkan, "/devices/2/driver/id", 9999);
	expect_null(vulkan, "/devices/2/driver/idName");
	expect_string(vulkan, "/devices/2/name", "Double 2 \xef\xbf\xbd");
	CU_ASSERT_EQUAL(strlen(string_at(vulkan, "/devices/2/driver/name")), 256);
	expect_count(opencl, "/devices", 3);
	expect_count(opencl, "/platforms", 1);
	expect_string(opencl, "/devices/2/deviceUuid", "03030303030303030303030303030303");
	expect_string(opencl, "/devices/2/pciAddress", "0001:42:00.0");
	expect_number(opencl, "/devices/2/computeUnits", 7);
}

/* As Mesa's packages install them: next to the driver of the hardware that of the processor. */
static void test_hardware_is_preferred(void)
{
#define LAVAPIPE "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json"
	static const char *const orders[][2] = {
		{"VK_DRIVER_FILES=" LAVAPIPE ":" TESTS "double_vulkan.json",
		 "VK_ICD_FILENAMES=" LAVAPIPE ":" TESTS "double_vulkan.json"},
		{"VK_DRIVER_FILES=" TESTS "double_vulkan.json:" LAVAPIPE,
		 "VK_ICD_FILENAMES=" TESTS "double_vulkan.json:" LAVAPIPE},
	};
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		const struct probe probe = {.program = "probe-vulkan",
					    .env = {orders[i][0], orders[i][1], NO_LEAK_CHECK}};
		cJSON *document CLEANUP_JSON = probe_with(&probe, "", "--size=5000");
		const double worked = json_pointer_number(document, "/work/device");
		expect_count(document, "/devices", 2);
		UNIT_STRING(string_at(cJSON_GetArrayItem(json_pointer(document, "/devices"),
							 (int)worked),
				      "/type"),
			    "discrete-gpu");
		expect_string(document, "/work/status", "ok");
	}
}

/* AMD's runtime reports an address without a domain, and the number of a partition as the function. */
static void test_an_unknown_domain(void)
{
	cJSON *document CLEANUP_JSON = with_double("probe-opencl", "topology,devices=2");
	expect_string(document, "/devices/0/pciAddress", "83:00.0");
	expect_string(document, "/devices/1/pciAddress", "83:00.0");
}

static void test_an_old_device_is_described(void)
{
	static const char *const programs[] = {"probe-vulkan", "probe-opencl"};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cJSON *document CLEANUP_JSON = with_double(programs[i], "old");
		expect_null(document, "/devices/0/deviceUuid");
		expect_null(document, "/devices/0/pciAddress");
		expect_string(document, "/work/status", "ok");
	}
}

static void test_a_device_is_selected(void)
{
	expect_selection(&vulkan_double);
	expect_selection(&opencl_double);
}

static void test_no_device_is_told(void)
{
	static const char *const programs[] = {"probe-vulkan", "probe-opencl"};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		cJSON *document CLEANUP_JSON = with_double(programs[i], "devices=0");
		expect_string(document, "/api/status", "ok");
		expect_count(document, "/devices", 0);
		expect_string(document, "/work/status", "unsupported");
		expect_string(document, "/work/reason", "no device is visible");
	}
}

static const struct failing_call failing_vulkan[] = {
	{"vkCreateDevice", -3, "VK_ERROR_INITIALIZATION_FAILED", "device", false},
	{"vkCreateDevice", -1, "VK_ERROR_OUT_OF_HOST_MEMORY", "device", false},
	{"vkCreateShaderModule", -1000012000, "VK_ERROR_INVALID_SHADER_NV", "build", false},
	{"vkCreateDescriptorSetLayout", -1, "VK_ERROR_OUT_OF_HOST_MEMORY", "build", false},
	{"vkCreatePipelineLayout", -1, "VK_ERROR_OUT_OF_HOST_MEMORY", "build", false},
	{"vkCreateComputePipelines", -2, "VK_ERROR_OUT_OF_DEVICE_MEMORY", "build", false},
	{"vkCreateDescriptorPool", -1000161000, "VK_ERROR_FRAGMENTATION", "build", false},
	{"vkAllocateDescriptorSets", -1000069000, "VK_ERROR_OUT_OF_POOL_MEMORY", "build", false},
	{"vkCreateCommandPool", -1, "VK_ERROR_OUT_OF_HOST_MEMORY", "build", false},
	{"vkAllocateCommandBuffers", -2, "VK_ERROR_OUT_OF_DEVICE_MEMORY", "build", false},
	{"vkCreateFence", -10, "VK_ERROR_TOO_MANY_OBJECTS", "build", false},
	{"vkCreateBuffer", -2, "VK_ERROR_OUT_OF_DEVICE_MEMORY", "memory", false},
	{"vkAllocateMemory", -2, "VK_ERROR_OUT_OF_DEVICE_MEMORY", "memory", false},
	{"vkBindBufferMemory", -2, "VK_ERROR_OUT_OF_DEVICE_MEMORY", "memory", false},
	{"vkMapMemory", -5, "VK_ERROR_MEMORY_MAP_FAILED", "memory", false},
	{"vkBeginCommandBuffer", -1, "VK_ERROR_OUT_OF_HOST_MEMORY", "memory", false},
	{"vkEndCommandBuffer", -1, "VK_ERROR_OUT_OF_HOST_MEMORY", "memory", false},
	{"vkQueueSubmit", -4, "VK_ERROR_DEVICE_LOST", "upload", false},
	{"vkWaitForFences", -4, "VK_ERROR_DEVICE_LOST", "upload", false},
	{"vkWaitForFences", -12345, NULL, "upload", false},
};

static const struct failing_call failing_opencl[] = {
	{"clCreateContext", -2, "CL_DEVICE_NOT_AVAILABLE", "device", false},
	{"clCreateCommandQueue", -6, "CL_OUT_OF_HOST_MEMORY", "device", false},
	{"clCreateProgramWithSource", -6, "CL_OUT_OF_HOST_MEMORY", "build", false},
	{"clBuildProgram", -11, "CL_BUILD_PROGRAM_FAILURE", "build", false},
	{"clCreateKernel", -46, "CL_INVALID_KERNEL_NAME", "build", false},
	{"clCreateBuffer", -4, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "memory", false},
	{"clEnqueueWriteBuffer", -5, "CL_OUT_OF_RESOURCES", "upload", false},
	{"clFlush", -36, "CL_INVALID_COMMAND_QUEUE", "upload", false},
	{"clGetEventInfo", -58, "CL_INVALID_EVENT", "upload", false},
	{"clSetKernelArg", -49, "CL_INVALID_ARG_INDEX", "dispatch", false},
	{"clEnqueueNDRangeKernel", -54, "CL_INVALID_WORK_GROUP_SIZE", "dispatch", false},
	{"clEnqueueReadBuffer", -9999, NULL, "download", false},
};

static void test_a_failing_call_is_told(void)
{
	expect_failing_calls(&vulkan_double, failing_vulkan, ARRAY_SIZE(failing_vulkan));
	expect_failing_calls(&opencl_double, failing_opencl, ARRAY_SIZE(failing_opencl));
}

static void test_a_build_log_is_kept(void)
{
	cJSON *document CLEANUP_JSON = with_double("probe-opencl", "fail=clBuildProgram:-11");
	expect_string(document, "/work/buildLog", "double: error: the kernel does not please");
}

static void test_a_command_that_fails_while_it_runs_is_told(void)
{
	cJSON *document CLEANUP_JSON = with_double("probe-opencl", "fail=execution:-14");
	expect_string(document, "/work/status", "failed");
	expect_string(document, "/work/error/call", "command execution");
	expect_string(document, "/work/error/name", "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST");
}

static void test_a_failing_enumeration_is_told(void)
{
	cJSON *vulkan CLEANUP_JSON =
		with_double("probe-vulkan", "fail=vkEnumeratePhysicalDevices:-3");
	cJSON *opencl CLEANUP_JSON = with_double("probe-opencl", "fail=clGetDeviceIDs:-6");
	expect_string(vulkan, "/api/status", "failed");
	expect_null(vulkan, "/api/missing");
	expect_count(vulkan, "/devices", 0);
	expect_null(vulkan, "/work");
	expect_string(opencl, "/platforms/0/reason", "clGetDeviceIDs: CL_OUT_OF_HOST_MEMORY (-6)");
	expect_count(opencl, "/devices", 0);
}

static void test_a_driver_that_refuses_an_instance_failed(void)
{
	cJSON *document CLEANUP_JSON = with_double("probe-vulkan", "fail=vkCreateInstance:-3");
	expect_string(document, "/api/status", "failed");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(string_at(document, "/api/reason"), "found a driver that it cannot use"));
}

static void test_an_instance_without_memory_failed(void)
{
	cJSON *document CLEANUP_JSON = with_double("probe-vulkan", "fail=vkCreateInstance:-1");
	expect_string(document, "/api/status", "failed");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(string_at(document, "/api/reason"), "VK_ERROR_OUT_OF_HOST_MEMORY"));
}

static void test_a_device_without_compute_is_unsupported(void)
{
	cJSON *document CLEANUP_JSON = with_double("probe-vulkan", "graphics-only");
	expect_string(document, "/work/status", "unsupported");
	expect_string(document, "/work/stage", "device");
}

static void test_more_than_fits_is_unsupported(void)
{
	static const struct probe probes[] = {
		{"probe-vulkan", "--size", "67108864", {VULKAN_DOUBLE}},
		{"probe-opencl", "--size", "67108864", {OPENCL_DOUBLE}},
	};
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		cJSON *document CLEANUP_JSON = probe_document(&probes[i]);
		expect_string(document, "/work/status", "unsupported");
		expect_string(document, "/work/stage", "memory");
	}
}

static void test_wrong_results_are_told(void)
{
	static const struct wrong_result cases[] = {
		{"wrong=4321", "values", 4321, false},
		{"overrun", "values", 5000, true},
		{"idle", "values", 0, false},
		{"twice", "values", 0, false},
	};
	expect_wrong_results(&vulkan_double, cases, ARRAY_SIZE(cases));
	expect_wrong_results(&opencl_double, cases, ARRAY_SIZE(cases));
}

static void test_a_hang_times_out(void)
{
	expect_timeout(&vulkan_double, "upload");
	expect_timeout(&opencl_double, "upload");
}

static void test_a_crash_prints_nothing(void)
{
	expect_crash(&vulkan_double, "vkCreateInstance");
	expect_crash(&vulkan_double, "vkQueueSubmit");
	expect_crash(&vulkan_double, "vkDestroyDevice");
	expect_crash(&vulkan_double, "vkDestroyInstance");
}

static void test_what_drivers_print_stays_out(void)
{
	static const char *const programs[] = {"probe-vulkan", "probe-opencl"};
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		const struct probe probe = {
			.program = programs[i],
			.env = {VULKAN_DOUBLE, OPENCL_DOUBLE, "GPUCERT_DOUBLE=noise"}};
		struct process_result result = probe_run(&probe);
		CU_ASSERT_TRUE(text_starts_with(text_string(&result.out), "{"));
		CU_ASSERT_PTR_NOT_NULL(strstr(text_string(&result.err), "the driver says hello"));
		process_result_free(&result);
	}
}

static cJSON *visibility(const char *settings, const char *option)
{
	const struct probe probe = {
		.program = "probe-visibility",
		.option = option,
		.env = {VULKAN_DOUBLE, OPENCL_DOUBLE, CUDA_DOUBLE, OPENGL_DOUBLE, LEVELZERO_DOUBLE,
			settings},
	};
	return probe_document(&probe);
}

/* The object of this name in a list of APIs. */
static const cJSON *api_of(const cJSON *document, const char *list, const char *name)
{
	json_each (api, json_pointer(document, list)) {
		if (text_equal(json_pointer_string(api, "/api/name"), name))
			return api;
	}
	CU_FAIL("the API is listed");
	return NULL;
}

static void test_visibility_tells_every_api(void)
{
	cJSON *document CLEANUP_JSON = visibility("GPUCERT_DOUBLE=devices=2", NULL);
	expect_count(api_of(document, "/apis", "vulkan"), "/devices", 2);
	expect_count(api_of(document, "/apis", "opencl"), "/devices", 2);
	expect_count(api_of(document, "/apis", "cuda"), "/devices", 2);
	expect_string(api_of(document, "/apis", "cuda"), "/devices/1/pciAddress", "0000:41:00.0");
	expect_string(api_of(document, "/apis", "cuda"), "/devices/1/deviceUuid",
		      "02020202020202020202020202020202");
	expect_string(api_of(document, "/apis", "cuda"), "/api/loader/version", "12.4");
	expect_count(api_of(document, "/apis", "opengl"), "/devices", 2);
	expect_string(api_of(document, "/apis", "opengl"), "/devices/1/drm/render", "226:129");
	expect_count(api_of(document, "/apis", "levelzero"), "/devices", 2);
	expect_string(api_of(document, "/apis", "levelzero"), "/devices/1/deviceUuid",
		      "02020202020202020202020202020202");
	expect_count(api_of(document, "/apis", "nvml"), "/devices", 2);
	expect_string(api_of(document, "/apis", "hip"), "/devices/1/pciAddress", "0000:41:00.0");
}

static void test_visibility_tells_real_drivers(void)
{
	static const char *const options[] = {NULL, "--list"};
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		cJSON *document CLEANUP_JSON =
			probe_document(&(struct probe){.program = "probe-visibility",
						       .option = options[i],
						       .env = {NO_LEAK_CHECK}});
		expect_string(api_of(document, "/apis", "vulkan"), "/api/status", "ok");
		expect_string(api_of(document, "/apis", "opencl"), "/api/status", "ok");
		expect_string(api_of(document, "/apis", "opengl"), "/api/status", "ok");
		CU_ASSERT(cJSON_IsArray(json_pointer(document, "/nodes")));
	}
}

/* What a variable hides is told all the same. */
static void test_visibility_looks_again(void)
{
	cJSON *hidden CLEANUP_JSON = probe_document(&(struct probe){
		.program = "probe-visibility",
		.env = {"OCL_ICD_VENDORS=/nonexistent", "VK_DRIVER_FILES=/nonexistent",
			"__EGL_VENDOR_LIBRARY_DIRS=/nonexistent", NO_LEAK_CHECK}});
	expect_string(api_of(hidden, "/apis", "vulkan"), "/api/status", "unsupported");
	expect_string(api_of(hidden, "/apis", "opencl"), "/api/status", "unsupported");
	expect_string(api_of(hidden, "/apis", "opengl"), "/api/status", "unsupported");
	expect_string(api_of(hidden, "/unsteered", "vulkan"), "/api/status", "ok");
	expect_string(api_of(hidden, "/unsteered", "opencl"), "/api/status", "ok");
	CU_ASSERT(cJSON_GetArraySize(
			  json_pointer(api_of(hidden, "/unsteered", "opencl"), "/devices")) > 0);
	CU_ASSERT(cJSON_GetArraySize(
			  json_pointer(api_of(hidden, "/unsteered", "opengl"), "/devices")) > 0);
}

static void test_visibility_survives_a_crash(void)
{
	cJSON *document CLEANUP_JSON = visibility("GPUCERT_DOUBLE=crash=vkCreateInstance", NULL);
	expect_string(api_of(document, "/apis", "vulkan"), "/api/status", "failed");
	CU_ASSERT_PTR_NOT_NULL(
		strstr(string_at(api_of(document, "/apis", "vulkan"), "/api/reason"), "signal 11"));
	expect_string(api_of(document, "/apis", "opencl"), "/api/status", "ok");
	expect_string(api_of(document, "/apis", "cuda"), "/api/status", "ok");
	expect_string(api_of(document, "/apis", "opengl"), "/api/status", "ok");
}

static void test_visibility_tells_one_device(void)
{
	cJSON *document CLEANUP_JSON = visibility("GPUCERT_DOUBLE=devices=3", "--device=1");
	for (int i = 0; i < 5; i++) {
		char *pointer CLEANUP_FREE = text_format("/apis/%d/devices/0/index", i);
		expect_number(document, pointer, 1);
	}
	expect_count(api_of(document, "/apis", "vulkan"), "/devices", 1);
}

static void test_cuda_failures_are_told(void)
{
	cJSON *none CLEANUP_JSON = visibility("GPUCERT_DOUBLE=fail=cuInit:100", NULL);
	cJSON *mismatch CLEANUP_JSON = visibility("GPUCERT_DOUBLE=fail=cuInit:803", NULL);
	cJSON *absent CLEANUP_JSON = probe_document(&(struct probe){
		.program = "probe-visibility", .env = {VULKAN_DOUBLE, OPENCL_DOUBLE}});
	expect_string(api_of(none, "/apis", "cuda"), "/api/status", "ok");
	expect_count(api_of(none, "/apis", "cuda"), "/devices", 0);
	expect_string(api_of(mismatch, "/apis", "cuda"), "/api/status", "failed");
	CU_ASSERT_TRUE(text_starts_with(string_at(api_of(mismatch, "/apis", "cuda"), "/api/reason"),
					"cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): "));
	/* A machine with an NVIDIA driver has the library. */
	if (strcmp(string_at(api_of(absent, "/apis", "cuda"), "/api/status"), "unsupported") == 0)
		expect_string(api_of(absent, "/apis", "cuda"), "/api/missing", "libcuda.so.1");
}

static void test_usage_errors_are_exit_code_2(void)
{
	static const struct probe probes[] = {
		{.program = "probe-vulkan", .option = "--device", .value = "-1"},
		{.program = "probe-vulkan", .option = "--size", .value = "0"},
		{.program = "probe-opencl", .option = "--size", .value = "many"},
		{.program = "probe-opencl", .option = "--nonsense"},
		{.program = "probe-visibility", .option = "surplus"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
		struct process_result result = probe_run(&probes[i]);
		CU_ASSERT_EQUAL(result.end, PROCESS_EXITED);
		CU_ASSERT_EQUAL(result.code, 2);
		CU_ASSERT_EQUAL(result.out.size, 0);
		CU_ASSERT_NOT_EQUAL(result.err.size, 0);
		process_result_free(&result);
	}
}

static void test_output_that_fails_is_exit_code_1(void)
{
	static const char *const commands[] = {
		PROGRAMS "probe-vulkan > /dev/full",
		PROGRAMS "probe-vulkan >&-",
		PROGRAMS "probe-visibility > /dev/full",
		PROGRAMS "probe-visibility >&-",
	};
	static const char *const env[] = {VULKAN_DOUBLE, OPENCL_DOUBLE, NULL};
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *const argv[] = {"/bin/sh", "-c", commands[i], NULL};
		const struct process_spec spec = {.argv = argv, .env = env};
		struct process_result result = {0};
		struct error err = {0};
		CU_ASSERT_EQUAL_FATAL(process_run(&spec, &result, &err), 0);
		CU_ASSERT_EQUAL(result.code, 1);
		CU_ASSERT_PTR_NOT_NULL(strstr(text_string(&result.err), "standard output"));
		process_result_free(&result);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"real drivers work", test_real_drivers_work},
		{"odd sizes are computed", test_odd_sizes_are_computed},
		{"Direct3D 12 draws", test_d3d12_draws},
		{"--list does no work", test_list_does_no_work},
		{"input differs between runs", test_input_differs_between_runs},
		{"a document belongs to its launch", test_a_document_belongs_to_its_launch},
		{"a nonce is repeated", test_a_nonce_is_repeated},
		{"no driver is unsupported", test_no_driver_is_unsupported},
		{"a driver that cannot be loaded failed",
		 test_a_driver_that_cannot_be_loaded_failed},
		{"a bare environment is enough", test_a_bare_environment_is_enough},
		{"devices are told apart", test_devices_are_told_apart},
		{"hardware is preferred", test_hardware_is_preferred},
		{"an unknown domain", test_an_unknown_domain},
		{"an old device is described", test_an_old_device_is_described},
		{"a device is selected", test_a_device_is_selected},
		{"no device is told", test_no_device_is_told},
		{"a failing call is told", test_a_failing_call_is_told},
		{"a build log is kept", test_a_build_log_is_kept},
		{"a command that fails while it runs is told",
		 test_a_command_that_fails_while_it_runs_is_told},
		{"a failing enumeration is told", test_a_failing_enumeration_is_told},
		{"a driver that refuses an instance failed",
		 test_a_driver_that_refuses_an_instance_failed},
		{"an instance without memory failed", test_an_instance_without_memory_failed},
		{"a device without compute is unsupported",
		 test_a_device_without_compute_is_unsupported},
		{"more than fits is unsupported", test_more_than_fits_is_unsupported},
		{"wrong results are told", test_wrong_results_are_told},
		{"a hang times out", test_a_hang_times_out},
		{"a crash prints nothing", test_a_crash_prints_nothing},
		{"what drivers print stays out", test_what_drivers_print_stays_out},
		{"visibility tells every API", test_visibility_tells_every_api},
		{"visibility tells real drivers", test_visibility_tells_real_drivers},
		{"visibility looks again", test_visibility_looks_again},
		{"visibility survives a crash", test_visibility_survives_a_crash},
		{"visibility tells one device", test_visibility_tells_one_device},
		{"CUDA failures are told", test_cuda_failures_are_told},
		{"usage errors are exit code 2", test_usage_errors_are_exit_code_2},
		{"output that fails is exit code 1", test_output_that_fails_is_exit_code_1},
		CU_TEST_INFO_NULL,
	};
	return probe_tests("probe programs", "probe-documents.ndjson", tests);
}
