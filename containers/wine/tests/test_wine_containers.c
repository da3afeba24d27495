/* SPDX-License-Identifier: MIT */
/* Windows programs in containers: without a device none of the APIs has an adapter; each device of
 * the Wine node brings exactly one; and mounts arrive where Windows programs look for them. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/grant/tests/entries.h"
#include "containers/runtime/runtime_internal.h"
#include "containers/tests/rig.h"
#include "containers/wine/device.h"
#include "containers/wine/image.h"
#include "containers/wine/translation.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAMS GPUCERT_BINARY_DIR "/tests/wine-programs"
#define STORE                                                                                      \
	"C:\\Windows\\System32\\DriverStore\\FileRepository\\gpucert_wine.inf_amd64_"              \
	"5f1c0d2e3a4b6978\\"

enum { DRAIN_MS = 300000, TIMEOUT_MS = 300000, IMAGE_MAX = 160 * 1024 * 1024 };

static uv_loop_t loop;
static struct runtime *runtime;
static struct images images;
static struct launcher *launcher;
static struct wine_node node;
static char *cache; /* of images, for this test alone */

/* What a plugin answers for a device: the device string and the files of the driver. */
static struct grant_entry driver_mounts[] = {
	MOUNT(STORE "gpucert_vulkan64.dll", "C:\\Windows\\System32\\vulkan-1.dll", true),
	MOUNT(STORE "Bin\\gpucert_opencl64.dll", "c:/windows/system32/OpenCL.DLL", true),
	MOUNT(STORE "gpucert_icd32.json", "C:\\Windows\\SysWOW64\\gpucert_icd32.json", true),
};

static char *run_with(struct grant_entry *devices, size_t device_count, size_t mount_count)
{
	const char *const command[] = {"probe-adapters",
				       "C:\\windows\\syswow64\\gpucert_icd32.json", NULL};
	const struct launch_spec spec = {
		.name = "adapters",
		.command = command,
		.grant.devices = {devices, device_count},
		.grant.mounts = {driver_mounts, mount_count},
		.timeout_ms = TIMEOUT_MS,
	};
	struct wine_translation translation CLEANUP_WINE_TRANSLATION = {0};
	struct launch *launch = NULL;
	struct text output = {0};
	struct error err = {0};
	char end[256] = "";
	int rc = wine_translate(&node, &spec, &translation, &err);
	if (rc == 0)
		rc = launch_start(launcher, &translation.spec, &launch, &err);
	if (rc == 0)
		rc = launch_wait(launch, &err);
	if (rc < 0) {
		UNIT_STRING(err.text, "");
		return NULL;
	}
	launch_describe(launch_result(launch), end, sizeof(end));
	UNIT_STRING(end, "exited with code 0");
	UNIT_STRING(text_string(&launch_result(launch)->err), "");
	for (const char *c = text_string(&launch_result(launch)->out); *c != '\0'; c++) {
		if (*c != '\r')
			text_append(&output, c, 1);
	}
	launch_free(launch);
	return text_take(&output);
}

static void test_nothing(void)
{
	char *seen CLEANUP_FREE = run_with(NULL, 0, 0);
	UNIT_STRING(seen, "dxgi=0\nd3d11=0\nd3d12=0\nvulkan=-1\nopencl=-1\n"
			  "C:\\windows\\syswow64\\gpucert_icd32.json=missing\n");
}

/* The loaders alone are no driver. */
static void test_files_without_device(void)
{
	char *seen CLEANUP_FREE = run_with(NULL, 0, ARRAY_SIZE(driver_mounts));
	UNIT_STRING(seen, "dxgi=0\nd3d11=0\nd3d12=0\nvulkan=0\nopencl=0\n"
			  "C:\\windows\\syswow64\\gpucert_icd32.json=there\n");
}

static void test_one_device(void)
{
	for (size_t i = 0; i < WINE_DEVICE_COUNT; i++) {
		char *string CLEANUP_FREE =
			text_format("vpci-location-path://%s", wine_devices[i].location_path);
		struct grant_entry device = DEVICE(string, "", "");
		char *seen CLEANUP_FREE = run_with(&device, 1, ARRAY_SIZE(driver_mounts));
		UNIT_STRING(seen, "dxgi=1\nd3d11=1\nd3d12=1\nvulkan=1\nopencl=1\n"
				  "C:\\windows\\syswow64\\gpucert_icd32.json=there\n");
	}
}

