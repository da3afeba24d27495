/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "conformance/checks/host_places.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *given_of_type(const char *path, const char *type, bool read_only)
{
	static char name[256];
	const struct context context = {.cri_address = "unix:///opt/run/cri.sock",
					.run_directory = "/opt/run-of-ours",
					.out_directory = "/opt/out-of-ours"};
	struct host_places *places CLEANUP_HOST_PLACES = host_places_new(&context);
	const char *place = host_places_given(places, path, type, read_only);
	(void)snprintf(name, sizeof(name), "%s", place != NULL ? place : "nothing");
	return name;
}

static const char *given(const char *path, bool read_only)
{
	return given_of_type(path, NULL, read_only);
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
		{"/etc/OpenCL/vendors/x.icd", "nothing", "/etc"},
		{"/etc/shadow", "/etc/shadow", "/etc/shadow"},
		{"/etc/ssh", "/etc/ssh", "/etc/ssh"},
		{"/etc/ssh/ssh_config", "/etc/ssh", "/etc/ssh"},
		{"/proc/1/root", "/proc", "/proc"},
		{"/proc/driver/nvidia/gpus", "nothing", "nothing"},
		{"/sys", "nothing", "/sys"},
		{"/sys/class/gpu-of-nobody", "nothing", "/sys"},
		{"/sys/kernel", "/sys/kernel/config", "/sys/kernel/config"},
		{"/sys/kernel/debug/dri", "/sys/kernel/debug", "/sys/kernel/debug"},
		{"/dev", "/dev", "/dev"},
		{"/dev/dri", "nothing", "/dev"},
		{"/dev/shm", "/dev/shm", "/dev/shm"},
		{"/dev/shm/driver", "nothing", "nothing"},
		{"/run", "/run", "/run"},
		{"/run/nvidia/mps", "nothing", "nothing"},
		{"/run/user", "/run/user", "/run/user"},
		{"/run/containerd/containerd.sock", "/run/containerd", "/run/containerd"},
		{"/run/systemd/private", "/run/systemd", "/run/systemd"},
		{"/run/udev/data", "nothing", "/run/udev"},
		{"/var", "/var", "/var"},
		{"/var/lib", "/var/lib", "/var/lib"},
		{"/var/lib/driver", "nothing", "nothing"},
		{"/var/lib/kubelet/pod-resources", "/var/lib/kubelet", "/var/lib/kubelet"},
		{"/var/lib/dpkg/of-nobody", "nothing", "/var/lib/dpkg"},
		{"/opt/run/cri.sock", "/opt/run/cri.sock", "/opt/run/cri.sock"},
		{"/opt/run", "/opt/run/cri.sock", "/opt/run/cri.sock"},
		{"/opt/run-of-ours/7/kubelet.sock", "/opt/run-of-ours", "/opt/run-of-ours"},
		{"/opt/out-of-ours", "nothing", "/opt/out-of-ours"},
		{"/opt", "/opt", "/opt"},
		{"/opt/driver", "nothing", "nothing"},
		{"/opt/cni/bin", "nothing", "/opt/cni"},
		{"/usr", "nothing", "/usr"},
		{"/usr/bin", "nothing", "/usr/bin"},
		{"/usr/lib/driver.so", "nothing", "/usr/lib"},
		{"/usr/local", "nothing", "/usr/local/bin"},
		{"/usr/local/bin", "nothing", "/usr/local/bin"},
		{"/usr/local/driver/lib", "nothing", "nothing"},
		{"/tmp", "/tmp", "/tmp"},
		{"/tmp/lock-of-a-driver", "nothing", "nothing"},
		{"/tmp/.X11-unix", "/tmp/.X11-unix", "/tmp/.X11-unix"},
		{"/etc/cron.d", "nothing", "/etc"},
		{"/etc/passwd", "nothing", "/etc"},
		{"/etc/ld.so.preload", "nothing", "/etc"},
		{"/etc/gshadow", "/etc/gshadow", "/etc/gshadow"},
		{"/root", "/root", "/root"},
		{"/root/.ssh", "/root", "/root"},
		{"/home", "/home", "/home"},
		{"/home/kubernetes/bin/driver", "nothing", "/home"},
		{"/data", "nothing", "nothing"},
		{"/data/driver", "nothing", "nothing"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CU_ASSERT_STRING_EQUAL(given(rows[i].path, true), rows[i].read_only);
		CU_ASSERT_STRING_EQUAL(given(rows[i].path, false), rows[i].writable);
	}
}

