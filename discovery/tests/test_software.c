/* SPDX-License-Identifier: MIT */
/* Software drivers in root folders made of tiny ELF files. */
#include "base/cleanup.h"
#include "base/elf.h"
#include "base/tests/elf_maker.h"
#include "base/tests/starved.h"
#include "base/tests/unit.h"
#include "discovery/tests/tree.h"

#include <gpucert/discovery.h>
#include <stdlib.h>

/* Bare names are looked up for the machine that this program is made for. */
static struct elf_info own;

static void add_text(const char *root, const char *path, const char *content)
{
	struct error err = {0};
	UNIT_INT(tree_file(root, path, content, strlen(content), &err), 0);
	UNIT_STRING(err.text, "");
}

static void add_library(const char *root, const char *path, const char *soname,
			const char *needed_1, const char *needed_2)
{
	const struct elf_recipe recipe = {
		.bits = own.bits,
		.machine = (uint16_t)own.machine,
		.soname = soname,
		.needed = {needed_1, needed_1 != NULL ? needed_2 : NULL},
	};
	struct text file CLEANUP_TEXT = {0};
	struct error err = {0};
	elf_make(&recipe, &file);
	/* The driver's own text, which tells its version. */
	text_append(&file, "\0Mesa 9.8.7-test\0", 17);
	UNIT_INT(tree_file(root, path, file.data, file.size, &err), 0);
}

static struct discovery_snapshot *take(const char *root)
{
	const struct discovery_options options = {.root = root, .filter.include_integrated = true};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};
	if (discovery_take(&options, &snapshot, &err) < 0) {
		(void)printf("%s\n", err.text);
		exit(1);
	}
	return snapshot;
}

/* "origin destination < source" of every file, then the variables, then the health. */
static char *describe(const struct discovery_device *device)
{
	struct text text CLEANUP_TEXT = {0};
	if (device == NULL)
		return strdup("no device");
	text_addf(&text, "%s %s\n", device->id, device->driver_version);
	for (size_t i = 0; i < device->file_count; i++) {
		const struct discovery_file *file = &device->files[i];
		text_addf(&text, "%s %s < %s\n", file->origin, file->destination, file->source);
	}
	for (size_t i = 0; i < device->variable_count; i++)
		text_addf(&text, "%s=%s\n", device->environment[i].name,
			  device->environment[i].value);
	text_addf(&text, "%s", discovery_health_name(device->health));
	text_addf(&text, "%s%s", device->health_reason[0] != '\0' ? ": " : "",
		  device->health_reason);
	return text_take(&text);
}

static char *make_lavapipe(void)
{
	char *root = tree_new();
	if (root == NULL)
		exit(1);
	add_text(root, "usr/share/vulkan/icd.d/lvp.json",
		 "{\"ICD\": {\"library_path\": \"libvulkan_lvp.so\", \"api_version\": \"1.3.1\"}}");
	add_text(root, "etc/ld.so.conf", "/opt/mesa\n/lib/links\n");
	add_library(root, "opt/mesa/libvulkan_lvp.so", "libvulkan_lvp.so", "libneeded.so.1",
		    "libc.so.6");
	add_library(root, "usr/lib/links/libneeded.so.1.2", "libneeded.so.1", "libm.so.6", NULL);
	UNIT_INT(tree_link(root, "usr/lib/links/libneeded.so.1", "libneeded.so.1.2", NULL), 0);
	UNIT_INT(tree_link(root, "lib", "usr/lib", NULL), 0);
	add_library(root, "usr/lib/libm.so.6", "libm.so.6", "libc.so.6", "ld-linux-x86-64.so.2");
	add_library(root, "usr/lib/libc.so.6", "libc.so.6", NULL, NULL);
	add_library(root, "usr/lib/ld-linux-x86-64.so.2", "ld-linux-x86-64.so.2", NULL, NULL);
	return root;
}

