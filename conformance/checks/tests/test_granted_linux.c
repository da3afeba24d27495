/* SPDX-License-Identifier: MIT */
/* Devices are recognised by the numbers of their nodes and by the identity and content of their
 * drivers' files, whatever they are called. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "conformance/checks/granted.h"
#include "conformance/checks/node_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Two cards with a node of their own and one that both share, two software drivers that share a
 * library. */
struct fixture {
	char *folder;
	struct text_list strings;
	struct discovery_file files[2][3];
	struct discovery_node nodes[2][2];
	struct discovery_device devices[4];
	struct discovery_snapshot node;
	struct granted_reader *reader;
};

static struct fixture fixture;

static const char *at(const char *name)
{
	char *path = path_join(fixture.folder, name);
	text_list_take(&fixture.strings, path);
	return path;
}

static const char *write_file(const char *name, const char *content)
{
	const char *path = at(name);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, content, strlen(content), 0644, NULL), 0);
	return path;
}

static const char *make_folder(const char *name)
{
	CU_ASSERT_EQUAL_FATAL(file_make_directories(at(name), 0755, NULL), 0);
	return at(name);
}

static const char *make_node(const char *name, unsigned minor)
{
	const char *path = at(name);
	(void)unlink(path);
	CU_ASSERT_EQUAL_FATAL(mknod(path, S_IFCHR | 0600, makedev(226, minor)), 0);
	return path;
}

static const char *make_link(const char *target, const char *name)
{
	CU_ASSERT_EQUAL_FATAL(symlink(target, at(name)), 0);
	return at(name);
}

static void fill_card(size_t index, const char *id)
{
	struct discovery_device *device = &fixture.devices[index];
	device->id = id;
	device->nodes = fixture.nodes[index];
	device->node_count = 2;
	fixture.nodes[index][0].path = at(index == 0 ? "renderD128" : "renderD129");
	fixture.nodes[index][1].path = at("control");
}

static void fill_driver(size_t index, const char *id)
{
	static const char *const origins[] = {"manifest", "driver-library", "needed-library"};
	struct discovery_device *device = &fixture.devices[2 + index];
	char *folder = text_format("lib/%s", id);
	device->id = id;
	device->files = fixture.files[index];
	device->file_count = 3;
	(void)make_folder(folder);
	for (size_t i = 0; i < 3; i++) {
		char *name = text_format("%s/%s", folder, origins[i]);
		char *content = text_format("%s of %s", origins[i], i < 2 ? id : "both");
		fixture.files[index][i].origin = origins[i];
		fixture.files[index][i].source =
			i < 2 ? write_file(name, content) : write_file("lib/needed", content);
		free(name);
		free(content);
	}
	free(folder);
}

static void test_open(void)
{
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "gpucert-grant-", &fixture.folder, &err),
			      0);
	fixture.node = (struct discovery_snapshot){
		.system = {.os = "linux"}, .devices = fixture.devices, .device_count = 4};
	fill_card(0, "card-a");
	fill_card(1, "card-b");
	fill_driver(0, "soft-a");
	fill_driver(1, "soft-b");
	if (geteuid() == 0) {
		(void)make_node("renderD128", 128);
		(void)make_node("renderD129", 129);
		(void)make_node("control", 0);
	}
	fixture.reader = granted_reader_new(&fixture.node);
}

static void test_close(void)
{
	granted_reader_free(&fixture.reader);
	text_list_free(&fixture.strings);
	CU_ASSERT_EQUAL(file_remove_tree(fixture.folder, NULL), 0);
	free(fixture.folder);
}

static struct granted of_mounts(const char *const *sources)
{
	struct grant_entry mounts[4] = {0};
	struct grant grant = {.mounts = {mounts, 0}};
	for (; sources[grant.mounts.count] != NULL; grant.mounts.count++)
		mounts[grant.mounts.count] = (struct grant_entry){
			.container_path = "/opt/x", .host_path = sources[grant.mounts.count]};
	return granted_read(fixture.reader, &grant);
}

static struct granted of_node(const char *path)
{
	struct grant_entry device = {.container_path = "/dev/x", .host_path = path};
	struct grant grant = {.devices = {&device, 1}};
	return granted_read(fixture.reader, &grant);
}

/* `index` of the one device; -1: none. */
static void expect_device(struct granted granted, int index, enum granted_source source)
{
	CU_ASSERT_EQUAL(granted.source, source);
	CU_ASSERT_EQUAL_FATAL(granted.count, index < 0 ? 0 : 1);
	if (index >= 0)
		CU_ASSERT_PTR_EQUAL(granted.devices[0], &fixture.devices[index]);
}

static void expect_mount(const char *source, int index)
{
	const char *const sources[] = {source, NULL};
	expect_device(of_mounts(sources), index, index >= 0 ? GRANTED_READ : GRANTED_UNKNOWN);
}