static void test_instances_of_kernel_file_systems_are_known(void)
{
	CU_ASSERT_STRING_EQUAL(given_of_type("/opt/p", "proc", true), "the proc file system");
	CU_ASSERT_STRING_EQUAL(given_of_type("/opt/p", "tracefs", true), "the tracefs file system");
	CU_ASSERT_STRING_EQUAL(given_of_type("/opt/p", "sysfs", true), "the sysfs file system");
	CU_ASSERT_STRING_EQUAL(given_of_type("/proc/driver/nvidia", "proc", true), "nothing");
	CU_ASSERT_STRING_EQUAL(given_of_type("/sys/class/drm", "sysfs", true), "nothing");
	CU_ASSERT_STRING_EQUAL(given_of_type("/dev/dri/by-path", "devtmpfs", true), "nothing");
	CU_ASSERT_STRING_EQUAL(given_of_type("/opt/driver", "ext4", false), "nothing");
}

static void write_file(const char *folder, const char *name, unsigned mode)
{
	char *path CLEANUP_FREE = path_join(folder, name);
	CU_ASSERT_EQUAL(file_write_atomic(path, "x", 1, mode, NULL), 0);
	CU_ASSERT_EQUAL(chmod(path, mode), 0);
}

/* In /var each user of the node may read what is handed out read-only. */
static void test_private_files_are_found(void)
{
	char *folder CLEANUP_FREE = NULL;
	char *below CLEANUP_FREE = NULL;
	char *secret CLEANUP_FREE = NULL;
	if (geteuid() != 0)
		return;
	CU_ASSERT_EQUAL_FATAL(file_make_temporary("/var", "gpucert-places-", &folder, NULL), 0);
	below = path_join(folder, "below");
	secret = path_join(below, "secret");
	CU_ASSERT_STRING_EQUAL(given(folder, true), folder); /* its mode is 0700 */
	CU_ASSERT_EQUAL(chmod(folder, 0755), 0);
	CU_ASSERT_EQUAL(file_make_directories(below, 0755, NULL), 0);
	CU_ASSERT_EQUAL(chmod(below, 0755), 0);
	write_file(below, "public", 0644);
	CU_ASSERT_STRING_EQUAL(given(folder, true), "nothing");
	write_file(below, "secret", 0640);
	CU_ASSERT_STRING_EQUAL(given(folder, true), secret);
	CU_ASSERT_EQUAL(chmod(secret, 0644), 0);
	CU_ASSERT_EQUAL(chmod(below, 0750), 0);
	CU_ASSERT_STRING_EQUAL(given(folder, true), below);
	CU_ASSERT_STRING_EQUAL(given(secret, true), secret);
	CU_ASSERT_STRING_EQUAL(given(folder, false), "/var");
	CU_ASSERT_EQUAL(file_remove_tree(folder, NULL), 0);
}

/* Folders below /run hold what drivers keep; a socket beside them is somebody's. */
static void test_sockets_of_the_system_are_found(void)
{
	char *socket CLEANUP_FREE = text_format("/run/gpucert-places-%d.sock", (int)getpid());
	if (geteuid() != 0 || mkfifo(socket, 0600) != 0)
		return;
	CU_ASSERT_STRING_EQUAL(given(socket, true), "/run");
	CU_ASSERT_EQUAL(unlink(socket), 0);
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
	  {"instances of the kernel's file systems are known",
	   test_instances_of_kernel_file_systems_are_known},
	  {"private files are found", test_private_files_are_found},
	  {"sockets of the system are found", test_sockets_of_the_system_are_found},
	  {"links are followed", test_links_are_followed})
