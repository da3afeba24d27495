/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/visibility/environment.h"
#include "workloads/visibility/nodes.h"
#include "workloads/visibility/sysfs.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <string.h>
#include <sys/stat.h>
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
	expect_string(nodes, "/1/mode", "0640");
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

static void fill_sys(void)
{
	put("sys/devices/pci0000:00/0000:00:02.0/vendor", "0x8086\n");
	put("sys/devices/pci0000:00/0000:00:02.0/device", "0x9a49\n");
	put_link("sys/devices/pci0000:00/0000:00:02.0/driver", "../../../bus/pci/drivers/i915");
	put("sys/bus/pci/drivers/i915/uevent", "");
	put("sys/devices/virtual/vkms/uevent", "");
	put("sys/class/drm/card0/dev", "226:0\n");
	put_link("sys/class/drm/card0/device", "../../../devices/pci0000:00/0000:00:02.0");
	put("sys/class/drm/renderD128/dev", "226:128\n");
	put_link("sys/class/drm/renderD128/device", "../../../devices/pci0000:00/0000:00:02.0");
	put("sys/class/drm/card0-HDMI-A-1/status", "disconnected\n");
	put("sys/class/drm/version", "drm 1.1.0 20060810\n");
	put("sys/class/drm/card1/dev", "226:1\n");
	put_link("sys/class/drm/card1/device", "../../../devices/virtual/vkms");
	put("proc/driver/nvidia/gpus/0000:65:00.0/information", "");
	put("proc/driver/nvidia/gpus/00010000:65:00.0/information", "");
	put("proc/driver/nvidia/gpus/power/information", "");
}

static void test_trees_are_made(void)
{
	fill_dev();
	fill_sys();
}

static void test_sysfs_tells_cards_and_their_devices(void)
{
	char *sys CLEANUP_FREE = path_join(root, "sys");
	char *proc CLEANUP_FREE = path_join(root, "proc");
	cJSON *sysfs CLEANUP_JSON = NULL;
	struct error err = {0};

	CU_ASSERT_EQUAL_FATAL(sysfs_list(sys, proc, &sysfs, &err), 0);
	expect_count(sysfs, "/drm", 3);
	expect_string(sysfs, "/drm/0/name", "card0");
	expect_string(sysfs, "/drm/0/number", "226:0");
	expect_string(sysfs, "/drm/0/vendorId", "0x8086");
	expect_string(sysfs, "/drm/0/deviceId", "0x9a49");
	expect_string(sysfs, "/drm/0/pciAddress", "0000:00:02.0");
	expect_string(sysfs, "/drm/0/driver", "i915");
	expect_string(sysfs, "/drm/1/name", "card1");
	expect_null(sysfs, "/drm/1/pciAddress");
	expect_null(sysfs, "/drm/1/vendorId");
	expect_null(sysfs, "/drm/1/driver");
	expect_string(sysfs, "/drm/2/name", "renderD128");
	expect_count(sysfs, "/nvidia", 2);
	expect_string(sysfs, "/nvidia/0", "0000:65:00.0");
	expect_string(sysfs, "/nvidia/1", "00010000:65:00.0");
}

static void test_missing_places_are_null(void)
{
	cJSON *sysfs CLEANUP_JSON = NULL;
	cJSON *nodes CLEANUP_JSON = NULL;
	struct error err = {0};

	CU_ASSERT_EQUAL_FATAL(sysfs_list("/nonexistent", "/nonexistent", &sysfs, &err), 0);
	expect_null(sysfs, "/drm");
	expect_null(sysfs, "/nvidia");
	CU_ASSERT_EQUAL_FATAL(nodes_list("/nonexistent", true, &nodes, &err), 0);
	CU_ASSERT_EQUAL(cJSON_GetArraySize(nodes), 0);
}

static void test_the_environment_is_chosen_and_sorted(void)
{
	const char *const variables[] = {
		"VK_DRIVER_FILES=/a.json",
		"SHELL=/bin/sh",
		"NVIDIA_VISIBLE_DEVICES=GPU-1=2",
		"VK_DRIVER_FILES=/second.json",
		"NVIDIA_API_KEY=abc",
		"VKANYTHING=1",
		"VK_ICD_FILENAMES=\xff",
		"LD_PRELOADED=1",
		"LD_PRELOAD=",
		"vk_driver_files=1",
		"VK_\xff=1",
		"no equals sign",
		"=",
		NULL,
	};
	cJSON *environment CLEANUP_JSON = NULL;
	char *text CLEANUP_FREE = NULL;
	struct error err = {0};

	CU_ASSERT_EQUAL_FATAL(environment_list(variables, &environment, &err), 0);
	text = json_print_compact(environment);
	CU_ASSERT_STRING_EQUAL(text, "{\"LD_PRELOAD\":\"\",\"NVIDIA_API_KEY\":\"(hidden)\","
				     "\"NVIDIA_VISIBLE_DEVICES\":\"GPU-1=2\","
				     "\"VK_DRIVER_FILES\":\"/a.json\","
				     "\"VK_ICD_FILENAMES\":\"\xef\xbf\xbd\"}");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"trees for the tests are made", test_trees_are_made},
		{"nodes are listed in order", test_nodes_are_listed_in_order},
		{"a file is no device", test_a_file_is_no_device},
		{"nodes need not be opened", test_nodes_need_not_be_opened},
		{"the reason of a refusal is told", test_the_reason_of_a_refusal_is_told},
		{"sysfs tells cards and their devices", test_sysfs_tells_cards_and_their_devices},
		{"missing places are null", test_missing_places_are_null},
		{"the environment is chosen and sorted", test_the_environment_is_chosen_and_sorted},
		CU_TEST_INFO_NULL,
	};
	int code = create_root();

	if (code != 0)
		return 2;
	code = unit_run("visibility", tests);
	return remove_root() == 0 ? code : 2;
}
