/* SPDX-License-Identifier: MIT */
/* Which devices the kernel lets a container use is asked of the kernel: a process of our own joins the
 * cgroup of the container and asks for access to the host's nodes, without opening any of them. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/inspect/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEPTH_MAX = 8 };

static int add_node(struct container_view *view, const char *path, const struct stat *status,
		    struct error *err)
{
	struct container_node *grown =
		arena_grow(&view->arena, view->usable, view->usable_count, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	view->usable = grown;
	grown[view->usable_count++] = (struct container_node){
		.path = arena_string(&view->arena, path),
		.block = S_ISBLK(status->st_mode),
		.major = major(status->st_rdev),
		.minor = minor(status->st_rdev),
	};
	return 0;
}

/* The nodes below a folder of the host, without what is mounted in it. */
static int list_nodes(struct container_view *view, const char *folder, dev_t device, unsigned depth,
		      struct error *err)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	int rc = file_list(folder, &names, err);
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(folder, names.items[i]);
		struct stat status = {0};
		if (path == NULL)
			return error_memory(err);
		if (lstat(path, &status) < 0 || status.st_dev != device)
			continue;
		if (S_ISCHR(status.st_mode) || S_ISBLK(status.st_mode))
			rc = add_node(view, path, &status, err);
		else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX)
			rc = list_nodes(view, path, device, depth + 1, err);
	}
	return rc;
}

/* The file through which its cgroup is joined: in the hierarchy of version 1 that has the controller, or in
 * that of version 2. NULL: in none that is known. */
static int find_cgroup(int64_t pid, char **out, struct error *err)
{
	static const char *const hierarchies[][2] = {{"\n0::/", ""}, {":devices:/", "/devices"}};
	char *text CLEANUP_FREE = NULL;
	int rc = proc_read(pid, "cgroup", &text, NULL, err);
	char *lines CLEANUP_FREE = rc == 0 ? text_format("\n%s", text) : NULL;
	if (lines == NULL)
		return rc < 0 ? rc : error_memory(err);
	for (size_t i = 0; i < ARRAY_SIZE(hierarchies); i++) {
		const char *found = strstr(lines, hierarchies[i][0]);
		if (found == NULL)
			continue;
		found += strlen(hierarchies[i][0]);
		free(*out);
		*out = text_format("/sys/fs/cgroup%s/%.*s/cgroup.procs", hierarchies[i][1],
				   (int)strcspn(found, "\n"), found);
		if (*out == NULL)
			return error_memory(err);
	}
	return 0;
}

/* Behind the fork: nothing but what signal handlers may call. One byte for each node, none from outside
 * the cgroup. */
static _Noreturn void ask(const struct container_view *view, const char *cgroup, int out)
{
	int fd = open(cgroup, O_WRONLY | O_CLOEXEC);
	bool going = fd >= 0 && write(fd, "0", 1) == 1;
	for (size_t i = 0; going && i < view->usable_count; i++) {
		const char *path = view->usable[i].path;
		const char answer = access(path, R_OK) == 0 || access(path, W_OK) == 0 ? 'y' : 'n';
		going = write(out, &answer, 1) == 1;
	}
	_exit(0);
}

/* Keeps the nodes to which the child said yes. */
static void read_answers(struct container_view *view, int in)
{
	size_t kept = 0;
	size_t asked = 0;
	char answer = 0;
	while (asked < view->usable_count && read(in, &answer, 1) == 1) {
		view->usable[kept] = view->usable[asked++];
		kept += answer == 'y';
	}
	if (asked != view->usable_count)
		view->usable_untold = "its cgroup cannot be joined";
	view->usable_count = view->usable_untold == NULL ? kept : 0;
}

static int ask_in_cgroup(struct container_view *view, const char *cgroup, struct error *err)
{
	int ends[2] = {-1, -1};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_system(err, errno, "pipe");
	int in CLEANUP_FD = ends[0];
	int out CLEANUP_FD = ends[1];
	pid_t child = fork();
	if (child == 0)
		ask(view, cgroup, out);
	if (child < 0)
		return error_system(err, errno, "fork");
	(void)close(STEAL_FD(out));
	read_answers(view, in);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		continue;
	return 0;
}

int container_view_usable(struct container_view *view, struct error *err)
{
	char *cgroup CLEANUP_FREE = NULL;
	struct stat status = {0};
	int rc = find_cgroup(view->pid, &cgroup, err);
	if (rc == 0 && (cgroup == NULL || access(cgroup, W_OK) < 0)) {
		view->usable_untold = "its cgroup cannot be seen from here";
		return 0;
	}
	if (rc == 0 && stat("/dev", &status) < 0)
		rc = error_system(err, errno, "/dev");
	if (rc == 0)
		rc = list_nodes(view, "/dev", status.st_dev, 0, err);
	return rc == 0 ? ask_in_cgroup(view, cgroup, err) : rc;
}
