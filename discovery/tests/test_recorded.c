/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/tests/starved.h"
#include "base/tests/unit.h"
#include "discovery/builder.h"
#include "discovery/tests/tree.h"

#include <stdlib.h>

static const char nodes_directory[] = GPUCERT_SOURCE_DIR "/discovery/nodes";

static const struct discovery_filter everything = {
	.include_integrated = true,
	.include_detachable = true,
};

/* What recorded_parse() says about a document: "" when it takes it. */
static void expect_error(const char *document, const char *wanted)
{
	struct builder builder CLEANUP_BUILDER = {0};
	struct error err = {0};
	(void)recorded_parse(document, strlen(document), &builder, &err);
	UNIT_STRING(err.text, wanted);
	UNIT_INT(err.code, wanted[0] != '\0' ? ERROR_FORMAT : 0);
}

/* The same for a device that has all it must have, and `members` behind. */
static void expect_device_error(const char *members, const char *wanted)
{
	char *document CLEANUP_FREE = text_format(
		"{\"schema\": \"gpucert-node/1\", \"system\": {\"os\": \"linux\"}, \"devices\": ["
		"{\"id\": \"a\", \"kind\": \"display\", \"integrated\": false, \"detachable\": "
		"false,\"display\": true, \"compute\": true, \"health\": \"healthy\"},"
		"{\"kind\": \"display\", \"integrated\": false, \"detachable\": false,"
		"\"display\": true, \"compute\": true, \"health\": \"healthy\", %s}]}",
		members);
	expect_error(document, wanted);
}

static void test_documents_that_are_refused(void)
{
	expect_error("", "line 1, column 1: not valid JSON");
	expect_error("[]", "expected object");
	expect_error("{}", "schema: missing, expected string");
	expect_error("{\"schema\": \"gpucert-node/2\"}",
		     "schema: expected \"gpucert-node/1\"; a newer version needs a newer gpucert");
	expect_error("{\"schema\": \"gpucert-node/1\", \"system\": {\"os\": \"linux\"}}",
		     "devices: missing, expected array");
	expect_error("{\"schema\": \"gpucert-node/1\", \"system\": {\"os\": \"linux\"}, "
		     "\"devices\": [7]}",
		     "devices[0]: expected object");
	expect_error("{\"schema\": \"gpucert-node/1\", \"system\": {\"os\": \"linux\"}, "
		     "\"devices\": [], \"diagnostics\": [{\"place\": \"x\"}]}",
		     "diagnostics[0].message: missing, expected string");
	expect_error("{\"schema\": \"gpucert-node/1\", \"system\": {\"os\": \"linux\"}, "
		     "\"devices\": []}",
		     "");
}

static void test_devices_that_are_refused(void)
{
	expect_device_error("\"id\": \"b\"", "");
	expect_device_error("\"id\": \"a\"", "devices[1].id: another device has the id a");
	expect_device_error("\"id\": \"\"",
			    "devices[1].id: expected 1 to 55 characters of [A-Za-z0-9._:-]");
	expect_device_error("\"id\": \"a b\"",
			    "devices[1].id: expected 1 to 55 characters of [A-Za-z0-9._:-]");
	expect_device_error("\"id\": \"b\", \"speed\": 9", "devices[1].speed: unknown member");
	expect_device_error("\"id\": \"b\", \"luid\": 1.5", "devices[1].luid: expected integer");
	expect_device_error("\"id\": \"b\", \"numaNode\": -1",
			    "devices[1].numaNode: -1 is outside 0 to 2147483647");
	expect_device_error("\"id\": \"b\", \"pci\": {\"vendor\": \"10de\"}",
			    "devices[1].pci.vendor: expected \"0x\" and at most 4 digits");
	expect_device_error("\"id\": \"b\", \"pci\": {\"revision\": \"0x100\"}",
			    "devices[1].pci.revision: expected \"0x\" and at most 2 digits");
	expect_device_error("\"id\": \"b\", \"memory\": {\"dedicated\": -5}",
			    "devices[1].memory.dedicated: -5 is outside 0 to 9007199254740992");
	expect_device_error("\"id\": \"b\", \"apis\": [\"vulkan\", \"\"]",
			    "devices[1].apis[1]: expected the name of an API");
	expect_device_error("\"id\": \"b\", \"environment\": {\"A=B\": \"x\"}",
			    "devices[1].environment.A=B: not the name of an environment variable");
	expect_device_error("\"id\": \"b\", \"environment\": {\"A\": 1}",
			    "devices[1].environment.A: expected string");
}

