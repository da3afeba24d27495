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

struct walk {
	struct container_view *view;
	struct container_node **nodes; /* a list of the view, which the walk extends */
	size_t *count;
	int mount;
	size_t entries; /* visited on this mount */
	bool root;	/* the container's root file system, whose files are listed */
};

static bool is_node(const struct container_identity *identity)
{
	return identity->type == S_IFCHR || identity->type == S_IFBLK;
}

static void add_node(struct walk *walk, const char *path, const struct container_identity *identity)
{
	struct arena *arena = &walk->view->arena;
	*walk->nodes = arena_grow(arena, *walk->nodes, *walk->count, sizeof(**walk->nodes));
	(*walk->nodes)[(*walk->count)++] = (struct container_node){
		.path = arena_string(arena, path),
		.block = identity->type == S_IFBLK,
		.major = identity->major,
		.minor = identity->minor,
	};
}

static int walk_directory(struct walk *walk, int fd, const char *path, unsigned depth,
			  struct error *err);

static int walk_entry(struct walk *walk, int directory, const char *path,
		      const struct dirent *entry, unsigned depth, struct error *err)
{
	const bool file = entry->d_type == DT_REG && walk->root &&
			  walk->view->layer.count < CONTAINER_LAYER_MAX;
	if (entry->d_type != DT_DIR && entry->d_type != DT_CHR && entry->d_type != DT_BLK &&
	    entry->d_type != DT_UNKNOWN && !file)
		return 0;

	/* Entries that are gone by now, or lie on another mount, are skipped. */
	struct container_identity identity = {0};
	if (container_identify(directory, entry->d_name, &identity) < 0 ||
	    identity.mount != walk->mount)
		return 0;

	char *below CLEANUP_FREE =
		text_format("%s%s%s", path, text_equal(path, "/") ? "" : "/", entry->d_name);
	if (is_node(&identity))
		add_node(walk, below, &identity);
	if (file && identity.size > 0)
		text_list_add(&walk->view->layer, below);
	if (identity.type != S_IFDIR)
		return 0;
	int fd = openat(directory, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd >= 0 ? walk_directory(walk, fd, below, depth + 1, err) : 0;
}

/* Consumes `fd`. */
static int walk_directory(struct walk *walk, int fd, const char *path, unsigned depth,
			  struct error *err)
{
	DIR *directory CLEANUP_DIR = fdopendir(fd);
	if (directory == NULL) {
		(void)close(fd);
		return error_system(err, errno, "%s", path);
	}
	const struct dirent *entry = NULL;
	int rc = 0;
	while (rc == 0 && (entry = readdir(directory)) != NULL) {
		if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, ".."))
			continue;
		if (++walk->entries > CONTAINER_ENTRIES_MAX || depth > DEPTH_MAX) {
			walk->view->nodes_cut = arena_string(&walk->view->arena, path);
			return 0;
		}
		rc = walk_entry(walk, dirfd(directory), path, entry, depth, err);
	}
	return rc;
}

/* The nodes of the mount at a path below a root. */
static int walk_mount(struct walk *walk, int root, const char *path, struct error *err)
{
	struct container_identity identity = {0};
	int fd CLEANUP_FD = container_open(root, path, false);
	if (fd < 0 || container_identify(fd, "", &identity) < 0)
		return 0;
	walk->mount = identity.mount;
	walk->entries = 0;
	if (is_node(&identity))
		add_node(walk, path, &identity);
	if (identity.type != S_IFDIR)
		return 0;
	int readable = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return readable >= 0 ? walk_directory(walk, readable, path, 0, err) : 0;
}

int container_view_nodes(struct container_view *view, int root, struct error *err)
{
	/* Virtual file systems of the kernel: they are large and hold no device nodes. */
	static const char *const without_nodes[] = {"proc",	  "sysfs",    "cgroup",	 "cgroup2",
						    "mqueue",	  "bpf",      "tracefs", "debugfs",
						    "securityfs", "configfs", "pstore",	 NULL};
	struct walk walk = {.view = view, .nodes = &view->nodes, .count = &view->node_count};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < view->mounts.count; i++) {
		const struct container_mount *mount = &view->mounts.items[i];
		bool virtual = without_nodes[text_position(without_nodes, mount->type)] != NULL;
		walk.root = text_equal(mount->target, "/");
		if (!virtual && !mount->covered && !mount->nodev)
			rc = walk_mount(&walk, root, mount->target, err);
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
	if (root < 0)
		return error_system(err, errno, "/");
	int rc = walk_mount(&walk, root, "/dev", err);
	if (view->host_node_count > 0)
		qsort(view->host_nodes, view->host_node_count, sizeof(*view->host_nodes), by_path);
	return rc;
}
