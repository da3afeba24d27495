/* SPDX-License-Identifier: MIT */
#include "containers/runtime/remains.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "containers/runtime/cgroups.h"
#include "containers/runtime/mounts.h"
#include "containers/runtime/processes.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Where containerd's shims put their sockets (defaults.DefaultStateDir + "/s"); not configurable.
 */
#define SHIM_SOCKET_DIRECTORY "/run/containerd/s"
#define TASK_DIRECTORY	      "state/io.containerd.runtime.v2.task/k8s.io"

char *remains_cgroup_parent(const char *directory)
{
	const char *name = path_base(directory);
	const char *dash = strrchr(name, '-');
	return text_format("/gpucert-%s", dash != NULL ? dash + 1 : name);
}

/* Each task's directory names its shim's socket in the file "address". */
static int list_sockets(const char *directory, struct text_list *sockets, struct error *err)
{
	char *tasks CLEANUP_FREE = path_join(directory, TASK_DIRECTORY);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = 0;
	if (tasks == NULL)
		return error_memory(err);
	if (!file_is_directory(tasks))
		return 0;
	rc = file_list(tasks, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *file CLEANUP_FREE = text_format("%s/%s/address", tasks, names.items[i]);
		char *address CLEANUP_FREE = NULL;
		if (file == NULL)
			return error_memory(err);
		if (file_read_line(file, &address, NULL) == 0 &&
		    text_starts_with(address, "unix://" SHIM_SOCKET_DIRECTORY "/") &&
		    path_is_bare_name(path_base(address)))
			rc = text_list_add(sockets, address + strlen("unix://"), err);
	}
	return rc;
}

static int remove_sockets(const struct text_list *sockets, struct error *err)
{
	for (size_t i = 0; i < sockets->count; i++) {
		if (unlink(sockets->items[i]) < 0 && errno != ENOENT)
			return error_system(err, errno, "%s", sockets->items[i]);
	}
	return 0;
}

/* Keeps the first failure of several steps that are all tried. */
static void keep(int rc, const struct error *step, int *result, struct error *err)
{
	if (rc < 0 && *result == 0)
		*result = error_copy(err, step);
}

int remains_remove(const char *directory, struct runtime_recovered *counts, struct error *err)
{
	char *parent CLEANUP_FREE = remains_cgroup_parent(directory);
	struct text_list sockets CLEANUP_TEXT_LIST = {0};
	struct error step = {0};
	int result = 0;
	if (parent == NULL)
		return error_memory(err);
	keep(processes_kill_containerd(directory, &counts->processes, &step), &step, &result, err);
	keep(cgroups_kill(parent, &counts->processes, &step), &step, &result, err);
	keep(list_sockets(directory, &sockets, &step), &step, &result, err);
	keep(mounts_undo_below(directory, &counts->mounts, &step), &step, &result, err);
	keep(cgroups_remove(parent, &step), &step, &result, err);
	keep(remove_sockets(&sockets, &step), &step, &result, err);
	/* owner.json goes with the directory, so what failed above is tried again by the next run.
	 */
	return result == 0 ? runtime_remove_directory(directory, &counts->mounts, err) : result;
}