static void test_lavapipe(void)
{
	char *root CLEANUP_TREE = make_lavapipe();
	starved_each(tree_take, root);
	struct discovery_snapshot *snapshot = take(root);
	char *seen CLEANUP_FREE = describe(discovery_find(snapshot, "lavapipe"));
	UNIT_INT(snapshot->device_count, 1);
	UNIT_INT(snapshot->diagnostic_count, 0);
	/* Links of directories are resolved, the C library and the loader are left to the image. */
	UNIT_STRING(seen, "lavapipe 9.8.7-test\n"
			  "manifest /usr/share/vulkan/icd.d/lvp.json < "
			  "/usr/share/vulkan/icd.d/lvp.json\n"
			  "driver-library /opt/mesa/libvulkan_lvp.so < "
			  "/opt/mesa/libvulkan_lvp.so\n"
			  "needed-library /usr/lib/links/libneeded.so.1 < "
			  "/usr/lib/links/libneeded.so.1.2\n"
			  "needed-library /usr/lib/libm.so.6 < /usr/lib/libm.so.6\n"
			  "VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp.json\n"
			  "VK_ICD_FILENAMES=/usr/share/vulkan/icd.d/lvp.json\n"
			  "healthy");
	discovery_free(snapshot);
}

static void test_paths_of_libraries(void)
{
	char *root CLEANUP_TREE = make_lavapipe();
	/* The same library by an absolute and by a relative path is the same driver ... */
	add_text(root, "etc/vulkan/icd.d/same.json",
		 "{\"ICD\": {\"library_path\": \"/opt/mesa/libvulkan_lvp.so\"}}");
	add_text(root, "usr/local/share/vulkan/icd.d/relative.json",
		 "{\"ICD\": {\"library_path\": \"../../../../../opt/mesa/libvulkan_lvp.so\"}}");
	/* ... another copy is another one. */
	add_text(root, "usr/share/vulkan/icd.d/other.json",
		 "{\"ICD\": {\"library_path\": \"./libvulkan_lvp.so\", \"api_version\": \"1.2\"}}");
	add_library(root, "usr/share/vulkan/icd.d/libvulkan_lvp.so", NULL, NULL, NULL);
	struct discovery_snapshot *snapshot = take(root);
	UNIT_INT(snapshot->device_count, 2);
	UNIT_INT(snapshot->diagnostic_count, 0);
	if (snapshot->device_count == 2) {
		UNIT_STRING(snapshot->devices[0].environment[0].value,
			    "/etc/vulkan/icd.d/same.json");
		UNIT_STRING(snapshot->devices[1].id, "lavapipe-2");
		UNIT_STRING(snapshot->devices[1].environment[0].value,
			    "/usr/share/vulkan/icd.d/other.json");
	}
	discovery_free(snapshot);
}

static void test_a_missing_need_makes_it_unhealthy(void)
{
	char *root CLEANUP_TREE = make_lavapipe();
	add_library(root, "usr/lib/links/libneeded.so.1.2", "libneeded.so.1", "libgone.so.7", NULL);
	struct discovery_snapshot *snapshot = take(root);
	const struct discovery_device *device = discovery_find(snapshot, "lavapipe");
	if (device == NULL) {
		CU_FAIL("the device is still listed");
	} else {
		UNIT_INT(device->health, DISCOVERY_UNHEALTHY);
		UNIT_STRING(device->health_reason,
			    "libgone.so.7, needed by /lib/links/libneeded.so.1, is not installed");
	}
	UNIT_INT(snapshot->diagnostic_count, 1);
	discovery_free(snapshot);
}

/* The manifest of the other word size comes first by name, and is not what a container here can
 * use. */
