/* SPDX-License-Identifier: MIT */
/* Answers that change what a probe is, and answers that look like it and do not. */
#include "conformance/checks/tamper.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/gpu_apis.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/grant/tests/entries.h"

static struct {
	char *folder;
	struct image_manifest image;
} place;

static void write_below(const char *folder, const char *name, const char *content)
{
	char *path CLEANUP_FREE = path_join(place.folder, folder);
	char *file CLEANUP_FREE = path_join(path, name);
	if (file_make_directories(path, 0755, NULL) < 0 ||
	    file_write_atomic(file, content, strlen(content), 0644, NULL) < 0)
		abort();
}

static char *below(const char *name)
{
	return path_join(place.folder, name);
}

static int open_place(void)
{
	char *probe CLEANUP_FREE = NULL;
	char *libc CLEANUP_FREE = NULL;
	if (file_make_temporary(NULL, "tamper-", &place.folder, NULL) < 0)
		return 1;
	write_below("image", "probe-vulkan", "probe");
	write_below("same/x86_64-linux-gnu", "libc.so.6", "libc");
	write_below("other/x86_64-linux-gnu", "libc.so.6", "another libc");
	write_below("other", "libc.so.6", "another libc");
	write_below("driver", "libdriver.so", "driver");
	write_below("etc", "ld.so.cache", "cache");
	write_below("layers/vulkan/implicit_layer.d", "x.json", "{}");
	write_below("hwcaps/glibc-hwcaps/x86-64-v3", "libc.so.6", "another libc");
	probe = below("image/probe-vulkan");
	libc = below("same/x86_64-linux-gnu/libc.so.6");
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		char *name CLEANUP_FREE = text_format("/libexec/gpucert/probe-%s", api->name);
		char *loader CLEANUP_FREE = text_format("/usr/local/lib/%s", api->loader);
		if (image_manifest_add(&place.image, name, probe, NULL) != 0 ||
		    (api->loader != NULL &&
		     image_manifest_add(&place.image, loader, libc, NULL) != 0))
			return 1;
	}
	return image_manifest_add(&place.image, "/usr/lib/x86_64-linux-gnu/libc.so.6", libc, NULL);
}

static int close_place(void)
{
	int rc = file_remove_tree(place.folder, NULL);
	image_manifest_free(&place.image);
	free(place.folder);
	return rc;
}

/* `wanted` NULL: innocent. */
static void expect(const struct grant *grant, const char *wanted)
{
	struct text_list found CLEANUP_TEXT_LIST = {0};
	tamper_find(grant, &place.image, NULL, &found);
	UNIT_INT(found.count, wanted != NULL ? 1 : 0);
	if (wanted != NULL && found.count == 1 && strstr(found.items[0], wanted) == NULL)
		UNIT_STRING(found.items[0], wanted);
	if (wanted == NULL && found.count > 0)
		UNIT_STRING(found.items[0], "nothing");
}

static void expect_mount(const char *source, const char *target, const char *wanted)
{
	char *host CLEANUP_FREE = source[0] == '/' ? strdup(source) : below(source);
	struct grant_entry mount = MOUNT(host, target, true);
	expect(&(struct grant){.mounts = {&mount, 1}}, wanted);
}

static void expect_variable(const char *name, const char *value, const char *wanted)
{
	struct grant_entry variable = VARIABLE(name, value);
	expect(&(struct grant){.envs = {&variable, 1}}, wanted);
}

static void test_files_of_the_image(void)
{
	static const char probe[] = "hides the image's /libexec/gpucert/probe-vulkan";
	static const char libc[] = "hides the image's /usr/lib/x86_64-linux-gnu/libc.so.6";
	expect_mount("other/libc.so.6", "/libexec/gpucert/probe-vulkan", probe);
	expect_mount("other/libc.so.6", "//libexec/./gpucert/probe-vulkan", probe);
	expect_mount("other", "/libexec", probe);
	expect_mount("other", "/libexec/gpucert", probe);
	expect_mount("other/libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6", libc);
	expect_mount("other/libc.so.6", "/lib/x86_64-linux-gnu/libc.so.6", libc);
	expect_mount("other", "/usr/lib", libc);
	expect_mount("driver", "/usr/lib/x86_64-linux-gnu", libc);
}

/* A new API is guarded at once: its probe, and the loader that the image brings. */
static void test_files_of_each_api(void)
{
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		char *probe CLEANUP_FREE = text_format("/libexec/gpucert/probe-%s", api->name);
		char *loader CLEANUP_FREE = text_format("/usr/local/lib/%s", api->loader);
		struct grant_entry node = DEVICE("/dev/null", probe, "rw");
		expect_mount("other/libc.so.6", probe, probe);
		expect_mount("image/probe-vulkan", probe, NULL); /* the same content */
		expect(&(struct grant){.devices = {&node, 1}}, probe);
		if (api->loader != NULL)
			expect_mount("other/libc.so.6", loader, loader);
	}
}

