/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "conformance/checks/host_places.h"

#include <string.h>
#include <unistd.h>

static const char *given(const char *path, bool read_only)
{
	static char name[256];
	struct host_places *places CLEANUP_HOST_PLACES = NULL;
	const char *place = NULL;
	CU_ASSERT_EQUAL_FATAL(host_places_new("unix:///opt/run/cri.sock", &places, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(host_places_given(places, path, read_only, &place, NULL), 0);
	(void)snprintf(name, sizeof(name), "%s", place != NULL ? place : "nothing");
	return name;
}

static void test_places_are_known(void)
{
	static const struct {
		const char *path, *read_only, *writable;
	} rows[] = {
		{"/", "/", "/"},
		{"/etc", "/etc", "/etc"},
		{"/etc/", "/etc", "/etc"},
		{"/usr/../etc", "/etc", "/etc"},
		{"/etc/OpenCL/vendors/x.icd", "nothing", "nothing"},
		{"/etc/shadow", "/etc/shadow", "/etc/shadow"},
		{"/proc/1/root", "/proc", "/proc"},
		{"/proc/driver/nvidia/gpus", "nothing", "nothing"},
		{"/sys", "/sys", "/sys"},
		{"/sys/class/gpu-of-nobody", "nothing", "/sys"},
		{"/dev", "/dev", "/dev"},
		{"/dev/gpu-of-nobody", "nothing", "nothing"},
		{"/run/containerd/containerd.sock", "/run/containerd", "/run/containerd"},
		{"/var/lib", "/var/lib/kubelet", "/var/lib/kubelet"},
		{"/var/lib/kubelet/pod-resources", "/var/lib/kubelet", "/var/lib/kubelet"},
		{"/opt/run/cri.sock", "/opt/run/cri.sock", "/opt/run/cri.sock"},
		{"/opt/run", "/opt/run/cri.sock", "/opt/run/cri.sock"},
		{"/opt/driver", "nothing", "nothing"},
		{"/usr/lib/driver.so", "nothing", "nothing"},
		{"/usr", "nothing", "/usr/bin"},
		{"/usr/bin", "nothing", "/usr/bin"},
		{"/usr/sbin/program-of-nobody", "nothing", "/usr/sbin"},
		{"/etc/cron.d", "nothing", "/etc/cron.d"},
		{"/etc/passwd", "nothing", "/etc/passwd"},
		{"/etc/ld.so.preload", "nothing", "/etc/ld.so.preload"},
		{"/etc/OpenCL", "nothing", "nothing"},
		{"/etc/gshadow", "/etc/gshadow", "/etc/gshadow"},
		{"/root", "nothing", "/root"},
		{"/root/.ssh", "nothing", "/root"},
		{"/boot/grub", "nothing", "/boot"},
		{"/var/spool/cron", "nothing", "/var/spool/cron"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_STRING_EQUAL(given(rows[i].path, true), rows[i].read_only);
		CU_ASSERT_STRING_EQUAL(given(rows[i].path, false), rows[i].writable);
	}
}

static void test_links_are_followed(void)
{
	char *folder CLEANUP_FREE = NULL;
	char *link CLEANUP_FREE = NULL;
	char *below CLEANUP_FREE = NULL;
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "gpucert-places-", &folder, NULL), 0);
	link = path_join(folder, "link");
	CU_ASSERT_EQUAL_FATAL(symlink("/", link), 0);
	below = path_join(link, "etc");
	CU_ASSERT_STRING_EQUAL(given(link, true), "/");
	CU_ASSERT_STRING_EQUAL(given(below, true), "/etc");
	CU_ASSERT_STRING_EQUAL(given(folder, false), "nothing");
	CU_ASSERT_EQUAL(file_remove_tree(folder, NULL), 0);
}

UNIT_MAIN("host-places", {"places are known", test_places_are_known},
	  {"links are followed", test_links_are_followed})
