/* SPDX-License-Identifier: MIT */
/* Folders of Specs: which files are read, priorities and conflicts. */
#include "containers/cdi/registry.h"
#include "containers/cdi/tests/folders.h"

static char *place_of(const char *name)
{
	char *path = path_join(root, name);
	CU_ASSERT_PTR_NOT_NULL_FATAL(path);
	return path;
}

static void put_text(const char *name, const char *content)
{
	char *path CLEANUP_FREE = place_of(name);
	UNIT_INT(file_write_atomic(path, content, strlen(content), 0644, NULL), 0);
}

static void put(const char *name, const char *device)
{
	char *content CLEANUP_FREE = text_format(
		"{\"cdiVersion\": \"0.3.0\", \"kind\": \"v.com/gpu\", \"devices\": [{\"name\": "
		"\"%s\", \"containerEdits\": {\"env\": [\"A=b\"]}}]}",
		device);
	put_text(name, content);
}

static void empty_folders(void)
{
	text_each (folder, &places) {
		UNIT_INT(file_remove_tree(folder, NULL), 0);
		UNIT_INT(file_make_directories(folder, 0755, NULL), 0);
	}
}

static struct cdi_registry read_all(void)
{
	struct cdi_registry registry = {0};
	struct error err = {0};
	UNIT_INT(cdi_registry_read(&places, &registry, &err), 0);
	UNIT_STRING(err.text, "");
	return registry;
}

static void test_files(void)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	char *folder CLEANUP_FREE = place_of("etc/folder.json");
	empty_folders();
	UNIT_INT(file_make_directories(folder, 0755, NULL), 0);
	put("etc/folder.json/in.json", "inside");
	put("etc/a.json", "a");
	put("etc/b.yaml", "b");
	put("etc/c.json.tmp", "c");
	put("etc/d.yml", "d");
	put_text("run/wrong.json", "{");
	registry = read_all();
	UNIT_INT((long long)registry.count, 3);
	CU_ASSERT_EQUAL_FATAL(registry.count, 3);
	UNIT_STRING(registry.files[0].spec.devices.items[0], "v.com/gpu=a");
	UNIT_STRING(registry.files[1].spec.devices.items[0], "v.com/gpu=b");
	UNIT_INT(registry.files[2].spec.defect, CDI_SYNTAX);
	CU_ASSERT_PTR_NOT_NULL(registry.files[2].why);
	UNIT_INT((long long)registry.files[2].priority, 1);
}

/* The later folder wins, which is no conflict. */
static void test_priority(void)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	empty_folders();
	put("etc/a.json", "a");
	put("run/b.json", "a");
	registry = read_all();
	UNIT_INT((long long)registry.count, 2);
	UNIT_INT((long long)registry.conflicts.count, 0);
}

/* A later folder does not mend it. */
static void test_conflict(void)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	empty_folders();
	put("etc/a.json", "a");
	put("etc/b.json", "a");
	put("run/c.json", "a");
	put("run/d.json", "d");
	registry = read_all();
	UNIT_INT((long long)registry.conflicts.count, 1);
	CU_ASSERT_EQUAL_FATAL(registry.conflicts.count, 1);
	UNIT_CONTAINS(registry.conflicts.items[0], "v.com/gpu=a: in ");
	UNIT_CONTAINS(registry.conflicts.items[0], "a.json and ");
	UNIT_CONTAINS(registry.conflicts.items[0], "b.json");
}

static void test_missing(void)
{
	struct cdi_registry registry CLEANUP(cdi_registry_free) = {0};
	struct text_list missing CLEANUP_TEXT_LIST = {0};
	text_list_take(&missing, place_of("none.json"));
	UNIT_INT(cdi_registry_read(&missing, &registry, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(registry.count, 1);
	UNIT_STRING(cdi_defect_name(registry.files[0].spec.defect), "unreadable");
}

int main(void)
{
	CU_TestInfo tests[] = {{"files", test_files},
			       {"priority", test_priority},
			       {"conflict", test_conflict},
			       {"missing", test_missing},
			       CU_TEST_INFO_NULL};
	return unit_run_in("CDI folders", open_folders, close_folders, tests);
}
