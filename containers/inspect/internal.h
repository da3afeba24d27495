/* SPDX-License-Identifier: MIT */
#pragma once

/* The parts of container_inspect(). */

#include "containers/inspect/inspect.h"

enum { PROC_FILE_MAX = 64 * 1024 * 1024 };

/* A file below /proc/PID, read whole; 0 is this process. */
int proc_read(int64_t pid, const char *name, char **out, size_t *size, struct error *err);

/* The container's root directory, for container_open(). */
int container_open_root(int64_t pid, int *fd, struct error *err);

/* Opens what the container sees at `path`, with O_PATH: links are followed as in the container, and
 * nothing leads out of it. -1 with errno. */
int container_open(int root, const char *path, bool follow);

struct container_identity {
	unsigned type; /* S_IFMT */
	unsigned mode;
	uint64_t device, inode;
	unsigned major, minor; /* of a device node */
	int mount;
	uint64_t size;
	int64_t modified_ns, changed_ns; /* mtime and ctime */
};
/* Of an entry of a directory, links not followed; `name` "": of what the descriptor stands for. -1
 * with errno. */
int container_identify(int fd, const char *name, struct container_identity *out);

/* NULL: not one of the view's. */
const struct container_mount *container_mount_by_id(const struct container_view *view, int id);

/* What the file of digests holds already. */
int container_digests_read(struct container_view *view, struct error *err);
/* Of the file that a descriptor stands for (O_PATH will do), read or known. After
 * container_view_mounts(). */
int container_digest_file(const struct container_view *view, int fd, char digest[DIGEST_SIZE],
			  struct error *err);

/* Exe, mapped files, capabilities and environment. */
int container_view_process(struct container_view *view, struct error *err);
/* Exe, mapped files of code, and what is open. */
int container_view_working(struct container_view *view, struct error *err);
int container_view_opened(struct container_view *view, struct error *err);
/* What is at the mounts, and where the host sees it. */
int container_view_mounts(struct container_view *view, int root, struct error *err);
int container_view_nodes(struct container_view *view, int root, struct error *err);
/* The nodes in /dev of the host, without what is mounted in it, by path. */
int container_view_host_nodes(struct container_view *view, struct error *err);
/* Its cgroups, and what limits devices there. */
int container_view_cgroups(struct container_view *view, struct error *err);
/* What its cgroups let it use. */
int container_view_access(struct container_view *view, struct error *err);

/* Of a group of version 2, by eBPF: `programs`, or `untold`, which is static text or the arena's. */
void container_read_programs(struct container_cgroup *group, struct arena *arena);
