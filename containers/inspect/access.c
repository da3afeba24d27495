/* SPDX-License-Identifier: MIT */
/* Which devices the kernel lets a container use: a process of our own joins the container's cgroups
 * and asks the kernel for access to the host's nodes, without opening any of them. A program in the
 * container tries the same on nodes that container_plant_nodes() creates for it. */
#include "base/cleanup.h"
#include "base/path.h"
#include "containers/inspect/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PLANTED_MAX = 1024 };

/* Runs after fork(), so it calls only async-signal-safe functions. Writes one byte for each node, and
 * nothing when a cgroup cannot be joined. */
static _Noreturn void ask(const struct container_view *view, const int *groups, int out)
{
	bool going = true;
	for (size_t i = 0; going && i < view->cgroup_count; i++)
		going = groups[i] >= 0 && write(groups[i], "0", 1) == 1;
	for (size_t i = 0; going && i < view->host_node_count; i++) {
		const char *path = view->host_nodes[i].path;
		const char answer = (char)((access(path, R_OK) == 0 ? CONTAINER_READ : 0) |
					   (access(path, W_OK) == 0 ? CONTAINER_WRITE : 0));
		going = write(out, &answer, 1) == 1;
	}
	_exit(0);
}

int container_view_access(struct container_view *view, struct error *err)
{
	int rc = container_view_host_nodes(view, err);
	if (rc < 0)
		return rc;
	if (view->cgroup_count == 0) {
		view->access_unknown = "its cgroup cannot be seen from here";
		return 0;
	}

	/* A process joins a cgroup by its file cgroup.procs. */
	int first CLEANUP_FD = -1;
	int second CLEANUP_FD = -1;
	int *const opened[CONTAINER_CGROUPS_MAX] = {&first, &second};
	for (size_t i = 0; i < view->cgroup_count; i++) {
		char *path CLEANUP_FREE = path_join(view->cgroups[i].path, "cgroup.procs");
		*opened[i] = open(path, O_WRONLY | O_CLOEXEC);
	}

	int ends[2] = {-1, -1};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_system(err, errno, "pipe");
	int in CLEANUP_FD = ends[0];
	int out CLEANUP_FD = ends[1];
	pid_t child = fork();
	if (child == 0)
		ask(view, (const int[]){first, second}, out);
	if (child < 0)
		return error_system(err, errno, "fork");
	(void)close(STEAL_FD(out));

	size_t asked = 0;
	char answer = 0;
	while (asked < view->host_node_count && read(in, &answer, 1) == 1)
		view->host_nodes[asked++].access = (unsigned)answer;
	if (asked != view->host_node_count)
		view->access_unknown = "its cgroup cannot be joined";
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	return 0;
}

static size_t plant(const struct container_node *nodes, size_t count, int folder)
{
	size_t planted = 0;
	for (size_t i = 0; i < count && i < PLANTED_MAX; i++) {
		const struct container_node *node = &nodes[i];
		char name[40] = "";
		(void)snprintf(name, sizeof(name), "%c-%u-%u", node->block ? 'b' : 'c', node->major,
			       node->minor);
		planted += mknodat(folder, name, (node->block ? S_IFBLK : S_IFCHR) | 0666,
				   makedev(node->major, node->minor)) == 0 &&
			   fchmodat(folder, name, 0666, 0) == 0;
	}
	return planted;
}

int container_plant_nodes(struct container_view *view, struct error *err)
{
	static const char device_folder[] = "/dev";
	static const struct container_node render_node = {.major = 226, .minor = 128};
	const char *name = &CONTAINER_PLANTED_DIRECTORY[sizeof(device_folder)];
	const struct container_mount *mount = container_mount_of(view, device_folder);
	if (mount == NULL || mount->host_path != NULL || mount->nodev) {
		view->planted_unknown = "its /dev accepts no nodes, or is a folder of the host";
		return 0;
	}

	int root CLEANUP_FD = -1;
	int rc = container_open_root(view->pid, &root, err);
	if (rc < 0)
		return rc;
	int parent CLEANUP_FD = container_open(root, device_folder, true);
	if (parent < 0 || mkdirat(parent, name, 0755) < 0) {
		view->planted_unknown =
			arena_format(&view->arena, "in its /dev: %s", strerror(errno));
		return 0;
	}

	int folder CLEANUP_FD = openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	view->planted = plant(view->host_nodes, view->host_node_count, folder) +
			plant(view->nodes, view->node_count, folder) +
			plant(&render_node, 1, folder);
	if (view->planted == 0)
		view->planted_unknown = "no node can be created in its /dev";
	return 0;
}
