/* SPDX-License-Identifier: MIT */
#include "containers/runtime/remains.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/inspect/inspect.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	END_TIMEOUT_MS = 10000,
	CMDLINE_MAX = 256 * 1024,
	KILL_ROUNDS = 16, /* a killed shim may have started another process meanwhile */
	CGROUP_DEPTH_MAX = 32,
	CGROUP_PROCS_MAX = 4 * 1024 * 1024,
	/* The kernel empties a group shortly after its last process has ended. */
	CGROUP_BUSY_TRIES = 200,
	CGROUP_BUSY_PAUSE_NS = 5 * 1000 * 1000,
};

/* Where containerd's shims put their sockets (defaults.DefaultStateDir + "/s"); not configurable.
 */
#define SHIM_SOCKET_DIRECTORY "/run/containerd/s"
#define TASK_DIRECTORY	      "state/io.containerd.runtime.v2.task/k8s.io"

/* Kills a process if `matches` still holds once it is pinned, and waits until it has ended. */
static int kill_matching(pid_t pid, bool (*matches)(pid_t pid, const char *path), const char *path,
			 size_t *killed, struct error *err)
{
	int fd CLEANUP_FD = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno == ESRCH)
		return 0;
	if (fd < 0 && errno == ENOSYS)
		return error_set(err, ERROR_UNSUPPORTED, "the kernel has no pidfd_open");
	if (fd < 0)
		return error_system(err, errno, "process %d", (int)pid);
	if (!matches(pid, path))
		return 0;
	if (syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) < 0)
		return errno == ESRCH ? 0 : error_system(err, errno, "kill process %d", (int)pid);
	(*killed)++;

	struct pollfd wait = {.fd = fd, .events = POLLIN};
	int ready = 0;
	do
		ready = poll(&wait, 1, END_TIMEOUT_MS);
	while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return error_system(err, errno, "wait for process %d", (int)pid);
	if (ready == 0)
		return error_set(err, ERROR_TIMEOUT, "process %d does not end after SIGKILL",
				 (int)pid);
	return 0;
}

bool remains_is_containerd_of(const char *cmdline, size_t size, const char *directory)
{
	size_t length = strlen(directory);
	if (size == 0 || cmdline[size - 1] != '\0')
		return false;
	const char *name = path_base(cmdline);
	if (strcmp(name, "containerd") != 0 && strcmp(name, "ctr") != 0 &&
	    !text_starts_with(name, "containerd-shim"))
		return false;
	for (const char *word = cmdline + strlen(cmdline) + 1; word < cmdline + size;
	     word += strlen(word) + 1) {
		if (text_starts_with(word, directory) && word[length] == '/')
			return true;
	}
	return false;
}

static bool process_is_containerd_of(pid_t pid, const char *directory)
{
	char *path CLEANUP_FREE = text_format("/proc/%d/cmdline", (int)pid);
	char *cmdline CLEANUP_FREE = NULL;
	size_t size = 0;
	/* A zombie has an empty command line. */
	return file_read(path, CMDLINE_MAX, &cmdline, &size, NULL) == 0 &&
	       remains_is_containerd_of(cmdline, size, directory);
}

int remains_kill_containerd(const char *directory, size_t *killed, struct error *err)
{
	for (int round = 0; round < KILL_ROUNDS; round++) {
		struct text_list names CLEANUP_TEXT_LIST = {0};
		const size_t before = *killed;
		int rc = file_list("/proc", &names, err);
		for (size_t i = 0; rc == 0 && i < names.count; i++) {
			long long pid = 0;
			if (text_to_int64(names.items[i], "pid", 2, INT32_MAX, &pid, NULL) == 0 &&
			    process_is_containerd_of((pid_t)pid, directory))
				rc = kill_matching((pid_t)pid, process_is_containerd_of, directory,
						   killed, err);
		}
		if (rc < 0 || *killed == before)
			return rc;
	}
	return error_set(err, ERROR_BUSY, "%s: its processes keep coming back", directory);
}

/* The process ids in a control group, one a string. */
static int list_processes(const char *group, struct text_list *pids, struct error *err)
{
	char *path CLEANUP_FREE = path_join(group, "cgroup.procs");
	char *text CLEANUP_FREE = NULL;
	int rc = file_read(path, CGROUP_PROCS_MAX, &text, NULL, err);
	if (rc == 0)
		text_list_split(pids, text, '\n');
	return rc;
}

static bool is_in_group(pid_t pid, const char *group)
{
	struct text_list pids CLEANUP_TEXT_LIST = {0};
	char *wanted CLEANUP_FREE = text_format("%d", (int)pid);
	return list_processes(group, &pids, NULL) == 0 && text_list_has(&pids, wanted);
}

