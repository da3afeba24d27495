/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "containers/inspect/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINK_MAX_BYTES = 4096 };

static int view_exe(struct container_view *view, struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/%lld/exe", (long long)view->pid);
	char target[LINK_MAX_BYTES] = "";
	if (readlink(path, target, sizeof(target) - 1) < 0)
		return error_system(err, errno, "%s", path);
	view->exe = arena_string(&view->arena, target);
	int fd CLEANUP_FD = open(path, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return error_system(err, errno, "%s", path);
	return container_digest_file(view, fd, view->exe_digest, err);
}

/* BEGIN-END PERMISSIONS OFFSET MAJOR:MINOR INODE PATH; mappings without a file have no inode. */
static int view_mapping(struct container_view *view, const char *line, struct error *err)
{
	struct container_file file = {0};
	unsigned long long begin = 0, end = 0, inode = 0;
	char permissions[8] = "";
	int path_at = 0;
	if (sscanf(line, "%llx-%llx %7s %*s %x:%x %llu %n", &begin, &end, permissions, &file.major,
		   &file.minor, &inode, &path_at) != 6 ||
	    inode == 0 || (view->working && strchr(permissions, 'x') == NULL))
		return 0;
	file.inode = inode;
	for (size_t i = 0; i < view->file_count; i++) {
		const struct container_file *known = &view->files[i];
		if (known->inode == file.inode && known->major == file.major &&
		    known->minor == file.minor)
			return 0;
	}

	char *mapped CLEANUP_FREE =
		text_format("/proc/%lld/map_files/%llx-%llx", (long long)view->pid, begin, end);
	struct container_identity identity = {0};
	int fd CLEANUP_FD = open(mapped, O_PATH | O_CLOEXEC);
	if (fd < 0 || container_identify(fd, "", &identity) < 0) {
		/* The threads of a driver may have unmapped it meanwhile. */
		return view->working ? 0 : error_system(err, errno, "%s", mapped);
	}
	/* Memory that a driver shares with the kernel is not a file of a mount. A held program has
	 * none. */
	if (view->working &&
	    (identity.type != S_IFREG || container_mount_by_id(view, identity.mount) == NULL))
		return 0;

	file.path = arena_string(&view->arena, line + path_at);
	file.device = identity.device;
	file.mount = identity.mount;
	int rc = container_digest_file(view, fd, file.digest, err);
	if (rc < 0)
		return rc;
	view->files = arena_grow(&view->arena, view->files, view->file_count, sizeof(*view->files));
	view->files[view->file_count++] = file;
	return 0;
}

static int view_mapped_files(struct container_view *view, struct error *err)
{
	struct text_list lines CLEANUP_TEXT_LIST = {0};
	char *text CLEANUP_FREE = NULL;
	int rc = proc_read(view->pid, "maps", &text, NULL, err);
	if (rc < 0)
		return rc;
	text_list_split(&lines, text, '\n');
	for (size_t i = 0; rc == 0 && i < lines.count; i++)
		rc = view_mapping(view, lines.items[i], err);
	return rc;
}

/* A line "NAME:\tVALUE" of /proc/PID/status. */
static int status_number(const char *status, const char *name, int base, uint64_t *out,
			 struct error *err)
{
	char *key CLEANUP_FREE = text_format("\n%s:\t", name);
	const char *line = strstr(status, key);
	if (line == NULL)
		return error_set(err, ERROR_UNSUPPORTED, "status: no %s", name);
	*out = strtoull(line + strlen(key), NULL, base);
	return 0;
}

int container_view_process(struct container_view *view, struct error *err)
{
	int rc = view_exe(view, err);
	if (rc == 0)
		rc = view_mapped_files(view, err);

	/* /proc/PID/status; a kernel without seccomp has no line "Seccomp". */
	static const char *const sets[] = {"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"};
	char *status CLEANUP_FREE = NULL;
	uint64_t no_new_privileges = 0, seccomp = 0;
	if (rc == 0)
		rc = proc_read(view->pid, "status", &status, NULL, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(sets); i++) {
		uint64_t set = 0;
		rc = status_number(status, sets[i], 16, &set, err);
		view->capabilities |= set;
	}
	if (rc == 0)
		rc = status_number(status, "NoNewPrivs", 10, &no_new_privileges, err);
	if (rc == 0 && strstr(status, "\nSeccomp:\t") != NULL)
		rc = status_number(status, "Seccomp", 10, &seccomp, err);
	view->no_new_privileges = no_new_privileges != 0;
	view->seccomp = (int)seccomp;

	char *block CLEANUP_FREE = NULL;
	size_t size = 0;
	if (rc == 0)
		rc = proc_read(view->pid, "environ", &block, &size, err);
	for (size_t at = 0; rc == 0 && at < size; at += strlen(block + at) + 1)
		text_list_add(&view->environment, block + at);

	/* The link of a namespace names it: "pid:[4026531836]". */
	static const char *const namespaces[] = {"mnt", "pid", "ipc"};
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(namespaces); i++) {
		char *path CLEANUP_FREE =
			text_format("/proc/%lld/ns/%s", (long long)view->pid, namespaces[i]);
		char *own CLEANUP_FREE = text_format("/proc/self/ns/%s", namespaces[i]);
		char theirs[64] = "", ours[64] = "";
		if (readlink(path, theirs, sizeof(theirs) - 1) < 0 ||
		    readlink(own, ours, sizeof(ours) - 1) < 0)
			return error_system(err, errno, "%s", path);
		if (text_equal(theirs, ours))
			text_list_add(&view->shared, namespaces[i]);
	}
	return rc;
}

int container_view_working(struct container_view *view, struct error *err)
{
	int rc = view_exe(view, err);
	if (rc == 0)
		rc = view_mapped_files(view, err);
	return rc == 0 ? container_view_opened(view, err) : rc;
}
