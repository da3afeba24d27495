/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

static char *root;

static int create_root(void)
{
	return file_make_temporary(GPUCERT_BINARY_DIR, "visibility-", &root, NULL);
}

static int remove_root(void)
{
	int code = file_remove_tree(root, NULL);
	free(root);
	return code;
}

static void make_parent(const char *path)
{
	char *parent CLEANUP_FREE = path_directory(path);
	CU_ASSERT_EQUAL_FATAL(file_make_directories(parent, 0755, NULL), 0);
}

static void put(const char *relative, const char *content)
{
	char *path CLEANUP_FREE = path_join(root, relative);
	make_parent(path);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, content, strlen(content), 0640, NULL), 0);
}

static void put_link(const char *relative, const char *target)
{
	char *path CLEANUP_FREE = path_join(root, relative);
	make_parent(path);
	CU_ASSERT_EQUAL_FATAL(symlink(target, path), 0);
}

/* Links to /dev/null and /dev/full stand for device nodes: making some needs privileges. */
static void fill_dev(void)
{
	put_link("dev/dri/renderD129", "/dev/full");
	put_link("dev/dri/renderD128", "/dev/null");
	put_link("dev/dri/card0", "/dev/null");
	put_link("dev/dri/gone", "/nonexistent");
	put_link("dev/dri/card7", "/nonexistent");
	put("dev/nvidia0", "a file, no device");
	put("dev/nvidia-caps/nvidia-cap1", "");
	put_link("dev/dxg", "/dev/null");
	put_link("dev/null", "/dev/null");
	put("dev/dri/by-path/pci-0000:01:00.0-card", "");
}

static void test_nodes_are_listed_in_order(void)
{
	char *dev CLEANUP_FREE = path_join(root, "dev");
	cJSON *nodes CLEANUP_JSON = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(nodes_list(dev, true, &nodes, &err), 0);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(nodes), 6);
	expect_string(nodes, "/0/path", "/dev/dxg");
	expect_string(nodes, "/1/path", "/dev/nvidia0");
	expect_string(nodes, "/2/path", "/dev/dri/card0");
	expect_string(nodes, "/3/path", "/dev/dri/renderD128");
	expect_string(nodes, "/4/path", "/dev/dri/renderD129");
	expect_string(nodes, "/5/path", "/dev/nvidia-caps/nvidia-cap1");
	expect_string(nodes, "/3/kind", "dri-render");
	expect_string(nodes, "/3/type", "character");
	expect_string(nodes, "/3/number", "1:3");
	expect_string(nodes, "/3/open/readWrite", "ok");
	expect_string(nodes, "/3/open/readOnly", "ok");
}

static void test_a_file_is_no_device(void)
{
	char *dev CLEANUP_FREE = path_join(root, "dev");
	cJSON *nodes CLEANUP_JSON = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(nodes_list(dev, true, &nodes, &err), 0);
	expect_string(nodes, "/1/type", "other");
	expect_null(nodes, "/1/number");
	expect_null(nodes, "/1/open/readWrite");
}

static void test_nodes_need_not_be_opened(void)
{
	char *dev CLEANUP_FREE = path_join(root, "dev");
	cJSON *nodes CLEANUP_JSON = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(nodes_list(dev, false, &nodes, &err), 0);
	expect_string(nodes, "/3/type", "character");
	expect_null(nodes, "/3/open/readWrite");
	expect_null(nodes, "/3/open/readOnly");
}

/* /proc/kmsg-like refusals need a driver; a node without any driver behind it answers ENXIO. */
static void test_the_reason_of_a_refusal_is_told(void)
{
	char *path CLEANUP_FREE = path_join(root, "refusing/kfd");
	char *dev CLEANUP_FREE = path_join(root, "refusing");
	cJSON *nodes CLEANUP_JSON = NULL;
	struct error err = {0};
	make_parent(path);
	if (mknod(path, S_IFCHR | 0600, (dev_t)(511u << 8)) != 0)
		return; /* no privilege to make nodes */
	CU_ASSERT_EQUAL_FATAL(nodes_list(dev, true, &nodes, &err), 0);
	expect_string(nodes, "/0/number", "511:0");
	const char *reason = string_at(nodes, "/0/open/readOnly");
	/* EACCES where the file system is mounted without devices. */
	CU_ASSERT_TRUE(strcmp(reason, "ENXIO") == 0 || strcmp(reason, "EACCES") == 0);
}

/* The attempt at `path` in a document of reach_try(). */
static const cJSON *attempt_at(const cJSON *reach, const char *path)
{
	json_each (attempt, json_pointer(reach, "/mounts")) {
		if (strcmp(string_at(attempt, "/path"), path) == 0)
			return attempt;
	}
	return NULL;
}

/* In a mount namespace of its own, where a privileged program stands for a container that is not
 * confined: "rw", with nodes in it, and "ro" are mounted folders, "file" a file that is mounted read-only. */