static void test_other_word_sizes_are_left_out(void)
{
	char *root CLEANUP_TREE = make_lavapipe();
	const unsigned bits = own.bits;
	add_text(root, "usr/share/vulkan/icd.d/a.json",
		 "{\"ICD\": {\"library_path\": \"/opt/other/libvulkan_lvp.so\"}}");
	own.bits = bits == 64 ? 32 : 64;
	add_library(root, "opt/other/libvulkan_lvp.so", NULL, NULL, NULL);
	own.bits = bits;
	struct discovery_snapshot *snapshot = take(root);
	UNIT_INT(snapshot->diagnostic_count, 0);
	UNIT_INT(snapshot->device_count, 1);
	if (snapshot->device_count == 1)
		UNIT_STRING(snapshot->devices[0].environment[0].value,
			    "/usr/share/vulkan/icd.d/lvp.json");
	discovery_free(snapshot);
}

static void test_hardware_drivers_are_left_out(void)
{
	char *root CLEANUP_TREE = tree_new();
	add_text(root, "usr/share/vulkan/icd.d/radeon.json",
		 "{\"ICD\": {\"library_path\": \"libvulkan_radeon.so\"}}");
	add_text(root, "etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n");
	struct discovery_snapshot *snapshot = take(root);
	UNIT_INT(snapshot->device_count, 0);
	UNIT_INT(snapshot->diagnostic_count, 0);
	discovery_free(snapshot);
}

static char *make_pocl(void)
{
	char *root = tree_new();
	if (root == NULL)
		exit(1);
	add_text(root, "etc/OpenCL/vendors/pocl.icd", "libpocl.so.2\n");
	add_text(root, "proc/sys/kernel/arch", "x86_64\n");
	add_library(root, "usr/lib/libpocl.so.2.10.0", "libpocl.so.2", NULL, NULL);
	UNIT_INT(tree_link(root, "usr/lib/libpocl.so.2", "libpocl.so.2.10.0", NULL), 0);
	add_library(root, "usr/lib/pocl/libpocl-devices-basic.so", "libpocl-devices-basic.so", NULL,
		    NULL);
	add_library(root, "usr/lib/pocl/libpocl-devices-a.so", NULL, "libpocl-devices-basic.so",
		    NULL);
	add_text(root, "usr/lib/pocl/README", "no library\n");
	add_text(root, "usr/share/pocl/kernel.bc", "bitcode");
	add_library(root, "usr/bin/ld.real", NULL, "libbfd.so", NULL);
	UNIT_INT(tree_link(root, "usr/bin/ld", "/usr/bin/ld.real", NULL), 0);
	add_library(root, "usr/lib/libbfd.so", NULL, NULL, NULL);
	add_text(root, "usr/lib/gcc/x86_64-linux-gnu/9/crtbegin.o", "");
	add_text(root, "usr/lib/gcc/x86_64-linux-gnu/12/crtbegin.o", "");
	add_text(root, "usr/lib/gcc/x86_64-linux-gnu/13/no-crtbegin.o", "");
	add_text(root, "usr/lib/gcc/arm-none-eabi/14/crtbegin.o", "");
	add_text(root, "usr/lib/gcc/x86_64-w64-mingw32/14-win32/crtbegin.o", "");
	add_text(root, "usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a", "");
	add_text(root, "usr/lib/gcc/x86_64-linux-gnu/12/libgcc_s.so",
		 "GROUP ( libgcc_s.so.1 -lgcc )");
	add_text(root, "usr/lib/x86_64-linux-gnu/libm.so", "GROUP ( /lib/x/libm.so.6 )");
	add_text(root, "lib/x/libm.so.6", "");
	add_text(root, "usr/lib/x86_64-linux-gnu/libc.so",
		 "GROUP ( /lib/x/libc.so.6 /usr/lib/libc_nonshared.a )");
	add_text(root, "usr/lib/libc_nonshared.a", "");
	return root;
}