static void test_a_node_counts_by_its_number(void)
{
	if (geteuid() != 0)
		return;
	expect_device(of_node(at("renderD128")), 0, GRANTED_READ);
	expect_device(of_node(make_node("another-name", 129)), 1, GRANTED_READ);
	expect_device(of_node(make_link(at("renderD129"), "by-path")), 1, GRANTED_READ);
	/* The name of one device on the number of another. */
	expect_device(of_node(make_link(at("renderD129"), "renderD128-in-name-only")), 1,
		      GRANTED_READ);
	expect_device(of_node(at("control")), -1, GRANTED_UNKNOWN);
	expect_device(of_node("/dev/null"), -1, GRANTED_UNKNOWN);
	expect_device(of_node(at("missing")), -1, GRANTED_UNKNOWN);
}

static void test_a_file_counts_by_any_path(void)
{
	expect_mount(fixture.files[0][1].source, 2);
	expect_mount(make_link(fixture.files[1][1].source, "libdriver.so"), 3);
	CU_ASSERT_EQUAL(link(fixture.files[0][0].source, at("hard-link")), 0);
	expect_mount(at("hard-link"), 2);
	expect_mount(write_file("copy", "driver-library of soft-b"), 3);
	expect_mount(write_file("rewritten", "driver-library of soft-c"), -1);
	expect_mount(fixture.files[0][2].source, -1);
}

static void test_a_folder_counts_by_what_lies_in_it(void)
{
	const char *both[] = {at("lib"), NULL};
	const char *named[] = {at("lib"), fixture.files[1][0].source, NULL};
	expect_mount(at("lib/soft-a"), 2);
	(void)make_folder("driver-root/deep");
	(void)write_file("driver-root/deep/driver.so", "driver-library of soft-b");
	(void)write_file("driver-root/deep/manifest", "rewritten");
	expect_mount(at("driver-root"), 3);
	expect_mount(make_link(at("driver-root"), "driver-link"), 3);
	expect_device(of_mounts(both), -1, GRANTED_UNKNOWN);
	expect_device(of_mounts(named), 3, GRANTED_READ);
	expect_mount(make_folder("empty"), -1);
}

static void test_two_devices_are_two(void)
{
	const char *const sources[] = {fixture.files[0][0].source, fixture.files[1][1].source,
				       NULL};
	struct granted granted = of_mounts(sources);
	CU_ASSERT_EQUAL(granted.source, GRANTED_READ);
	CU_ASSERT_EQUAL(granted.count, 2);
}

static void test_what_only_a_runtime_understands_is_unknown(void)
{
	struct grant_entry env = {.name = "NVIDIA_VISIBLE_DEVICES", .value = "GPU-1"};
	struct grant_entry cdi = {.name = "example.com/gpu=0"};
	struct grant grant = {.envs = {&env, 1}};
	expect_device(granted_read(fixture.reader, &grant), -1, GRANTED_UNKNOWN);
	CU_ASSERT_TRUE(granted_read(fixture.reader, &grant).needs_runtime);
	grant = (struct grant){.cdi_devices = {&cdi, 1}};
	expect_device(granted_read(fixture.reader, &grant), -1, GRANTED_UNKNOWN);
	grant = (struct grant){0};
	expect_device(granted_read(fixture.reader, &grant), -1, GRANTED_NOTHING);
}

/* What this process has read so far. */
static unsigned long long bytes_read(void)
{
	char *io CLEANUP_FREE = NULL;
	unsigned long long bytes = 0;
	CU_ASSERT_EQUAL_FATAL(file_read("/proc/self/io", 4096, &io, NULL, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(sscanf(io, "rchar: %llu", &bytes), 1);
	return bytes;
}

/* So many answers cost little more than one. */
static void test_a_file_is_read_once(void)
{
	enum { ANSWERS = 1000, NOISE = 8192 };
	const char *const sources[] = {at("copy"), NULL};
	unsigned long long began = bytes_read();
	for (size_t i = 0; i < ANSWERS; i++)
		expect_device(of_mounts(sources), 3, GRANTED_READ);
	CU_ASSERT_TRUE(bytes_read() - began < NOISE);
}

/* By whatever path it was opened; of a device that hardly anybody opens. */
static void test_open_nodes_are_counted(void)
{
	const char *path = at("full");
	CU_ASSERT_EQUAL_FATAL(mknod(path, S_IFCHR | 0600, makedev(1, 7)), 0);
	const size_t before = node_file_count_open(path);
	const int first = open("/dev/full", O_WRONLY | O_CLOEXEC);
	const int second = dup(first);
	CU_ASSERT_TRUE(first >= 0 && second >= 0);
	CU_ASSERT_EQUAL(node_file_count_open(path), before + 2);
	(void)close(first);
	(void)close(second);
	CU_ASSERT_EQUAL(node_file_count_open(path), before);
	CU_ASSERT_EQUAL(node_file_count_open(at("absent")), 0);
}

UNIT_MAIN("grant-linux", {"a node is made", test_open},
	  {"a node counts by its number", test_a_node_counts_by_its_number},
	  {"a file counts by any path", test_a_file_counts_by_any_path},
	  {"a folder counts by what lies in it", test_a_folder_counts_by_what_lies_in_it},
	  {"two devices are two", test_two_devices_are_two},
	  {"what only a runtime understands is unknown",
	   test_what_only_a_runtime_understands_is_unknown},
	  {"a file is read once", test_a_file_is_read_once},
	  {"open nodes are counted", test_open_nodes_are_counted},
	  {"the node is removed", test_close})