static int reach_unconfined(const char *base)
{
	char *writable CLEANUP_FREE = path_join(base, "rw");
	char *closed CLEANUP_FREE = path_join(base, "ro");
	char *file CLEANUP_FREE = path_join(base, "file");
	char *zero CLEANUP_FREE = path_join(writable, "a");
	char *absent CLEANUP_FREE = path_join(writable, "b");
	cJSON *reach CLEANUP_JSON = NULL;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("tmpfs", writable, "tmpfs", 0, NULL) != 0 ||
	    mount("tmpfs", closed, "tmpfs", MS_RDONLY, NULL) != 0 ||
	    mount(file, file, NULL, MS_BIND, NULL) != 0 ||
	    mount(NULL, file, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) != 0 ||
	    mknod(zero, S_IFCHR | 0600, makedev(1, 5)) != 0 ||
	    mknod(absent, S_IFCHR | 0600, makedev(226, 191)) != 0 ||
	    reach_try(writable, &reach, NULL) != 0)
		return 1;
	const char *of_rw = string_at(attempt_at(reach, writable), "/write");
	const char *of_ro = string_at(attempt_at(reach, closed), "/write");
	/* Its whole file system is read-only, which a remount of the mount does not change. */
	const char *of_ro_again = string_at(attempt_at(reach, closed), "/remount");
	const char *of_file = string_at(attempt_at(reach, file), "/write");
	const char *of_file_again = string_at(attempt_at(reach, file), "/remount");
	return strcmp(of_rw, "ok") == 0 && strcmp(of_ro, "EROFS") == 0 &&
			       strcmp(of_ro_again, "EROFS") == 0 && strcmp(of_file, "EROFS") == 0 &&
			       strcmp(of_file_again, "ok") == 0 &&
			       strcmp(string_at(reach, "/nodes/2/make"), "ok") == 0 &&
			       strcmp(string_at(reach, "/planted/0/number"), "1:5") == 0 &&
			       strcmp(string_at(reach, "/planted/0/write"), "ok") == 0 &&
			       strcmp(string_at(reach, "/planted/1/type"), "character") == 0 &&
			       /* Opened: no driver has that number. */
			       strcmp(string_at(reach, "/planted/1/read"), "ENXIO") == 0 &&
			       attempt_at(reach, "/proc") == NULL
		       ? 0
		       : 2;
}

static void test_what_is_not_confined_is_told(void)
{
	char *base CLEANUP_FREE = path_join(root, "reach");
	int status = 0;
	put("reach/rw/x", "");
	put("reach/ro/x", "");
	put("reach/file", "");
	pid_t child = fork();
	if (child == 0)
		_exit(unshare(CLONE_NEWNS) == 0 ? reach_unconfined(base) : 77);
	CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFEXITED(status));
	if (WEXITSTATUS(status) != 77) /* no privilege to mount */
		CU_ASSERT_EQUAL(WEXITSTATUS(status), 0);
}

static void test_trees_are_made(void)
{
	fill_dev();
}

static void test_a_missing_place_holds_no_nodes(void)
{
	cJSON *nodes CLEANUP_JSON = NULL;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(nodes_list("/nonexistent", true, &nodes, &err), 0);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(nodes), 0);
}

static void test_variables_that_steer_are_removed(void)
{
	static const char *const steering[] = {"VK_DRIVER_FILES", "NVIDIA_VISIBLE_DEVICES",
					       "LD_PRELOAD",	  "POCL_CACHE_DIR",
					       "HWLOC_XMLFILE",	  "ANY_OTHER"};
	static const char *const others[] = {"PATH", "HOME", "LD_LIBRARY_PATH", "SHELL"};
	for (size_t i = 0; i < ARRAY_SIZE(steering); i++)
		(void)setenv(steering[i], "", 1);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		(void)setenv(others[i], "1", 1);
	CU_ASSERT_TRUE(steering_remove());
	for (size_t i = 0; i < ARRAY_SIZE(steering); i++)
		CU_ASSERT_PTR_NULL(getenv(steering[i]));
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		CU_ASSERT_PTR_NOT_NULL(getenv(others[i]));
	CU_ASSERT_FALSE(steering_remove());
}

static void test_caches_have_a_folder_of_the_probe(void)
{
	char *folder CLEANUP_FREE = steering_make_caches();
	CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
	CU_ASSERT_TRUE(file_exists(folder));
	CU_ASSERT_STRING_EQUAL(getenv("POCL_CACHE_DIR"), folder);
	CU_ASSERT_EQUAL(file_remove_tree(folder, NULL), 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"trees for the tests are made", test_trees_are_made},
		{"nodes are listed in order", test_nodes_are_listed_in_order},
		{"a file is no device", test_a_file_is_no_device},
		{"nodes need not be opened", test_nodes_need_not_be_opened},
		{"the reason of a refusal is told", test_the_reason_of_a_refusal_is_told},
		{"what is not confined is told", test_what_is_not_confined_is_told},
		{"a missing place holds no nodes", test_a_missing_place_holds_no_nodes},
		{"only an image's own variables stay", test_variables_that_steer_are_removed},
		{"caches have a folder of the probe", test_caches_have_a_folder_of_the_probe},
		CU_TEST_INFO_NULL,
	};
	int code = create_root();
	if (code != 0)
		return 2;
	code = unit_run("visibility", tests);
	return remove_root() == 0 ? code : 2;
}