static void test_pocl(void)
{
	char *root CLEANUP_TREE = make_pocl();
	starved_each(tree_take, root);
	struct discovery_snapshot *snapshot = take(root);
	char *seen CLEANUP_FREE = describe(discovery_find(snapshot, "pocl"));
	UNIT_INT(snapshot->diagnostic_count, 0);
	UNIT_STRING(seen, "pocl 2.10.0\n"
			  "manifest /etc/OpenCL/vendors/pocl.icd < /etc/OpenCL/vendors/pocl.icd\n"
			  "driver-library /usr/lib/libpocl.so.2 < /usr/lib/libpocl.so.2.10.0\n"
			  "driver-data /usr/share/pocl < /usr/share/pocl\n"
			  "device-library /usr/lib/pocl/libpocl-devices-a.so < "
			  "/usr/lib/pocl/libpocl-devices-a.so\n"
			  "device-library /usr/lib/pocl/libpocl-devices-basic.so < "
			  "/usr/lib/pocl/libpocl-devices-basic.so\n"
			  "linker /usr/bin/ld < /usr/bin/ld.real\n"
			  "needed-library /usr/lib/libbfd.so < /usr/lib/libbfd.so\n"
			  "compiler-library /usr/lib/gcc/x86_64-linux-gnu/12/crtbegin.o < "
			  "/usr/lib/gcc/x86_64-linux-gnu/12/crtbegin.o\n"
			  "compiler-library /usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a < "
			  "/usr/lib/gcc/x86_64-linux-gnu/12/libgcc.a\n"
			  "compiler-library /usr/lib/gcc/x86_64-linux-gnu/12/libgcc_s.so < "
			  "/usr/lib/gcc/x86_64-linux-gnu/12/libgcc_s.so\n"
			  "link-library /usr/lib/x86_64-linux-gnu/libm.so < "
			  "/usr/lib/x86_64-linux-gnu/libm.so\n"
			  "link-library /lib/x/libm.so.6 < /lib/x/libm.so.6\n"
			  "link-library /usr/lib/x86_64-linux-gnu/libc.so < "
			  "/usr/lib/x86_64-linux-gnu/libc.so\n"
			  "link-library /usr/lib/libc_nonshared.a < /usr/lib/libc_nonshared.a\n"
			  "OCL_ICD_VENDORS=/etc/OpenCL/vendors\n"
			  "POCL_CACHE_DIR=/tmp/pocl-cache\n"
			  "healthy");
	discovery_free(snapshot);
}

static void test_pocl_without_a_linker(void)
{
	char *root CLEANUP_TREE = make_pocl();
	char *linker CLEANUP_FREE = text_format("%s/usr/bin/ld", root);
	UNIT_INT(remove(linker), 0);
	struct discovery_snapshot *snapshot = take(root);
	const struct discovery_device *device = discovery_find(snapshot, "pocl");
	if (device == NULL) {
		CU_FAIL("the device is still listed");
	} else {
		UNIT_INT(device->health, DISCOVERY_UNHEALTHY);
		UNIT_CONTAINS(device->health_reason, "/usr/bin/ld");
	}
	UNIT_INT(snapshot->diagnostic_count, 1);
	discovery_free(snapshot);
}

static char *make_mesa(void)
{
	char *root = tree_new();
	if (root == NULL)
		exit(1);
	add_text(root, "usr/share/glvnd/egl_vendor.d/50_mesa.json",
		 "{\"ICD\": {\"library_path\": \"libEGL_mesa.so.0\"}}");
	add_text(root, "usr/share/glvnd/egl_vendor.d/10_nvidia.json",
		 "{\"ICD\": {\"library_path\": \"libEGL_nvidia.so.0\"}}");
	add_library(root, "usr/lib/libEGL_mesa.so.0.0.0", "libEGL_mesa.so.0", "libm.so.6", NULL);
	UNIT_INT(tree_link(root, "usr/lib/libEGL_mesa.so.0", "libEGL_mesa.so.0.0.0", NULL), 0);
	add_library(root, "usr/lib/libm.so.6", "libm.so.6", NULL, NULL);
	add_library(root, "usr/lib/libLLVM.so", "libLLVM.so", NULL, NULL);
	return root;
}