static void test_files_and_nodes_that_are_refused(void)
{
	expect_device_error("\"id\": \"b\", \"files\": [{\"source\": \"x\"}]",
			    "devices[1].files[0].source: expected an absolute path");
	expect_device_error("\"id\": \"b\", \"files\": [{\"source\": \"/a/../b\"}]",
			    "devices[1].files[0].source: a path may not contain \"..\"");
	expect_device_error("\"id\": \"b\", \"files\": [{\"source\": \"C:\\\\a\\\\..\"}]",
			    "devices[1].files[0].source: a path may not contain \"..\"");
	expect_device_error("\"id\": \"b\", \"files\": [{\"source\": \"/a..b\", \"destination\": "
			    "\"C:\\\\x.dll\", \"origin\": \"x\", \"bits\": 16}]",
			    "devices[1].files[0].bits: expected 64, 32 or 0");
	expect_device_error("\"id\": \"b\", \"nodes\": [{\"path\": \"/dev/x\", "
			    "\"containerPath\": \"/dev/x\", \"permissions\": \"rx\"}]",
			    "devices[1].nodes[0].permissions: expected letters of \"rwm\"");
}

static void test_choices_are_named(void)
{
	expect_error(
		"{\"schema\": \"gpucert-node/1\", \"system\": {\"os\": \"linux\"}, \"devices\": "
		"[{\"id\": \"a\", \"kind\": \"toaster\"}]}",
		"devices[0].kind: expected \"display\", \"compute\", \"software\" or \"virtual\"");
}

static void test_a_file_is_named(void)
{
	const struct discovery_options missing = {.recorded_node = "/nonexistent/node.json"};
	char *root CLEANUP_TREE = tree_new();
	char *path CLEANUP_FREE = text_format("%s/bad.json", root);
	const struct discovery_options bad = {.recorded_node = path};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};
	UNIT_INT(discovery_take(&missing, &snapshot, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/nonexistent/node.json");
	UNIT_INT(tree_file(root, "bad.json", "{\"schema\": 1}", 13, &err), 0);
	UNIT_INT(discovery_take(&bad, &snapshot, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "bad.json: schema: expected string");
	CU_ASSERT_PTR_NULL(snapshot);
}

/* Every node of the project reads, says that it is recorded, and writes itself again byte by byte.
 */
/* Each is read, and recorded again it is the same. */
static void read_nodes(const char *directory, size_t least)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	UNIT_INT(file_list(directory, &names, NULL), 0);
	CU_ASSERT_TRUE(names.count >= least);
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = text_format("%s/%s", directory, names.items[i]);
		const struct discovery_options options = {.recorded_node = path,
							  .filter = everything};
		struct discovery_snapshot *snapshot = NULL;
		char *wanted CLEANUP_FREE = NULL;
		struct error err = {0};
		UNIT_INT(discovery_take(&options, &snapshot, &err), 0);
		UNIT_STRING(err.text, "");
		if (snapshot == NULL)
			continue;
		char *seen = discovery_to_json(snapshot);
		CU_ASSERT_TRUE(snapshot->recorded);
		UNIT_INT(file_read(path, 1U << 20, &wanted, NULL, NULL), 0);
		UNIT_STRING(seen, wanted);
		discovery_string_free(seen);
		discovery_free(snapshot);
	}
}

