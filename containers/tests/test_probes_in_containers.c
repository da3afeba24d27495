/* SPDX-License-Identifier: MIT */
/* The main path without plugin and kubelet: what discovery says that a software device needs makes
 * its API work in the composed image, and without it the probe says what is missing. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/tests/unit.h"
#include "containers/grant/tests/entries.h"
#include "containers/tests/rig.h"

#include <gpucert/discovery.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAMS GPUCERT_BINARY_DIR "/libexec/gpucert"

static struct rig rig;
static struct discovery_snapshot *node;

static const struct discovery_device *find_device(const char *driver)
{
	for (size_t i = 0; i < node->device_count; i++) {
		if (strcmp(node->devices[i].driver_name, driver) == 0)
			return &node->devices[i];
	}
	return NULL;
}

/* Runs a probe with the device's files and variables, or with nothing (`device` NULL). Files of the
 * origin `without` are left out. */
static cJSON *run_probe(const char *probe, const struct discovery_device *device,
			const char *without)
{
	const char *const words[] = {probe, NULL};
	size_t file_count = device != NULL ? device->file_count : 0;
	size_t mount_count = 0;
	size_t device_env_count = device != NULL ? device->variable_count : 0;
	struct grant_entry *mounts CLEANUP_FREE = calloc(file_count + 1, sizeof(*mounts));
	struct grant_entry *envs CLEANUP_FREE = calloc(device_env_count + 1, sizeof(*envs));
	struct launch *launch = NULL;
	const struct launch_result *result = NULL;
	cJSON *document = NULL;
	char end[256] = "";
	if (mounts == NULL || envs == NULL)
		abort();
	for (size_t i = 0; i < file_count; i++) {
		const struct discovery_file *file = &device->files[i];
		if (without == NULL || strcmp(file->origin, without) != 0)
			mounts[mount_count++] =
				(struct grant_entry)MOUNT(file->source, file->destination, true);
	}
	for (size_t i = 0; i < device_env_count; i++)
		envs[i] = (struct grant_entry)VARIABLE(device->environment[i].name,
						       device->environment[i].value);
	/* Drivers leak, and in a build with sanitizers their leaks would be the probe's failure. */
	envs[device_env_count] = (struct grant_entry)VARIABLE("LSAN_OPTIONS", "detect_leaks=0");
	launch = rig_run(&rig, &(struct launch_spec){.name = "probe",
						     .command = words,
						     .grant.mounts = {mounts, mount_count},
						     .grant.envs = {envs, device_env_count + 1}});
	result = launch_result(launch);
	launch_describe(result, end, sizeof(end));
	UNIT_STRING(end, "exited with code 0");
	if (without == NULL)
		UNIT_STRING(text_string(&result->err), "");
	CU_ASSERT_EQUAL(json_parse(text_string(&result->out), result->out.size, &document, NULL),
			0);
	launch_free(launch);
	return document;
}

static void expect_works(const char *probe, const char *driver)
{
	const struct discovery_device *device = find_device(driver);
	cJSON *with CLEANUP_JSON = NULL;
	cJSON *without CLEANUP_JSON = run_probe(probe, NULL, NULL);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(without, "/api/status")), "unsupported");
	if (device == NULL) {
		(void)printf("(%s is not installed) ", driver);
		return;
	}
	with = run_probe(probe, device, NULL);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(with, "/api/status")), "ok");
	UNIT_INT(cJSON_GetArraySize(json_pointer(with, "/devices")), 1);
	CU_ASSERT_TRUE(cJSON_IsTrue(json_pointer(with, "/work/verified")));
}

static void test_vulkan_on_lavapipe(void)
{
	expect_works("probe-vulkan", "lavapipe");
}

static void test_opencl_on_pocl(void)
{
	expect_works("probe-opencl", "pocl");
}

static void test_opengl_on_llvmpipe(void)
{
	expect_works("probe-opengl", "llvmpipe");
}

