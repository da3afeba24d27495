/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "containers/inspect/internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 64 };

/* File systems that the kernel makes up: no node of a device lies there, and they are large. */
static const char *const without_nodes[] = {"proc",	  "sysfs",    "cgroup",	 "cgroup2",
					    "mqueue",	  "bpf",      "tracefs", "debugfs",
					    "securityfs", "configfs", "pstore"};

struct walk {
	struct container_view *view;
	struct container_node **nodes; /* of the view, that are added to */
	size_t *count;
	int mount;
	size_t entries; /* of the mount, looked at so far */
	bool root;	/* of the container: its files are kept */
};

/* Failures are the arena's. */
static void walk_add(struct walk *walk, const char *path, const struct container_identity *identity)
{
	struct container_view *view = walk->view;
	struct container_node *grown =
		arena_grow(&view->arena, *walk->nodes, *walk->count, sizeof(*grown));
	if (grown == NULL)
		return;
	*walk->nodes = grown;
	grown[(*walk->count)++] = (struct container_node){
		.path = arena_string(&view->arena, path),
		.block = identity->type == S_IFBLK,
		.major = identity->major,
		.minor = identity->minor,
		.mode = identity->mode,
	};
}

static bool is_node(const struct container_identity *identity)
{
	return identity->type == S_IFCHR || identity->type == S_IFBLK;
}

static int walk_directory(struct walk *walk, int fd, const char *path, unsigned depth,
			  struct error *err);

static int walk_entry(struct walk *walk, int directory, const char *path,
		      const struct dirent *entry, unsigned depth, struct error *err)
{
	struct container_identity identity = {0};
	int fd CLEANUP_FD = -1;
	const bool file = entry->d_type == DT_REG && walk->root &&
			  walk->view->layer.count < CONTAINER_LAYER_MAX;
	if (entry->d_type != DT_DIR && entry->d_type != DT_CHR && entry->d_type != DT_BLK &&
	    entry->d_type != DT_UNKNOWN && !file)
		return 0;
	/* What is gone by now, or lies on another mount, is not this walk's. */
	if (container_identify(directory, entry->d_name, &identity) < 0 ||
	    identity.mount != walk->mount)
		return 0;
	char *below CLEANUP_FREE =
		text_format("%s%s%s", path, strcmp(path, "/") == 0 ? "" : "/", entry->d_name);
	if (below == NULL)
		return error_memory(err);
	if (is_node(&identity))
		walk_add(walk, below, &identity);
	if (file && identity.size > 0)
		return text_list_add(&walk->view->layer, below, err);
	if (identity.type != S_IFDIR)
		return 0;
	fd = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 ? walk_directory(walk, STEAL_FD(fd), below, depth + 1, err) : 0;
}

/* Takes over `fd`. */
static int walk_directory(struct walk *walk, int fd, const char *path, unsigned depth,
			  struct error *err)
{
	DIR *directory CLEANUP_DIR = fdopendir(fd);
	const struct dirent *entry = NULL;
	int rc = 0;
	if (directory == NULL) {
		(void)close(fd);
		return error_system(err, errno, "%s", path);
	}
	while (rc == 0 && (entry = readdir(directory)) != NULL) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++walk->entries > CONTAINER_ENTRIES_MAX || depth > DEPTH_MAX) {
			walk->view->nodes_cut = arena_string(&walk->view->arena, path);
			return 0;
		}
		rc = walk_entry(walk, dirfd(directory), path, entry, depth, err);
	}
	return rc;
}

/* What lies on the mount that is at a path of a root. */
static int walk_mount(struct walk *walk, int root, const char *path, struct error *err)
{
	struct container_identity identity = {0};
	int fd CLEANUP_FD = container_open(root, path, false);
	if (fd < 0 || container_identify(fd, "", &identity) < 0)
		return 0;
	walk->mount = identity.mount;
	walk->entries = 0;
	if (is_node(&identity))
		walk_add(walk, path, &identity);
	if (identity.type != S_IFDIR)
		return 0;
	int readable = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return readable >= 0 ? walk_directory(walk, readable, path, 0, err) : 0;
}

static bool mount_has_nodes(const struct container_mount *mount)
{
	for (size_t i = 0; i < ARRAY_SIZE(without_nodes); i++) {
		if (strcmp(mount->type, without_nodes[i]) == 0)
			return false;
	}
	return !mount->covered && !mount->nodev;
}

int container_view_nodes(struct container_view *view, int root, struct error *err)
{
	struct walk walk = {.view = view, .nodes = &view->nodes, .count = &view->node_count};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < view->mounts.count; i++) {
		walk.root = strcmp(view->mounts.items[i].target, "/") == 0;
		if (mount_has_nodes(&view->mounts.items[i]))
			rc = walk_mount(&walk, root, view->mounts.items[i].target, err);
	}
	return rc;
}

static int by_path(const void *a, const void *b)
{
	const struct container_node *left = a;
	const struct container_node *right = b;
	return strcmp(left->path, right->path);
}

int container_view_host_nodes(struct container_view *view, struct error *err)
{
	struct walk walk = {
		.view = view, .nodes = &view->host_nodes, .count = &view->host_node_count};
	int root CLEANUP_FD = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc = root >= 0 ? walk_mount(&walk, root, "/dev", err) : error_system(err, errno, "/");
	if (view->host_node_count > 0)
		qsort(view->host_nodes, view->host_node_count, sizeof(*view->host_nodes), by_path);
	return rc;
}