static void expect_mesa(const char *root, const char *renderer)
{
	struct discovery_snapshot *snapshot = take(root);
	char *seen CLEANUP_FREE = describe(discovery_find(snapshot, "llvmpipe"));
	char *wanted CLEANUP_FREE = text_format(
		"llvmpipe 9.8.7-test\n"
		"manifest /usr/share/glvnd/egl_vendor.d/50_mesa.json < "
		"/usr/share/glvnd/egl_vendor.d/50_mesa.json\n"
		"driver-library /usr/lib/libEGL_mesa.so.0 < /usr/lib/libEGL_mesa.so.0.0.0\n"
		"needed-library /usr/lib/libm.so.6 < /usr/lib/libm.so.6\n"
		"device-library %s < %s\n"
		"needed-library /usr/lib/libLLVM.so < /usr/lib/libLLVM.so\n"
		"healthy",
		renderer, renderer);
	UNIT_INT(snapshot->device_count, 1);
	UNIT_INT(snapshot->diagnostic_count, 0);
	UNIT_STRING(seen, wanted);
	if (snapshot->device_count == 1)
		UNIT_STRING(snapshot->devices[0].apis[0], "opengl");
	discovery_free(snapshot);
}

/* The library that renders has two names; of the newer one the drivers in dri/ are stubs. */
static void test_mesa(void)
{
	char *root CLEANUP_TREE = make_mesa();
	add_library(root, "usr/lib/dri/swrast_dri.so", NULL, "libLLVM.so", NULL);
	expect_mesa(root, "/usr/lib/dri/swrast_dri.so");
	add_library(root, "usr/lib/libgallium-25.0.7-2.so", "libgallium-25.0.7-2.so", "libLLVM.so",
		    NULL);
	expect_mesa(root, "/usr/lib/libgallium-25.0.7-2.so");
}

/* Mesa's EGL of a node with GPUs of virtio belongs to the one with 3D; of an incomplete one nothing is taken. */
static void test_mesa_of_hardware(void)
{
	char *root CLEANUP_TREE = make_mesa();
	UNIT_INT(tree_add(root, "virtio", NULL), 0);
	struct discovery_snapshot *incomplete = take(root);
	starved_each(tree_take, root);
	const struct discovery_device *gpu = discovery_find(incomplete, "0000:00:01.0");
	CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
	UNIT_INT(gpu->file_count, 0);
	UNIT_INT(gpu->health, DISCOVERY_HEALTHY);
	discovery_free(incomplete);

	add_library(root, "usr/lib/libgallium-25.0.7-2.so", "libgallium-25.0.7-2.so", "libLLVM.so",
		    NULL);
	struct discovery_snapshot *snapshot = take(root);
	gpu = discovery_find(snapshot, "0000:00:01.0");
	CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
	char *seen CLEANUP_FREE = describe(gpu);
	UNIT_CONTAINS(seen, "\nmanifest /usr/share/glvnd/egl_vendor.d/50_mesa.json < ");
	UNIT_CONTAINS(seen, "\ndriver-library /usr/lib/libEGL_mesa.so.0 < ");
	UNIT_CONTAINS(seen, "\ndevice-library /usr/lib/libgallium-25.0.7-2.so < ");
	UNIT_CONTAINS(seen, "\nhealthy");
	CU_ASSERT_PTR_NULL(discovery_find(snapshot, "llvmpipe"));
	const struct discovery_device *flat = discovery_find(snapshot, "0000:00:03.0");
	CU_ASSERT_PTR_NOT_NULL_FATAL(flat);
	UNIT_INT(flat->file_count, 0);
	discovery_free(snapshot);
}

