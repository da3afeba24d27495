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

/* What the child tells first; behind it one byte for each node. */
struct joined {
	int reason; /* errno; 0: it is in the cgroup */
};

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
		.mode = status->st_mode & 07777,
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

/* The path behind the last of the two colons of a line "7:devices:/x" or "0::/x"; NULL: of another
 * hierarchy. Of version 1 the hierarchy with the controller counts, else the only one of version 2. */
static const char *path_in(const char *line, bool *of_devices)
{
	const char *controllers = strchr(line, ':');
	const char *path = controllers != NULL ? strchr(controllers + 1, ':') : NULL;
	if (path == NULL)
		return NULL;
	size_t length = (size_t)(path - controllers - 1);
	char *list CLEANUP_FREE = strndup(controllers + 1, length);
	struct text_list words CLEANUP_TEXT_LIST = {0};
	if (list == NULL || text_list_split(&words, list, ',', NULL) < 0)
		return NULL;
	*of_devices = text_list_has(&words, "devices");
	return *of_devices || text_starts_with(line, "0::") ? path + 1 : NULL;
}

/* The file through which the cgroup is joined; NULL: there is none that is known. */
static int find_cgroup(int64_t pid, char **out, struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char *text CLEANUP_FREE = NULL;
	bool found = false;
	int rc = proc_read(pid, "cgroup", &text, NULL, err);
	if (rc == 0)
		rc = text_list_split(&lines, text, '\n', err);
	for (size_t i = 0; rc == 0 && i < lines.count && !found; i++) {
		const char *path = path_in(lines.items[i], &found);
		if (path == NULL || strstr(path, "/..") != NULL)
			continue;
		free(*out);
		*out = text_format("/sys/fs/cgroup%s%s/cgroup.procs", found ? "/devices" : "",
				   path);
		rc = *out != NULL ? 0 : error_memory(err);
	}
	return rc;
}

/* Behind the fork: nothing but what signal handlers may call. */
static _Noreturn void ask(const struct container_view *view, const char *cgroup, int out)
{
	int fd = open(cgroup, O_WRONLY | O_CLOEXEC);
	struct joined joined = {fd < 0 || write(fd, "0", 1) != 1 ? errno : 0};
	bool told = write(out, &joined, sizeof(joined)) == sizeof(joined);
	for (size_t i = 0; told && joined.reason == 0 && i < view->usable_count; i++) {
		const char *path = view->usable[i].path;
		const char answer = access(path, R_OK) == 0 || access(path, W_OK) == 0 ? 'y' : 'n';
		told = write(out, &answer, 1) == 1;
	}
	_exit(0);
}

/* Keeps the nodes to which the child said yes. */
static void read_answers(struct container_view *view, int in)
{
	struct joined joined = {EIO};
	size_t kept = 0;
	size_t asked = 0;
	char answer = 0;
	if (read(in, &joined, sizeof(joined)) != sizeof(joined) || joined.reason != 0) {
		view->usable_untold = arena_format(&view->arena, "its cgroup cannot be joined: %s",
						   strerror(joined.reason));
	} else {
		while (asked < view->usable_count && read(in, &answer, 1) == 1)
			if (view->usable[asked++].path != NULL && answer == 'y')
				view->usable[kept++] = view->usable[asked - 1];
		if (asked != view->usable_count)
			view->usable_untold = "the process in its cgroup ended early";
	}
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
