/* SPDX-License-Identifier: MIT */
/* Snapshots of root folders of other machines equal the recorded nodes beside them. With the
 * variable GPUCERT_UPDATE_GOLDEN set, the recorded nodes are written anew. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/tests/starved.h"
#include "base/tests/unit.h"
#include "discovery/tests/tree.h"

#include <gpucert/discovery.h>
#include <stdlib.h>

static const struct discovery_filter everything = {
	.include_integrated = true,
	.include_detachable = true,
};

static struct discovery_snapshot *take(const char *root, struct discovery_filter filter)
{
	const struct discovery_options options = {.root = root, .filter = filter};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};
	if (discovery_take(&options, &snapshot, &err) < 0)
		(void)printf("%s\n", err.text);
	if (snapshot == NULL)
		exit(1); /* no test can go on without its subject */
	return snapshot;
}

static char *make(const char *name)
{
	struct error err = {0};
	char *root = tree_new();
	if (root == NULL || tree_add(root, name, &err) < 0) {
		(void)printf("%s\n", err.text);
		exit(1);
	}
	return root;
}

static void expect_golden(const char *name)
{
	char *root CLEANUP_TREE = make(name);
	char *path CLEANUP_FREE =
		text_format("%s/discovery/tests/trees/%s/expected.json", GPUCERT_SOURCE_DIR, name);
	char *wanted CLEANUP_FREE = NULL;
	starved_each(tree_take, root);
	struct discovery_snapshot *snapshot = take(root, everything);
	char *seen = discovery_to_json(snapshot);
	if (seen != NULL && getenv("GPUCERT_UPDATE_GOLDEN") != NULL)
		UNIT_INT(file_write_atomic(path, seen, strlen(seen), 0644, NULL), 0);
	UNIT_INT(file_read(path, 1U << 20, &wanted, NULL, NULL), 0);
	UNIT_STRING(seen, wanted);
	discovery_string_free(seen);
	discovery_free(snapshot);
}

static void test_intel(void)
{
	expect_golden("intel");
}

static void test_amd(void)
{
	expect_golden("amd");
}

static void test_nvidia(void)
{
	expect_golden("nvidia");
}

static void test_mig(void)
{
	expect_golden("mig");
}

static void test_mi300x(void)
{
	expect_golden("mi300x");
}

static void test_intel_max(void)
{
	expect_golden("intel-max");
}

static void test_virtio(void)
{
	expect_golden("virtio");
}

static void test_soc(void)
{
	expect_golden("soc");
}

static void test_broken(void)
{
	expect_golden("broken");
}

/* The values that matter most, spelled out: a golden file can be updated without being read. */
static void test_nvidia_is_joined(void)
{
	char *root CLEANUP_TREE = make("nvidia");
	struct discovery_snapshot *snapshot = take(root, everything);
	CU_ASSERT_EQUAL_FATAL(snapshot->device_count, 2);
	const struct discovery_device *joined = discovery_find(snapshot, "0000:3b:00.0");
	const struct discovery_device *alone = discovery_find(snapshot, "0000:d8:00.0");
	if (joined == NULL || alone == NULL) {
		CU_FAIL_FATAL("both GPUs are there");
		return;
	}
	UNIT_STRING(joined->description, "Tesla T4");
	UNIT_STRING(joined->driver_version, "550.54.15");
	UNIT_STRING(joined->nodes[0].path, "/dev/dri/renderD128");
	UNIT_STRING(alone->nodes[0].path, "/dev/nvidia1");
	UNIT_INT(joined->node_count, 7);
	UNIT_INT(alone->node_count, 5);
	UNIT_INT(joined->numa_node, 0);
	UNIT_INT(alone->numa_node, 1);
	UNIT_INT(alone->pci_device, 0x1eb8);
	UNIT_INT(alone->health, DISCOVERY_HEALTHY);
	UNIT_INT(snapshot->diagnostic_count, 0);
	for (size_t i = 0; i < joined->node_count; i++)
		CU_ASSERT_PTR_NULL(strstr(joined->nodes[i].path, "caps"));
	discovery_free(snapshot);
}