static void test_all_devices(void)
{
	struct grant_entry device = DEVICE("class/5b45201d-f2f2-4f3b-85bb-30ff1f953599", "", "");
	char *seen CLEANUP_FREE = run_with(&device, 1, ARRAY_SIZE(driver_mounts));
	UNIT_CONTAINS(seen, "vulkan=2\n");
	UNIT_CONTAINS(seen, "opencl=2\n");
}

/* The second time, the archive comes from the cache and is the same. */
static void test_cached_image(void)
{
	struct images again = {0};
	struct stat status = {0};
	struct error err = {0};
	const char *const programs[] = {PROGRAMS "/probe-adapters.exe", NULL};
	const struct wine_image_options options = {
		.root = node.root,
		.starter = node.starter,
		.programs = programs,
		.cache = cache,
	};
	UNIT_INT(wine_image_prepare(&options, &again, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_STRING(again.probe.reference, images.probe.reference);
	UNIT_STRING(again.probe.digest, images.probe.digest);
	UNIT_STRING(again.archive, images.archive);
	CU_ASSERT_TRUE(stat(again.archive, &status) == 0 && status.st_size < IMAGE_MAX);
	images_free(&again);
}

static void need(int rc, const char *what, const struct error *err)
{
	if (rc == 0)
		return;
	(void)fprintf(stderr, "%s: %s\n", what, err->text);
	exit(rc == ERROR_UNSUPPORTED ? RIG_SKIP : 1);
}

static void open_runtime(void)
{
	const struct runtime_options options = {.base_directory = rig_base("wine")};
	const char *const programs[] = {PROGRAMS "/probe-adapters.exe", NULL};
	struct wine_image_options image = {.programs = programs, .cache = cache};
	struct launcher_containerd_options launch = {.check_id = "test"};
	const struct runtime_description *description = NULL;
	char *directory CLEANUP_FREE = NULL;
	struct error err = {0};
	(void)uv_loop_init(&loop);
	need(runtime_start(&loop, &options, &runtime, &err), "start", &err);
	description = runtime_describe(runtime);
	directory = path_join(description->work_directory, "wine");
	need(file_make_directories(directory, 0700, &err), "directory", &err);
	need(wine_node_make(directory, PROGRAMS, NULL, &node, &err), "node", &err);
	image.root = node.root;
	image.starter = node.starter;
	need(wine_image_prepare(&image, &images, &err), "image", &err);
	const char *const references[] = {images.probe.reference, IMAGES_PAUSE_REFERENCE, NULL};
	need(runtime_import(runtime, images.archive, references, &err), "import", &err);
	launch.cri = runtime_cri(runtime);
	launch.image = images.probe.reference;
	launch.log_directory = description->work_directory;
	launch.cgroup_parent = description->cgroup_parent;
	launch.run_id = description->run_id;
	need(launcher_containerd_new(&launch, &launcher, &err), "launcher", &err);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a container without a device has no adapter", test_nothing},
		{"nor has one with the loaders alone", test_files_without_device},
		{"a device is one adapter in each API", test_one_device},
		{"the display class is all devices", test_all_devices},
		{"the image comes from the cache", test_cached_image},
		CU_TEST_INFO_NULL,
	};
	const char *reason = rig_reason_to_skip();
	struct error err = {0};
	int result = 0;
	if (reason != NULL) {
		(void)printf("skipped: %s\n", reason);
		return RIG_SKIP;
	}
	need(file_make_temporary("/tmp", "wine-image-", &cache, &err), "cache", &err);
	open_runtime();
	result = unit_run("Windows programs in containers", tests);
	launcher_free(launcher);
	images_free(&images);
	wine_node_free(&node);
	need(runtime_stop(runtime, &err), "stop", &err);
	need(loop_drain(&loop, DRAIN_MS, &err), "drain", &err);
	need(file_remove_tree(cache, &err), "cache", &err);
	free(cache);
	return result;
}
