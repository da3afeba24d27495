/* SPDX-License-Identifier: MIT */
/*
 * The runtime files of the software drivers of this machine are enough: in an otherwise empty root
 * they make Vulkan and OpenCL work. And they are needed: without some of them it does not. Skipped
 * (77) where the test may not mount, or where neither driver is installed.
 */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "discovery/tests/container/bare_root.h"

#include <unistd.h>

enum { EXIT_SKIP = 77 };

static struct discovery_snapshot *node;

static int run(struct bare_root root, struct text *output)
{
	struct error err = {0};
	int rc = bare_root_run(&root, output, &err);
	if (rc < 0)
		(void)printf("\n%s\n", err.text);
	CU_ASSERT_TRUE(rc >= 0);
	return rc;
}

static int run_vulkan(const struct discovery_device *device, const char *without,
		      struct text *output)
{
	return run((struct bare_root){.program = ENUMERATE_VULKAN,
				      .library = "libvulkan.so.1",
				      .device = device,
				      .without_destination = without},
		   output);
}

static int run_opencl(const char *without_origin, const char *without, struct text *output)
{
	return run((struct bare_root){.program = RUN_OPENCL,
				      .library = "libOpenCL.so.1",
				      .device = discovery_find(node, "pocl"),
				      .without_origin = without_origin,
				      .without_destination = without},
		   output);
}

static void test_vulkan_works(void)
{
	struct text output CLEANUP_TEXT = {0};
	UNIT_INT(run_vulkan(discovery_find(node, "lavapipe"), NULL, &output), 0);
	UNIT_CONTAINS(text_string(&output), "llvmpipe (LLVM");
}

static void test_vulkan_needs_the_files(void)
{
	struct text nothing CLEANUP_TEXT = {0};
	struct text no_llvm CLEANUP_TEXT = {0};
	UNIT_INT(run_vulkan(NULL, NULL, &nothing), 1);
	UNIT_CONTAINS(text_string(&nothing), "vkCreateInstance: -9");
	UNIT_INT(run_vulkan(discovery_find(node, "lavapipe"), "*/libLLVM-*.so.*", &no_llvm), 1);
}

static void test_opencl_works(void)
{
	struct text output CLEANUP_TEXT = {0};
	UNIT_INT(run_opencl(NULL, NULL, &output), 0);
	UNIT_CONTAINS(text_string(&output), "1 Portable Computing Language");
}

static void test_opencl_needs_the_files(void)
{
	static const char *const origins[] = {"manifest",     "driver-library",	 "needed-library",
					      "driver-data",  "device-library",	 "linker",
					      "link-library", "compiler-library"};
	struct text no_libm CLEANUP_TEXT = {0};
	for (size_t i = 0; i < ARRAY_SIZE(origins); i++) {
		struct text output CLEANUP_TEXT = {0};
		int code = run_opencl(origins[i], NULL, &output);
		if (code == 0)
			(void)printf("\nworks without the files of origin %s\n", origins[i]);
		CU_ASSERT_NOT_EQUAL(code, 0);
	}
	/* The OpenCL loader brings no libm, so this proves that drivers must bring it. */
	CU_ASSERT_NOT_EQUAL(run_opencl(NULL, "*/libm.so.6", &no_libm), 0);
}

/* Some files of PoCL were not asked for by their library: they are all found, and none is a guess.
 */
static void test_every_file_exists(void)
{
	for (size_t i = 0; i < node->device_count; i++) {
		const struct discovery_device *device = &node->devices[i];
		UNIT_STRING(device->health_reason, "");
		for (size_t k = 0; k < device->file_count; k++)
			UNIT_INT(access(device->files[k].source, R_OK), 0);
	}
}

static int may_run(struct error *err)
{
	const struct bare_root nothing = {.program = ENUMERATE_VULKAN, .library = "libvulkan.so.1"};
	struct text output CLEANUP_TEXT = {0};
	int rc = discovery_take(NULL, &node, err);
	if (rc == 0 &&
	    (discovery_find(node, "lavapipe") == NULL || discovery_find(node, "pocl") == NULL))
		return error_set(err, ERROR_NOT_FOUND, "lavapipe and PoCL are not both installed");
	return rc < 0 ? rc : bare_root_run(&nothing, &output, err);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"every file exists", test_every_file_exists},
		{"Vulkan works in a bare root", test_vulkan_works},
		{"Vulkan needs the files", test_vulkan_needs_the_files},
		{"OpenCL works in a bare root", test_opencl_works},
		{"OpenCL needs the files", test_opencl_needs_the_files},
		CU_TEST_INFO_NULL,
	};
	struct error err = {0};
	int rc = may_run(&err);
	if (rc == ERROR_PERMISSION || rc == ERROR_NOT_FOUND) {
		(void)printf("skipped: %s\n", err.text);
		discovery_free(node);
		return EXIT_SKIP;
	}
	rc = unit_run("runtime files", tests);
	discovery_free(node);
	return rc;
}
