/* SPDX-License-Identifier: MIT */
/* Files of the controller "dmem" as Linux 6.14 writes them (kernel/cgroup/dmem.c, and the documentation's
 * example), and a folder of such files in the place of a group: no kernel here has the controller. */
#include "containers/inspect/dmem.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"

#include <string.h>

static const char capacity[] = "drm/0000:03:00.0/vram0 8514437120\n"
			       "drm/0000:03:00.0/stolen 67108864\n"
			       "drm/0000:0a:00.0/vram0 17163091968\n";
static const char limits[] = "drm/0000:03:00.0/vram0 1073741824\n"
			     "drm/0000:03:00.0/stolen max\n"
			     "drm/0000:0a:00.0/vram0 max\n";

static void test_what_the_kernel_writes(void)
{
	struct dmem dmem = {0};
	CU_ASSERT_EQUAL_FATAL(dmem_parse(capacity, &dmem, NULL), 0);
	UNIT_INT(dmem.count, 3);
	UNIT_STRING(dmem.regions[1].name, "drm/0000:03:00.0/stolen");
	CU_ASSERT_EQUAL(dmem.regions[2].bytes, 17163091968U);
	CU_ASSERT_EQUAL_FATAL(dmem_parse(limits, &dmem, NULL), 0);
	CU_ASSERT_EQUAL(dmem.regions[0].bytes, 1073741824U);
	CU_ASSERT_EQUAL(dmem.regions[1].bytes, DMEM_NO_LIMIT);
	CU_ASSERT_EQUAL_FATAL(dmem_parse("", &dmem, NULL), 0);
	UNIT_INT(dmem.count, 0);
}

static void test_a_device_has_its_regions(void)
{
	struct dmem dmem = {0};
	CU_ASSERT_EQUAL_FATAL(dmem_parse(capacity, &dmem, NULL), 0);
	UNIT_STRING(dmem_find_device(&dmem, "0000:0a:00.0")->name, "drm/0000:0a:00.0/vram0");
	UNIT_STRING(dmem_find_device(&dmem, "0000:03:00.0")->name, "drm/0000:03:00.0/vram0");
	CU_ASSERT_PTR_NULL(dmem_find_device(&dmem, "0000:0a:00"));
	CU_ASSERT_PTR_NULL(dmem_find_device(&dmem, "0000:0b:00.0"));
	CU_ASSERT_PTR_NULL(dmem_find_device(&dmem, ""));
}

static void test_what_is_malformed_is_named(void)
{
	static const char *const texts[] = {
		"drm/a",      "drm/a \n",    " 5\n",	"drm/a -1\n",
		"drm/a 5x\n", "drm/a 0x5\n", "a b 5\n", "drm/a 18446744073709551616\n",
	};
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		char *text CLEANUP_FREE = text_format("drm/ok 1\n%s", texts[i]);
		struct dmem dmem = {0};
		struct error err = {0};
		UNIT_INT(dmem_parse(text, &dmem, &err), ERROR_FORMAT);
		UNIT_CONTAINS(err.text, "line 2");
	}
}

static void test_regions_are_bounded(void)
{
	struct text text CLEANUP_TEXT = {0};
	struct dmem dmem = {0};
	char name[DMEM_NAME_SIZE + 1] = "";
	for (unsigned i = 0; i <= DMEM_REGIONS_MAX; i++)
		text_addf(&text, "drm/%u 1\n", i);
	UNIT_INT(dmem_parse(text_string(&text), &dmem, NULL), ERROR_LIMIT);
	memset(name, 'x', DMEM_NAME_SIZE);
	char *line CLEANUP_FREE = text_format("%s 1\n", name);
	UNIT_INT(dmem_parse(line, &dmem, NULL), ERROR_FORMAT);
}

static void put(const char *group, const char *file, const char *text)
{
	char *path CLEANUP_FREE = path_join(group, file);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, text, strlen(text), 0600, NULL), 0);
}

static void test_a_limit_is_set_and_read(void)
{
	char *group CLEANUP_FREE = NULL;
	uint64_t bytes = 0;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "dmem-", &group, NULL), 0);
	put(group, "dmem.current", "drm/0000:03:00.0/vram0 12550144\n");
	put(group, "dmem.max", "");
	UNIT_INT(dmem_read(group, "dmem.current", "drm/0000:03:00.0/vram0", &bytes, &err), 0);
	UNIT_INT(bytes, 12550144);
	UNIT_INT(dmem_read(group, "dmem.current", "drm/0000:0a:00.0/vram0", &bytes, &err),
		 ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "no region drm/0000:0a:00.0/vram0");
	UNIT_INT(dmem_limit(group, "drm/0000:03:00.0/vram0", 6275072, &err), 0);
	UNIT_INT(dmem_read(group, "dmem.max", "drm/0000:03:00.0/vram0", &bytes, &err), 0);
	UNIT_INT(bytes, 6275072);
	CU_ASSERT_TRUE(dmem_read(group, "dmem.low", "drm/0000:03:00.0/vram0", &bytes, &err) < 0);
	CU_ASSERT_TRUE(dmem_limit("/nonexistent", "drm/0000:03:00.0/vram0", 1, &err) < 0);
	CU_ASSERT_EQUAL(file_remove_tree(group, NULL), 0);
}

/* Groups below the root get the controller if they lack it. */
static void test_a_group_gets_the_controller(void)
{
	static const char *const before[] = {"", "cpu dmem\n"};
	static const char *const after[] = {"+dmem", "cpu dmem"};
	for (size_t i = 0; i < ARRAY_SIZE(before); i++) {
		char *root CLEANUP_FREE = NULL;
		char *group CLEANUP_FREE = NULL;
		char *line CLEANUP_FREE = NULL;
		bool was_there = false;
		CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "dmem-", &root, NULL), 0);
		char *control CLEANUP_FREE = path_join(root, "cgroup.subtree_control");
		put(root, "cgroup.subtree_control", before[i]);
		UNIT_INT(dmem_make_group(root, "/gpucert-a", &was_there, &group, NULL), 0);
		CU_ASSERT_TRUE(file_is_directory(group));
		CU_ASSERT_EQUAL(was_there, i == 1);
		UNIT_INT(file_read_line(control, &line, NULL), 0);
		UNIT_STRING(line, after[i]);
		CU_ASSERT_EQUAL(file_remove_tree(root, NULL), 0);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"what the kernel writes", test_what_the_kernel_writes},
		{"a device has its regions", test_a_device_has_its_regions},
		{"what is malformed is named", test_what_is_malformed_is_named},
		{"regions are bounded", test_regions_are_bounded},
		{"a limit is set and read", test_a_limit_is_set_and_read},
		{"a group gets the controller", test_a_group_gets_the_controller},
		CU_TEST_INFO_NULL,
	};
	return unit_run("dmem", tests);
}