static void test_the_nodes_of_the_project(void)
{
	read_nodes(nodes_directory, 4);
}

/* As commit c2741c6, the first to record nodes, wrote them: members were only added since (docs/versions.md). */
static void test_the_first_nodes(void)
{
	read_nodes(GPUCERT_SOURCE_DIR "/discovery/tests/previous", 2);
}

static int take_starved(void *path)
{
	const struct discovery_options options = {.recorded_node = path};
	struct discovery_snapshot *snapshot = NULL;
	int rc = discovery_take(&options, &snapshot, NULL);
	discovery_free(snapshot);
	return rc;
}

static void test_four_tesla_t4(void)
{
	char *path CLEANUP_FREE = text_format("%s/windows-4x-tesla-t4.json", nodes_directory);
	const struct discovery_options options = {.recorded_node = path};
	struct discovery_snapshot *snapshot = NULL;
	starved_each(take_starved, path);
	UNIT_INT(discovery_take(&options, &snapshot, NULL), 0);
	if (snapshot == NULL)
		return;
	UNIT_INT(snapshot->device_count, 4);
	for (size_t i = 0; i < snapshot->device_count; i++) {
		const struct discovery_device *device = &snapshot->devices[i];
		UNIT_INT(device->index, i);
		UNIT_STRING(device->vendor, "NVIDIA");
		UNIT_INT(device->pci_device, 0x1eb8);
		UNIT_INT(device->file_count, 14);
		CU_ASSERT_TRUE(device->display && device->compute);
	}
	UNIT_STRING(snapshot->devices[0].pnp_instance_id,
		    "PCI\\VEN_10DE&DEV_1EB8&SUBSYS_12A210DE&REV_A1\\3&13C0B0C5&1&D8");
	UNIT_STRING(snapshot->devices[0].location_path, "PCIROOT(0)#PCI(1B00)");
	UNIT_INT(snapshot->devices[0].luid, 7048070);
	UNIT_INT(snapshot->devices[1].luid, 7098126);
	discovery_free(snapshot);
}

static void count_change(enum discovery_change change, const struct discovery_device *device,
			 void *user)
{
	struct text *text = user;
	text_addf(text, "%s %s\n", discovery_change_name(change), device->id);
}

static struct discovery_snapshot *parse(const char *devices)
{
	char *document CLEANUP_FREE =
		text_format("{\"schema\": \"gpucert-node/1\", \"system\": {\"os\": \"linux\"}, "
			    "\"devices\": [%s]}",
			    devices);
	struct builder builder CLEANUP_BUILDER = {0};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};
	if (recorded_parse(document, strlen(document), &builder, &err) < 0 ||
	    builder_finish(&builder, &everything, &snapshot, &err) < 0) {
		(void)printf("%s\n", err.text);
		exit(1);
	}
	return snapshot;
}

#define DEVICE(id, more)                                                                           \
	"{\"id\": \"" id "\", \"kind\": \"display\", \"integrated\": false, "                      \
	"\"detachable\": false, \"display\": true, \"compute\": true" more "}"

static void test_changes(void)
{
	static const char healthy[] = DEVICE("a", ", \"health\": \"healthy\"") "," DEVICE(
		"b", ", \"health\": \"healthy\"") "," DEVICE("c", ", \"health\": \"healthy\"");
	static const char other[] = DEVICE("d", ", \"health\": \"healthy\"") "," DEVICE(
		"b", ", \"health\": \"unhealthy\"") "," DEVICE("c", ", \"health\": \"healthy\"");
	struct discovery_snapshot *before = parse(healthy);
	struct discovery_snapshot *after = parse(other);
	struct text text CLEANUP_TEXT = {0};
	UNIT_INT(discovery_changes(before, before, count_change, &text), 0);
	UNIT_STRING(text_string(&text), "");
	UNIT_INT(discovery_changes(before, after, count_change, &text), 3);
	UNIT_STRING(text_string(&text), "removed a\nchanged b\nadded d\n");
	discovery_free(before);
	discovery_free(after);
}

