/* SPDX-License-Identifier: MIT */
#include "containers/runtime/cgroups.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/runtime/mounts.h"
#include "containers/runtime/processes.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	CGROUP_DEPTH_MAX = 32,
	CGROUP_PROCS_MAX = 4 * 1024 * 1024,
	/* The kernel empties a group shortly after its last process has ended. */
	CGROUP_BUSY_TRIES = 200,
	CGROUP_BUSY_PAUSE_NS = 5 * 1000 * 1000,
};

typedef int cgroup_visit(const char *path, size_t *killed, struct error *err);

/* Does the group at `path` list this process? */
static bool cgroup_has_process(pid_t pid, const void *path)
{
	char *procs CLEANUP_FREE = path_join(path, "cgroup.procs");
	char *text CLEANUP_FREE = NULL;
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char *wanted CLEANUP_FREE = text_format("%d", (int)pid);
	return procs != NULL && wanted != NULL &&
	       file_read(procs, CGROUP_PROCS_MAX, &text, NULL, NULL) == 0 &&
	       text_list_split(&lines, text, '\n', NULL) == 0 && text_list_has(&lines, wanted);
}

static int cgroup_kill_one(const char *path, size_t *killed, struct error *err)
{
	char *procs CLEANUP_FREE = path_join(path, "cgroup.procs");
	char *text CLEANUP_FREE = NULL;
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	int rc = procs != NULL ? file_read(procs, CGROUP_PROCS_MAX, &text, NULL, err)
			       : error_memory(err);
	if (rc == 0)
		rc = text_list_split(&lines, text, '\n', err);
	for (size_t i = 0; rc == 0 && i < lines.count; i++) {
		long long pid = 0;
		/* 0 stands for a process of another PID namespace. */
		if (text_to_int64(lines.items[i], "pid", 2, INT32_MAX, &pid, NULL) == 0)
			rc = process_kill_matching((pid_t)pid, cgroup_has_process, path, killed,
						   err);
	}
	return rc;
}

static int cgroup_remove_one(const char *path, size_t *killed, struct error *err)
{
	const struct timespec pause = {.tv_nsec = CGROUP_BUSY_PAUSE_NS};
	(void)killed;
	for (int try = 0; rmdir(path) < 0; try++) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || try == CGROUP_BUSY_TRIES)
			return error_system(err, errno, "remove control group %s", path);
		(void)nanosleep(&pause, NULL);
	}
	return 0;
}

/* The groups below first, then the group itself. */
static int cgroup_walk(const char *path, int depth, cgroup_visit *visit, size_t *killed,
		       struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = 0;
	if (depth > CGROUP_DEPTH_MAX)
		return error_set(err, ERROR_LIMIT, "%s: nested too deeply", path);
	rc = file_list(path, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *below CLEANUP_FREE = path_join(path, names.items[i]);
		if (below == NULL)
			return error_memory(err);
		if (file_is_directory(below))
			rc = cgroup_walk(below, depth + 1, visit, killed, err);
	}
	return rc == 0 ? visit(path, killed, err) : rc;
}

static int cgroups_visit(const char *parent, cgroup_visit *visit, size_t *killed, struct error *err)
{
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	int result = container_mounts_read("self", &mounts, err);
	for (size_t i = 0; result == 0 && i < mounts.count; i++) {
		const struct container_mount *mount = &mounts.items[i];
		char *path CLEANUP_FREE = NULL;
		if (strcmp(mount->type, "cgroup") != 0 && strcmp(mount->type, "cgroup2") != 0)
			continue;
		path = path_join(mount->target, parent);
		if (path == NULL)
			return error_memory(err);
		if (file_is_directory(path))
			result = cgroup_walk(path, 0, visit, killed, err);
	}
	return result;
}

int cgroups_kill(const char *parent, size_t *killed, struct error *err)
{
	return cgroups_visit(parent, cgroup_kill_one, killed, err);
}

int cgroups_remove(const char *parent, struct error *err)
{
	return cgroups_visit(parent, cgroup_remove_one, NULL, err);
}
