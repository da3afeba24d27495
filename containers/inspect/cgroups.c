/* SPDX-License-Identifier: MIT */
/* The cgroups of a container that limit its devices, in whichever hierarchies this machine has. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/inspect/internal.h"

#include <string.h>
#include <unistd.h>

enum { RULES_MAX = 1024 * 1024 };

/* Its path below the root of the hierarchy whose line in /proc/PID/cgroup (cgroups(7)) holds `mark`:
 * "0::/", ":devices:/". The '/' is part of both. NULL: there is none. */
static const char *find_path(const char *lines, const char *mark, size_t *size)
{
	const char *found = strstr(lines, mark);
	if (found == NULL)
		return NULL;
	found += strlen(mark) - 1;
	*size = strcspn(found, "\n");
	return found;
}

/* The controllers of a hierarchy of version 1 stand in no mount: the file of this one does. */
static bool is_hierarchy(const struct container_mount *mount, unsigned version)
{
	char *file CLEANUP_FREE = path_join(mount->target, "devices.list");
	return version == 2
		       ? strcmp(mount->type, "cgroup2") == 0
		       : strcmp(mount->type, "cgroup") == 0 && file != NULL && file_exists(file);
}

static void read_rules(struct container_cgroup *group, struct arena *arena)
{
	char *path CLEANUP_FREE = path_join(group->path, "devices.list");
	char *text CLEANUP_FREE = NULL;
	struct error why = {0};
	int rc = path != NULL ? file_read(path, RULES_MAX, &text, NULL, &why) : error_memory(&why);
	if (rc == 0)
		group->rules = arena_string(arena, text);
	else
		group->untold = arena_string(arena, why.text);
}

/* The group of one hierarchy where it is mounted so that a process can be put into it. */
static int add_group(struct container_view *view, const struct container_mounts *mounts,
		     unsigned version, const char *path, size_t size, struct error *err)
{
	for (size_t i = 0; i < mounts->count; i++) {
		const struct container_mount *mount = &mounts->items[i];
		char *group CLEANUP_FREE = text_format("%s%.*s", mount->target, (int)size, path);
		char *members CLEANUP_FREE =
			group != NULL ? path_join(group, "cgroup.procs") : NULL;
		if (members == NULL)
			return error_memory(err);
		if (!is_hierarchy(mount, version) || access(members, W_OK) < 0)
			continue;
		struct container_cgroup *added = &view->cgroups[view->cgroup_count++];
		*added = (struct container_cgroup){
			.version = version,
			.path = arena_string(&view->arena, group),
		};
		if (version == 1)
			read_rules(added, &view->arena);
		else
			container_read_programs(added, &view->arena);
		return view->arena.failed ? error_memory(err) : 0;
	}
	return 0;
}

int container_view_cgroups(struct container_view *view, struct error *err)
{
	static const char *const marks[CONTAINER_CGROUPS_MAX] = {":devices:/", "\n0::/"};
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	char *text CLEANUP_FREE = NULL;
	int rc = proc_read(view->pid, "cgroup", &text, NULL, err);
	char *lines CLEANUP_FREE = rc == 0 ? text_format("\n%s", text) : NULL;
	if (lines == NULL)
		return rc < 0 ? rc : error_memory(err);
	rc = container_mounts_read(0, &mounts, err);
	for (unsigned i = 0; rc == 0 && i < CONTAINER_CGROUPS_MAX; i++) {
		size_t size = 0;
		const char *path = find_path(lines, marks[i], &size);
		if (path != NULL)
			rc = add_group(view, &mounts, i + 1, path, size, err);
	}
	return rc;
}