static void test_integrated_and_detachable(void)
{
	char *root CLEANUP_TREE = make("amd");
	struct discovery_snapshot *all = take(root, everything);
	struct discovery_snapshot *fixed = take(root, (struct discovery_filter){0});
	CU_ASSERT_EQUAL_FATAL(all->device_count, 3);
	CU_ASSERT_TRUE(discovery_find(all, "0000:0a:00.0")->integrated);
	CU_ASSERT_TRUE(discovery_find(all, "0000:21:00.0")->detachable);
	CU_ASSERT_FALSE(discovery_find(all, "0000:21:00.0")->integrated);
	CU_ASSERT_FALSE(discovery_find(all, "0000:03:00.0")->integrated);
	CU_ASSERT_EQUAL_FATAL(fixed->device_count, 1);
	UNIT_STRING(fixed->devices[0].id, "0000:03:00.0");
	UNIT_INT(fixed->devices[0].dedicated_memory, 17163091968);
	discovery_free(all);
	discovery_free(fixed);
}

static void test_filters(void)
{
	static const char *const vendors[] = {"amd", NULL};
	static const char *const ids[] = {"0X1002", NULL};
	static const char *const others[] = {"NVIDIA", "0x10de", NULL};
	static const char *const device[] = {"0000:0a:00.0", NULL};
	const struct {
		const char *const *vendors, *const *ids;
		bool display_only, compute_only;
		size_t count;
	} cases[] = {
		{vendors, NULL, false, false, 3}, {ids, NULL, false, false, 3},
		{others, NULL, false, false, 0},  {NULL, device, false, false, 1},
		{NULL, NULL, true, false, 3},	  {NULL, NULL, false, true, 0},
	};
	char *root CLEANUP_TREE = make("amd");
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct discovery_snapshot *snapshot =
			take(root, (struct discovery_filter){
					   .include_integrated = true,
					   .include_detachable = true,
					   .vendors = cases[i].vendors,
					   .ids = cases[i].ids,
					   .display_only = cases[i].display_only,
					   .compute_only = cases[i].compute_only,
				   });
		UNIT_INT(snapshot->device_count, cases[i].count);
		discovery_free(snapshot);
	}
}

/* It separates software devices that have one API each. */
static void test_a_filter_of_apis(void)
{
	static const struct {
		const char *apis[3];
		size_t count;
	} cases[] = {{{"opengl"}, 1},
		     {{"levelzero"}, 3},
		     {{"vulkan", "levelzero"}, 1},
		     {{"cuda"}, 0},
		     {{NULL}, 3}};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct discovery_options options = {
			.recorded_node =
				GPUCERT_SOURCE_DIR "/discovery/tests/trees/intel-max/expected.json",
			.filter = {.apis = cases[i].apis},
		};
		struct discovery_snapshot *snapshot = NULL;
		CU_ASSERT_EQUAL_FATAL(discovery_take(&options, &snapshot, NULL), 0);
		UNIT_INT(snapshot->device_count, cases[i].count);
		discovery_free(snapshot);
	}
}

static void test_an_empty_root_has_no_devices(void)
{
	char *root CLEANUP_TREE = tree_new();
	struct discovery_snapshot *snapshot = take(root, everything);
	UNIT_INT(snapshot->device_count, 0);
	UNIT_INT(snapshot->diagnostic_count, 0);
	discovery_free(snapshot);
}

static void test_a_missing_root_is_an_error(void)
{
	const struct discovery_options options = {.root = "/nonexistent/root"};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};
	UNIT_INT(discovery_take(&options, &snapshot, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/nonexistent/root");
	CU_ASSERT_PTR_NULL(snapshot);
}

UNIT_MAIN("trees", {"intel", test_intel}, {"amd", test_amd}, {"nvidia", test_nvidia},
	  {"a GPU with MIG is its compute instances", test_mig},
	  {"partitions of an MI300X", test_mi300x}, {"compute-only GPUs of Intel", test_intel_max},
	  {"virtio", test_virtio}, {"soc", test_soc}, {"broken", test_broken},
	  {"one GPU of two sources is one device", test_nvidia_is_joined},
	  {"integrated and detachable", test_integrated_and_detachable}, {"filters", test_filters},
	  {"a filter of APIs", test_a_filter_of_apis},
	  {"an empty root has no devices", test_an_empty_root_has_no_devices},
	  {"a missing root is an error", test_a_missing_root_is_an_error})
