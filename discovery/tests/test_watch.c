/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "discovery/tests/tree.h"

#include <gpucert/discovery.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READY_MS = 300000, NO_POLL = 0, QUICK_POLL_MS = 10 };

/* A watch on a root, and whether its descriptor is ready at once or within some time. */
static struct discovery_watch *watch_open(const char *root, unsigned poll_ms)
{
	const struct discovery_options options = {.root = root};
	struct discovery_watch *watch = NULL;
	struct error err = {0};
	if (discovery_watch_open(&options, poll_ms, &watch, &err) < 0) {
		(void)printf("%s\n", err.text);
		exit(1);
	}
	return watch;
}

static bool watch_is_ready(const struct discovery_watch *watch, int timeout_ms)
{
	struct pollfd wait = {.fd = (int)discovery_watch_handle(watch), .events = POLLIN};
	return poll(&wait, 1, timeout_ms) == 1;
}

static void write_file(const char *root, const char *path, const char *content)
{
	UNIT_INT(tree_file(root, path, content, strlen(content), NULL), 0);
}

static void remove_file(const char *root, const char *path)
{
	char *full CLEANUP_FREE = text_format("%s/%s", root, path);
	UNIT_INT(unlink(full), 0);
}

static void test_manifests(void)
{
	char *root CLEANUP_TREE = tree_new();
	write_file(root, "usr/share/vulkan/icd.d/a.json", "{}");
	struct discovery_watch *watch = watch_open(root, NO_POLL);
	CU_ASSERT_FALSE(watch_is_ready(watch, 0));
	CU_ASSERT_FALSE(discovery_watch_changed(watch));
	write_file(root, "usr/share/vulkan/icd.d/b.json", "{}");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	CU_ASSERT_FALSE(watch_is_ready(watch, 0));
	CU_ASSERT_FALSE(discovery_watch_changed(watch));
	write_file(root, "usr/share/vulkan/icd.d/b.json", "{ }");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	remove_file(root, "usr/share/vulkan/icd.d/a.json");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	discovery_watch_close(watch);
}

/* Events that tell of nothing that discovery reads wake the watcher, and change nothing. */
static void test_other_files_change_nothing(void)
{
	char *root CLEANUP_TREE = tree_new();
	write_file(root, "usr/share/vulkan/icd.d/a.json", "{}");
	write_file(root, "dev/null", "");
	struct discovery_watch *watch = watch_open(root, NO_POLL);
	write_file(root, "usr/share/vulkan/icd.d/README", "text");
	write_file(root, "dev/ttyS9", "");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_FALSE(discovery_watch_changed(watch));
	CU_ASSERT_FALSE(watch_is_ready(watch, 0));
	discovery_watch_close(watch);
}

/* Directories that do not exist yet are found when they come, and again when they went and come
 * back. */
static void test_directories_that_come_later(void)
{
	char *root CLEANUP_TREE = tree_new();
	char *vendors CLEANUP_FREE = text_format("%s/etc/OpenCL/vendors", root);
	struct discovery_watch *watch = watch_open(root, NO_POLL);
	for (int round = 0; round < 2; round++) {
		write_file(root, "etc/OpenCL/vendors/pocl.icd", "libpocl.so\n");
		CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
		CU_ASSERT_TRUE(discovery_watch_changed(watch));
		remove_file(root, "etc/OpenCL/vendors/pocl.icd");
		CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
		CU_ASSERT_TRUE(discovery_watch_changed(watch));
		UNIT_INT(rmdir(vendors), 0);
		CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
		CU_ASSERT_FALSE(discovery_watch_changed(watch));
	}
	discovery_watch_close(watch);
}

static void test_device_nodes(void)
{
	char *root CLEANUP_TREE = tree_new();
	write_file(root, "dev/dri/renderD128", "");
	struct discovery_watch *watch = watch_open(root, NO_POLL);
	write_file(root, "dev/dri/renderD129", "");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	write_file(root, "dev/nvidia0", "");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	remove_file(root, "dev/dri/renderD128");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	discovery_watch_close(watch);
}

/* sysfs tells of no event by inotify: the timer wakes, and the change is seen. */
static void test_poll(void)
{
	char *root CLEANUP_TREE = tree_new();
	struct discovery_watch *watch = watch_open(root, QUICK_POLL_MS);
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_FALSE(discovery_watch_changed(watch));
	write_file(root, "sys/class/drm/renderD128", "");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	discovery_watch_close(watch);
}

static void test_recorded_node(void)
{
	char *root CLEANUP_TREE = tree_new();
	char *path CLEANUP_FREE = text_format("%s/node.json", root);
	const struct discovery_options options = {.recorded_node = path};
	const struct discovery_options missing = {.recorded_node = "/nonexistent/node.json"};
	struct discovery_watch *watch = NULL;
	struct error err = {0};
	UNIT_INT(discovery_watch_open(&missing, NO_POLL, &watch, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/nonexistent/node.json");
	write_file(root, "node.json", "{}");
	UNIT_INT(discovery_watch_open(&options, NO_POLL, &watch, &err), 0);
	if (watch == NULL)
		return;
	CU_ASSERT_FALSE(watch_is_ready(watch, 0));
	write_file(root, "node.json", "{\"a\": 1}");
	CU_ASSERT_TRUE(watch_is_ready(watch, READY_MS));
	CU_ASSERT_TRUE(discovery_watch_changed(watch));
	discovery_watch_close(watch);
}

/* The live system: opens, has nothing to tell by itself, closes. */
static void test_live(void)
{
	struct discovery_watch *watch = NULL;
	UNIT_INT(discovery_watch_open(NULL, NO_POLL, &watch, NULL), 0);
	if (watch != NULL)
		CU_ASSERT_TRUE(discovery_watch_handle(watch) >= 0);
	discovery_watch_close(watch);
	discovery_watch_close(NULL);
}

UNIT_MAIN("watch", {"manifests", test_manifests},
	  {"other files change nothing", test_other_files_change_nothing},
	  {"directories that come later", test_directories_that_come_later},
	  {"device nodes", test_device_nodes}, {"poll", test_poll},
	  {"a recorded node", test_recorded_node}, {"the live system", test_live})
