/* SPDX-License-Identifier: MIT */
#include "containers/inspect/inspect.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/inspect/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int proc_read(int64_t pid, const char *name, char **out, size_t *size, struct error *err)
{
	char *path CLEANUP_FREE = pid == 0 ? text_format("/proc/self/%s", name)
					   : text_format("/proc/%lld/%s", (long long)pid, name);
	return file_read(path, PROC_FILE_MAX, out, size, err);
}

int container_open_root(int64_t pid, int *fd, struct error *err)
{
	char *path CLEANUP_FREE = text_format("/proc/%lld/root", (long long)pid);
	*fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (*fd < 0)
		return error_system(err, errno, "%s", path);
	return 0;
}

int container_open(int root, const char *path, bool follow)
{
	struct open_how how = {
		.flags = (uint64_t)(O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW)),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static int64_t in_ns(const struct statx_timestamp *time)
{
	return time->tv_sec * 1000000000 + time->tv_nsec;
}

int container_identify(int fd, const char *name, struct container_identity *out)
{
	struct statx status = {0};
	if (statx(fd, name, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
		  STATX_BASIC_STATS | STATX_MNT_ID, &status) < 0)
		return -1;
	if ((status.stx_mask & STATX_MNT_ID) == 0) {
		errno = ENOSYS;
		return -1;
	}
	*out = (struct container_identity){
		.type = status.stx_mode & S_IFMT,
		.device = makedev(status.stx_dev_major, status.stx_dev_minor),
		.inode = status.stx_ino,
		.major = status.stx_rdev_major,
		.minor = status.stx_rdev_minor,
		.mount = (int)status.stx_mnt_id,
		.size = status.stx_size,
		.modified_ns = in_ns(&status.stx_mtime),
		.changed_ns = in_ns(&status.stx_ctime),
	};
	return 0;
}

static int inspect(int64_t pid, struct digest_cache *digests, bool working,
		   struct container_view *out, struct error *err)
{
	struct container_view view CLEANUP_CONTAINER_VIEW = {
		.pid = pid, .working = working, .digests = digests};
	int root CLEANUP_FD = -1;
	int rc = container_open_root(pid, &root, err);
	if (rc == 0) {
		struct container_identity identity = {0};
		int fd CLEANUP_FD = container_open(root, "/", true);
		if (fd < 0 || container_identify(fd, "", &identity) < 0)
			rc = errno == ENOSYS ? error_set(err, ERROR_UNSUPPORTED,
							 "the kernel is older than Linux 5.8")
					     : error_system(err, errno, "root of the container");
	}
	if (rc == 0)
		rc = container_view_mounts(&view, root, err);
	if (rc == 0)
		rc = working ? container_view_working(&view, err)
			     : container_view_process(&view, err);
	if (rc == 0 && !working)
		rc = container_view_nodes(&view, root, err);
	if (rc == 0 && !working)
		rc = container_view_cgroups(&view, err);
	if (rc == 0 && !working)
		rc = container_view_access(&view, err);
	if (rc < 0)
		return error_wrap(err, rc, "process %lld of the container", (long long)pid);
	*out = STEAL(view);
	return 0;
}

int container_inspect(int64_t pid, struct digest_cache *digests, struct container_view *out,
		      struct error *err)
{
	return inspect(pid, digests, false, out, err);
}

int container_inspect_working(int64_t pid, struct digest_cache *digests, struct container_view *out,
			      struct error *err)
{
	return inspect(pid, digests, true, out, err);
}

void container_view_free(struct container_view *view)
{
	arena_free(&view->arena);
	container_mounts_free(&view->mounts);
	text_list_free(&view->environment);
	text_list_free(&view->shared);
	text_list_free(&view->layer);
	*view = (struct container_view){0};
}

const struct container_mount *container_mount_by_id(const struct container_view *view, int id)
{
	for (size_t i = 0; i < view->mounts.count; i++) {
		if (view->mounts.items[i].id == id)
			return &view->mounts.items[i];
	}
	return NULL;
}

const struct container_mount *container_mount_of(const struct container_view *view,
						 const char *path)
{
	const struct container_mount *found = NULL;
	for (size_t i = 0; i < view->mounts.count; i++) {
		const struct container_mount *mount = &view->mounts.items[i];
		if (!mount->covered && path_is_within(path, mount->target) &&
		    (found == NULL || strlen(mount->target) >= strlen(found->target)))
			found = mount;
	}
	return found;
}