/* i915 has two Vulkan drivers, for GPUs of different ages: the loader is shown both, and none of another machine. */
static void test_vulkan_of_hardware(void)
{
	static const char *const libraries[] = {"32/libvulkan_intel.so", "libvulkan_intel.so",
						"libvulkan_intel_hasvk.so"};
	static const char both[] =
		"/usr/share/vulkan/icd.d/icd-1.json:/usr/share/vulkan/icd.d/icd-2.json";
	char *root CLEANUP_TREE = tree_new();
	const unsigned bits = own.bits;
	UNIT_INT(tree_add(root, "intel", NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		char *path CLEANUP_FREE = text_format("usr/share/vulkan/icd.d/icd-%zu.json", i);
		char *text CLEANUP_FREE =
			text_format("{\"ICD\": {\"library_path\": \"/usr/lib/%s\"}}", libraries[i]);
		char *library CLEANUP_FREE = text_format("usr/lib/%s", libraries[i]);
		add_text(root, path, text);
		own.bits = i == 0 && bits == 64 ? 32 : i == 0 ? 64 : bits;
		add_library(root, library, NULL, NULL, NULL);
	}
	struct discovery_snapshot *snapshot = take(root);
	const struct discovery_device *gpu = discovery_find(snapshot, "0000:00:02.0");
	CU_ASSERT_PTR_NOT_NULL_FATAL(gpu);
	UNIT_INT(gpu->file_count, 4);
	UNIT_INT(gpu->variable_count, 2);
	UNIT_STRING(gpu->environment[0].value, both);
	UNIT_STRING(gpu->user_mode_driver, "Mesa 9.8.7-test");
	discovery_free(snapshot);
}

static void test_mesa_without_a_renderer(void)
{
	char *root CLEANUP_TREE = make_mesa();
	struct discovery_snapshot *snapshot = take(root);
	const struct discovery_device *device = discovery_find(snapshot, "llvmpipe");
	CU_ASSERT_PTR_NOT_NULL_FATAL(device);
	UNIT_INT(device->health, DISCOVERY_UNHEALTHY);
	UNIT_CONTAINS(device->health_reason, "dri/swrast_dri.so");
	discovery_free(snapshot);
}

/* A plugin that is told where to look, looks nowhere else. */
static void test_other_places(void)
{
	char *root CLEANUP_TREE = make_mesa();
	static const char *const directories[] = {"/opt/vendors", NULL};
	const struct discovery_options options = {.root = root,
						  .egl_vendor_directories = directories};
	struct discovery_snapshot *snapshot = NULL;
	add_library(root, "usr/lib/dri/swrast_dri.so", NULL, "libLLVM.so", NULL);
	UNIT_INT(discovery_take(&options, &snapshot, NULL), 0);
	UNIT_INT(snapshot->device_count, 0);
	discovery_free(snapshot);
	add_text(root, "opt/vendors/broken.json", "{\"ICD\": {}}");
	add_text(root, "opt/vendors/mesa.json",
		 "{\"ICD\": {\"library_path\": \"/usr/lib/libEGL_mesa.so.0\"}}");
	UNIT_INT(discovery_take(&options, &snapshot, NULL), 0);
	UNIT_INT(snapshot->device_count, 1);
	UNIT_INT(snapshot->diagnostic_count, 1);
	if (snapshot->diagnostic_count == 1)
		UNIT_CONTAINS(snapshot->diagnostics[0].message, "ICD.library_path");
	discovery_free(snapshot);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"lavapipe", test_lavapipe},
		{"paths of libraries", test_paths_of_libraries},
		{"a missing need makes it unhealthy", test_a_missing_need_makes_it_unhealthy},
		{"other word sizes are left out", test_other_word_sizes_are_left_out},
		{"hardware drivers are left out", test_hardware_drivers_are_left_out},
		{"PoCL", test_pocl},
		{"PoCL without a linker", test_pocl_without_a_linker},
		{"Mesa's EGL", test_mesa},
		{"Mesa's EGL of hardware", test_mesa_of_hardware},
		{"Vulkan of hardware", test_vulkan_of_hardware},
		{"Mesa's EGL without a renderer", test_mesa_without_a_renderer},
		{"other places", test_other_places},
		CU_TEST_INFO_NULL,
	};
	int code = 1;
	if (elf_read("/proc/self/exe", &own, NULL) == 0)
		code = unit_run("software drivers", tests);
	elf_info_free(&own);
	return code;
}