static int kill_group(const char *group, struct error *err)
{
	struct text_list pids CLEANUP_TEXT_LIST = {0};
	size_t killed = 0;
	int rc = list_processes(group, &pids, err);
	for (size_t i = 0; rc == 0 && i < pids.count; i++) {
		long long pid = 0;
		/* 0 stands for a process of another PID namespace. */
		if (text_to_int64(pids.items[i], "pid", 2, INT32_MAX, &pid, NULL) == 0)
			rc = kill_matching((pid_t)pid, is_in_group, group, &killed, err);
	}
	return rc;
}

static int remove_group(const char *group, struct error *err)
{
	const struct timespec pause = {.tv_nsec = CGROUP_BUSY_PAUSE_NS};
	for (int try = 0; rmdir(group) < 0; try++) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || try == CGROUP_BUSY_TRIES)
			return error_system(err, errno, "remove control group %s", group);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

typedef int group_visit(const char *group, struct error *err);

/* The groups below first, then the group itself. */
static int walk_group(const char *group, int depth, group_visit *visit, struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (depth > CGROUP_DEPTH_MAX)
		return error_set(err, ERROR_LIMIT, "%s: nested too deeply", group);
	int rc = file_list(group, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *below CLEANUP_FREE = path_join(group, names.items[i]);
		if (file_is_directory(below))
			rc = walk_group(below, depth + 1, visit, err);
	}
	if (rc == 0)
		rc = visit(group, err);
	return rc;
}

/* The group `parent` of every hierarchy, version 1 or 2. Missing ones are success. */
static int visit_groups(const char *parent, group_visit *visit, struct error *err)
{
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	int rc = container_mounts_read(0, &mounts, err);
	for (size_t i = 0; rc == 0 && i < mounts.count; i++) {
		const struct container_mount *mount = &mounts.items[i];
		if (strcmp(mount->type, "cgroup") != 0 && strcmp(mount->type, "cgroup2") != 0)
			continue;
		char *group CLEANUP_FREE = path_join(mount->target, parent);
		if (file_is_directory(group))
			rc = walk_group(group, 0, visit, err);
	}
	return rc;
}

int remains_unmount(const char *directory, size_t *undone, struct error *err)
{
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	int result = container_mounts_read(0, &mounts, err);
	for (size_t i = mounts.count; i-- > 0;) {
		const char *path = mounts.items[i].target;
		if (!path_is_within(path, directory) || strcmp(path, directory) == 0)
			continue;
		if (umount2(path, UMOUNT_NOFOLLOW) == 0 ||
		    umount2(path, UMOUNT_NOFOLLOW | MNT_DETACH) == 0) {
			if (undone != NULL)
				(*undone)++;
		} else if (errno != EINVAL && errno != ENOENT && result == 0) {
			/* Both mean that it has gone with a mount above it. */
			result = error_system(err, errno, "unmount %s", path);
		}
	}
	return result;
}

char *remains_cgroup_parent(const char *directory)
{
	const char *name = path_base(directory);
	const char *dash = strrchr(name, '-');
	return text_format("/gpucert-%s", dash != NULL ? dash + 1 : name);
}

/* Keeps the first failure of several steps that are all tried. */
static void keep(int rc, const struct error *step, int *result, struct error *err)
{
	if (rc < 0 && *result == 0)
		*result = error_copy(err, step);
}

int remains_remove(const char *directory, struct error *err)
{
	char *parent CLEANUP_FREE = remains_cgroup_parent(directory);
	char *tasks CLEANUP_FREE = path_join(directory, TASK_DIRECTORY);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct text_list sockets CLEANUP_TEXT_LIST = {0};
	struct error step = {0};
	size_t killed = 0;
	int result = 0;
	keep(remains_kill_containerd(directory, &killed, &step), &step, &result, err);
	keep(visit_groups(parent, kill_group, &step), &step, &result, err);

	/* Each task's directory names its shim's socket in the file "address". */
	if (file_is_directory(tasks))
		keep(file_list(tasks, &names, &step), &step, &result, err);
	text_each (name, &names) {
		char *file CLEANUP_FREE = text_format("%s/%s/address", tasks, name);
		char *address CLEANUP_FREE = NULL;
		if (file_read_line(file, &address, NULL) == 0 &&
		    text_starts_with(address, "unix://" SHIM_SOCKET_DIRECTORY "/") &&
		    path_is_bare_name(path_base(address)))
			text_list_add(&sockets, address + strlen("unix://"));
	}

	keep(remains_unmount(directory, NULL, &step), &step, &result, err);
	keep(visit_groups(parent, remove_group, &step), &step, &result, err);
	text_each (socket, &sockets) {
		if (unlink(socket) < 0 && errno != ENOENT)
			keep(error_system(&step, errno, "%s", socket), &step, &result, err);
	}
	/* owner.json goes with the directory, so the next run tries again what failed above. */
	if (result == 0)
		result = runtime_remove_directory(directory, NULL, err);
	return result;
}