static void test_the_same_content(void)
{
	expect_mount("same/x86_64-linux-gnu/libc.so.6", "/usr/lib/x86_64-linux-gnu/libc.so.6",
		     NULL);
	expect_mount("same", "/usr/lib", NULL);
	expect_mount("same", "/lib", NULL);
}

static void test_beside_the_image(void)
{
	expect_mount("driver/libdriver.so", "/usr/lib/x86_64-linux-gnu/libdriver.so", NULL);
	expect_mount("driver", "/usr/local/nvidia", NULL);
	expect_mount("driver", "/libexec/gpucert-driver", NULL);
	expect_mount("driver", "/dev/dri", NULL);
}

static void test_the_dynamic_linker(void)
{
	expect_mount("other/libc.so.6", "/etc/ld.so.preload", "its /etc/ld.so.preload");
	expect_mount("other/libc.so.6", "/etc/ld.so.cache", "its /etc/ld.so.cache");
	expect_mount("etc", "/etc", "its /etc/ld.so.cache");
	expect_mount("driver", "/etc", NULL);
	expect_mount("hwcaps/glibc-hwcaps", "/usr/lib/x86_64-linux-gnu/glibc-hwcaps",
		     "glibc-hwcaps puts");
	expect_mount("other/libc.so.6",
		     "/usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v2/libc.so.6",
		     "glibc-hwcaps puts");
	expect_mount("driver/libdriver.so",
		     "/usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v2/libdriver.so", NULL);
}

/* The loader looks for layers below the home folder, which an answer may move. */
static void test_layers_at_home(void)
{
	struct grant_entry home = VARIABLE("HOME", "/opt/home");
	char *layers CLEANUP_FREE = below("layers");
	char *driver CLEANUP_FREE = below("driver");
	struct grant_entry mount = MOUNT(layers, "/opt/home/.local/share", true);
	struct grant grant = {.mounts = {&mount, 1}, .envs = {&home, 1}};
	expect(&grant, "puts a layer in front");
	mount.container_path = "/opt/home/.config";
	expect(&grant, "puts a layer in front");
	mount.container_path = "/root/.config";
	expect(&grant, NULL);
	mount = (struct grant_entry)MOUNT(driver, "/opt/home", true);
	expect(&grant, NULL);
	expect_mount("layers", "/root/.config", "puts a layer in front");
	mount = (struct grant_entry)MOUNT(driver, "/opt/driver", true);
	home.value = "here";
	expect(&grant, NULL);
	expect_mount("driver/libdriver.so", "/etc/vulkan/loader_settings.d/x.json",
		     "puts a layer in front");
}

/* What is looked at for each mount is bounded: an answer may hold thousands. */
static void test_many_mounts(void)
{
	enum { COUNT = 100000 };
	struct grant_entry *mounts = calloc(COUNT, sizeof(*mounts));
	char *driver CLEANUP_FREE = below("driver");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mounts);
	for (size_t i = 0; i < COUNT; i++)
		mounts[i] =
			(struct grant_entry)MOUNT(driver, "/opt/glibc-hwcaps/x86-64-v2/x", true);
	expect(&(struct grant){.mounts = {mounts, COUNT}},
	       "mounts below /glibc-hwcaps are not looked at");
	for (size_t i = 0; i < COUNT; i++)
		mounts[i].container_path = "/opt/driver/lib/libdriver.so";
	expect(&(struct grant){.mounts = {mounts, COUNT}}, NULL);
	free(mounts);
}

static void test_the_kernel(void)
{
	expect_mount("driver", "/proc", "hides what the kernel reports");
	expect_mount("/proc", "/proc", "hides what the kernel reports");
	expect_mount("driver", "/sys/class/drm", "hides what the kernel reports");
	expect_mount("/sys/class", "/sys/class", NULL);
}

static void test_the_way_of_the_results(void)
{
	expect_mount("driver", "/run/gpucert/launch", "path of the results");
	expect_mount("driver", "/run", "path of the results");
	expect_mount("driver", "/run/nvidia", NULL);
}

static void test_layers(void)
{
	expect_mount("layers", "/etc", "layer in front");
	expect_mount("layers/vulkan/implicit_layer.d/x.json",
		     "/usr/share/vulkan/implicit_layer.d/x.json", "layer in front");
	expect_mount("/usr/share/vulkan/implicit_layer.d/x.json",
		     "/usr/share/vulkan/implicit_layer.d/x.json", NULL);
	expect_mount("/usr/share/vulkan/icd.d", "/usr/share/vulkan/icd.d", NULL);
}

static void test_device_nodes(void)
{
	struct grant_entry over = DEVICE("/dev/null", "/libexec/gpucert/probe-vulkan", "rw");
	struct grant_entry beside = DEVICE("/dev/null", "/dev/dri/renderD128", "rw");
	expect(&(struct grant){.devices = {&over, 1}}, "hides the image's");
	expect(&(struct grant){.devices = {&beside, 1}}, NULL);
}

