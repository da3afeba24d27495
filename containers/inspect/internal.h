/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of container_inspect(). */

#include "containers/inspect/inspect.h"

enum { PROC_FILE_MAX = 64 * 1024 * 1024 };

/* A file below /proc/PID, read whole; 0 is this process. */
int proc_read(int64_t pid, const char *name, char **out, size_t *size, struct error *err);

/* The container's root directory, for container_open(). */
int container_open_root(int64_t pid, int *fd, struct error *err);

/* Opens the container's `path` with O_PATH. Links resolve as in the container and never out of it. -1
 * with errno. */
int container_open(int root, const char *path, bool follow);

struct container_identity {
	unsigned type; /* S_IFMT */
	uint64_t device, inode;
	unsigned major, minor; /* of a device node */
	int mount;
	uint64_t size;
	int64_t modified_ns, changed_ns; /* mtime and ctime */
};
/* Identifies an entry of a directory, without following links, or with `name` "" the file of the
 * descriptor. -1 with errno. */
int container_identify(int fd, const char *name, struct container_identity *out);

/* The mount with this id; NULL: not in the view. */
const struct container_mount *container_mount_by_id(const struct container_view *view, int id);

/* The digest of the descriptor's file (O_PATH is enough), read or from the records. To be called after
 * container_view_mounts(). */
int container_digest_file(const struct container_view *view, int fd, char digest[DIGEST_SIZE],
			  struct error *err);

/* Exe, mapped files, capabilities and environment. */
int container_view_process(struct container_view *view, struct error *err);
/* Exe, mapped files of code, and open devices. */
int container_view_working(struct container_view *view, struct error *err);
int container_view_opened(struct container_view *view, struct error *err);
/* The mounts, and the host's path of each. */
int container_view_mounts(struct container_view *view, int root, struct error *err);
int container_view_nodes(struct container_view *view, int root, struct error *err);
/* The nodes in /dev of the host, without mounts below it, by path. */
int container_view_host_nodes(struct container_view *view, struct error *err);
/* Its cgroups, and their rules or programs. */
int container_view_cgroups(struct container_view *view, struct error *err);
/* The host's devices that its cgroups let it use. */
int container_view_access(struct container_view *view, struct error *err);