/* What a plugin may forget, and how the probe tells it. */
static void test_opengl_needs_the_files(void)
{
	static const struct {
		const char *origin, *status, *reason;
	} cases[] = {
		{"manifest", "unsupported", "EGL_BAD_DISPLAY"},
		{"driver-library", "failed", "EGL_BAD_DISPLAY"},
		{"device-library", "failed", "EGL_NOT_INITIALIZED"},
		{"needed-library", "failed", "EGL_BAD_DISPLAY"},
	};
	const struct discovery_device *device = find_device("llvmpipe");
	for (size_t i = 0; device != NULL && i < sizeof(cases) / sizeof(*cases); i++) {
		cJSON *document CLEANUP_JSON = run_probe("probe-opengl", device, cases[i].origin);
		UNIT_STRING(cJSON_GetStringValue(json_pointer(document, "/api/status")),
			    cases[i].status);
		UNIT_CONTAINS(cJSON_GetStringValue(json_pointer(document, "/api/reason")),
			      cases[i].reason);
	}
}

#define DOUBLES GPUCERT_BINARY_DIR "/tests/cuda/"
#define PLACE	"/usr/lib/x86_64-linux-gnu/"

/* No software renderer has CUDA: the doubles of the driver's libraries are mounted as the files of a
 * device. What fails on the way is that the image lacks something the probes need. */
static void test_cuda_on_the_double(void)
{
	static const struct discovery_file files[] = {
		{.source = DOUBLES "libcuda.so.1", .destination = PLACE "libcuda.so.1"},
		{.source = DOUBLES "libnvidia-ml.so.1", .destination = PLACE "libnvidia-ml.so.1"},
	};
	static const struct discovery_device device = {.files = files, .file_count = 2};
	cJSON *cuda CLEANUP_JSON = run_probe("probe-cuda", &device, NULL);
	cJSON *nvml CLEANUP_JSON = run_probe("probe-nvml", &device, NULL);
	cJSON *seen CLEANUP_JSON = run_probe("probe-visibility", &device, NULL);
	cJSON *without CLEANUP_JSON = run_probe("probe-cuda", NULL, NULL);
	CU_ASSERT_TRUE(cJSON_IsTrue(json_pointer(cuda, "/work/verified")));
	UNIT_STRING(cJSON_GetStringValue(json_pointer(cuda, "/api/loader/path")),
		    PLACE "libcuda.so.1");
	UNIT_STRING(cJSON_GetStringValue(json_pointer(nvml, "/devices/0/pciAddress")),
		    cJSON_GetStringValue(json_pointer(cuda, "/devices/0/pciAddress")));
	UNIT_INT(cJSON_GetArraySize(json_pointer(seen, "/apis/2/devices")), 1);
	UNIT_INT(cJSON_GetArraySize(json_pointer(seen, "/nodes")), 0);
	UNIT_STRING(cJSON_GetStringValue(json_pointer(without, "/api/missing")), "libcuda.so.1");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"Vulkan on lavapipe", test_vulkan_on_lavapipe},
		{"OpenCL on PoCL", test_opencl_on_pocl},
		{"OpenGL on llvmpipe", test_opengl_on_llvmpipe},
		{"OpenGL needs the files", test_opengl_needs_the_files},
		{"CUDA on the double", test_cuda_on_the_double},
		CU_TEST_INFO_NULL,
	};
	const char *reason = rig_reason_to_skip();
	struct error err = {0};
	int result = 0;
	if (reason == NULL && !file_exists(PROGRAMS "/probe-vulkan"))
		reason = "needs the probes";
	if (reason != NULL) {
		(void)printf("skipped: %s\n", reason);
		return RIG_SKIP;
	}
	if (discovery_take(NULL, &node, &err) < 0) {
		(void)fprintf(stderr, "discovery: %s\n", err.text);
		return 1;
	}
	rig_open_with(&rig, rig_base("probes"), PROGRAMS);
	result = unit_run("probes in containers", tests);
	rig_close(&rig);
	discovery_free(node);
	return result;
}