static void test_variables(void)
{
	expect_variable("LD_PRELOAD", "/x.so", "LD_PRELOAD steers the dynamic linker");
	expect_variable("LD_AUDIT", "/x.so", "LD_AUDIT steers");
	expect_variable("GLIBC_TUNABLES", "x", "GLIBC_TUNABLES steers");
	expect_variable("VK_INSTANCE_LAYERS", "x", "layers in front");
	expect_variable("VK_ADD_LAYER_PATH", "/x", "layers in front");
	expect_variable("OPENCL_LAYERS", "/x.so", "layers in front");
	expect_variable("CUDA_INJECTION64_PATH", "/x.so", "in front of the CUDA driver");
	expect_variable("HSA_TOOLS_LIB", "/x.so", "in front of the HIP driver");
	expect_variable("ROCP_TOOL_LIBRARIES", "/x.so", "in front of the HIP driver");
	expect_variable("ZE_ENABLE_TRACING_LAYER", "1", "in front of the Level Zero driver");
	expect_variable("ZE_ENABLE_VALIDATION_LAYER", "1", "in front of the Level Zero driver");
	expect_variable("ZE_ENABLE_ALT_DRIVERS", "/x.so", NULL);
	expect_variable("LIBVA_DRIVERS_PATH", "/x", NULL);
	expect_variable("ONEVPL_SEARCH_PATH", "/x", NULL);
	expect_variable("VK_DRIVER_FILES", "/x.json", NULL);
	expect_variable("OCL_ICD_VENDORS", "/x", NULL);
	expect_variable("NVIDIA_VISIBLE_DEVICES", "all", NULL);
	expect_variable("LD", "x", NULL);
	expect_variable("LD_BIND_NOW", "1", NULL);
	expect_variable("HOME", "here", NULL);
	CU_ASSERT_PTR_NOT_NULL(tamper_variable("LD_PRELOAD=/x.so"));
	CU_ASSERT_PTR_NULL(tamper_variable("LD_LIBRARY_PATH=/x"));
	CU_ASSERT_PTR_NULL(tamper_variable("PATH=/bin"));
}

static void test_the_library_path(void)
{
	char *driver CLEANUP_FREE = below("driver");
	char *other CLEANUP_FREE = below("other");
	struct grant_entry mounts[] = {MOUNT(driver, "/opt/driver", true),
				       MOUNT(other, "/opt/other", true)};
	static const struct {
		const char *value, *wanted;
	} cases[] = {
		{"/opt/driver", NULL},
		{"/nowhere::relative", NULL},
		{"/usr/lib/x86_64-linux-gnu", NULL},
		{"/opt/driver:/opt/other", "puts /opt/other/libc.so.6 in front of the image's"},
		{"/opt/other/x86_64-linux-gnu/", "in front of the image's"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct grant_entry variable = VARIABLE("LD_LIBRARY_PATH", cases[i].value);
		expect(&(struct grant){.mounts = {mounts, ARRAY_SIZE(mounts)},
				       .envs = {&variable, 1}},
		       cases[i].wanted);
	}
}

static void test_windows(void)
{
	static const struct {
		const char *target;
		bool tampers;
	} cases[] = {
		{"C:\\gpucert\\libexec\\gpucert\\probe-d3d12.exe", true},
		{"c:/GPUCERT//libexec/", true},
		{"\\gpucert", true},
		{"C:\\Windows\\System32", true},
		{"C:\\Windows\\System32\\NTDLL.dll", true},
		{"C:\\Windows", true},
		{"C:\\gpucert2", false},
		{"C:\\Windows\\System32\\nvcuda.dll", false},
		{"C:\\Windows\\System32\\HostDriverStore\\FileRepository\\nv", false},
		{"C:\\Windows\\System32\\vulkan-1.dll", false},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct grant_entry mount = MOUNT("C:\\x", cases[i].target, true);
		const struct grant grant = {.mounts = {&mount, 1}};
		struct text_list found CLEANUP_TEXT_LIST = {0};
		tamper_find_windows(&grant, &found);
		if ((found.count == 1) != cases[i].tampers)
			UNIT_STRING(cases[i].target, cases[i].tampers ? "tampers" : "is innocent");
	}
	struct grant_entry variable = VARIABLE("WINEDLLPATH", "/x");
	const struct grant grant = {.envs = {&variable, 1}};
	struct text_list found CLEANUP_TEXT_LIST = {0};
	tamper_find_windows(&grant, &found);
	UNIT_INT(found.count, 1);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"files of the image", test_files_of_the_image},
		{"files of each API", test_files_of_each_api},
		{"the same content", test_the_same_content},
		{"beside the image", test_beside_the_image},
		{"the dynamic linker", test_the_dynamic_linker},
		{"layers at home", test_layers_at_home},
		{"many mounts", test_many_mounts},
		{"the kernel", test_the_kernel},
		{"the way of the results", test_the_way_of_the_results},
		{"layers", test_layers},
		{"device nodes", test_device_nodes},
		{"variables", test_variables},
		{"Windows", test_windows},
		{"the library path", test_the_library_path},
		CU_TEST_INFO_NULL,
	};
	return unit_run_in("tamper", open_place, close_place, tests);
}