/* One device that differs from a plain one in one member is changed, whichever member it is. */
static void test_every_member_counts_as_change(void)
{
	static const char *const members[] = {
		"\"vendor\": \"x\"",
		"\"description\": \"x\"",
		"\"pci\": {\"address\": \"x\"}",
		"\"pci\": {\"revision\": \"0x1\"}",
		"\"locationPath\": \"x\"",
		"\"luid\": 1",
		"\"pnpInstanceId\": \"x\"",
		"\"driver\": {\"name\": \"x\"}",
		"\"driver\": {\"version\": \"x\"}",
		"\"driver\": {\"key\": \"x\"}",
		"\"driver\": {\"storePath\": \"x\"}",
		"\"memory\": {\"dedicated\": 1}",
		"\"memory\": {\"shared\": 1}",
		"\"numaNode\": 1",
		"\"healthReason\": \"x\"",
		"\"apis\": [\"x\"]",
		"\"nodes\": [{\"path\": \"/\", \"containerPath\": \"/\", \"permissions\": \"r\"}]",
		"\"files\": [{\"source\": \"/x\", \"destination\": \"/x\", \"origin\": \"x\"}]",
		"\"environment\": {\"X\": \"x\"}",
	};
	struct discovery_snapshot *plain = parse(DEVICE("a", ", \"health\": \"healthy\""));
	for (size_t i = 0; i < ARRAY_SIZE(members); i++) {
		char *device CLEANUP_FREE =
			text_format("{\"id\": \"a\", \"kind\": \"display\", \"integrated\": false, "
				    "\"detachable\": false, \"display\": true, \"compute\": true, "
				    "\"health\": \"healthy\", %s}",
				    members[i]);
		struct discovery_snapshot *other = parse(device);
		struct text text CLEANUP_TEXT = {0};
		UNIT_INT(discovery_changes(plain, other, count_change, &text), 1);
		UNIT_STRING(text_string(&text), "changed a\n");
		discovery_free(other);
	}
	discovery_free(plain);
}

static void test_ids_are_made_valid_and_different(void)
{
	struct builder builder CLEANUP_BUILDER = {0};
	static const char text[] =
		"PCI\\VEN_10DE&DEV 1EB8 with a tail that is longer than an id may be";
	static const char *const wanted[] = {
		"PCI-VEN_10DE-DEV-1EB8-with-a-tail-that-is-longer-than-a",
		"PCI-VEN_10DE-DEV-1EB8-with-a-tail-that-is-longer-than-2",
		"PCI-VEN_10DE-DEV-1EB8-with-a-tail-that-is-longer-than-3",
		"x",
		"x-2",
		"-",
	};
	static const char *const texts[] = {text, text, text, "x", "x", ""};
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const char *id = builder_new_id(&builder, texts[i]);
		struct discovery_device *device = builder_add(&builder);
		UNIT_STRING(id, wanted[i]);
		CU_ASSERT_TRUE(device_id_is_valid(id));
		if (device != NULL)
			device->id = id;
	}
}

UNIT_MAIN("recorded nodes", {"documents that are refused", test_documents_that_are_refused},
	  {"devices that are refused", test_devices_that_are_refused},
	  {"files and nodes that are refused", test_files_and_nodes_that_are_refused},
	  {"choices are named", test_choices_are_named}, {"a file is named", test_a_file_is_named},
	  {"the nodes of the project", test_the_nodes_of_the_project},
	  {"the first nodes", test_the_first_nodes}, {"four Tesla T4", test_four_tesla_t4},
	  {"changes", test_changes},
	  {"every member counts as change", test_every_member_counts_as_change},
	  {"ids are made valid and different", test_ids_are_made_valid_and_different})
