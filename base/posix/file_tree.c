/* SPDX-License-Identifier: MIT */
/*
 * Removing a tree that somebody else filled, and may still be filling. Every step goes from an open
 * directory to a name in it, so a path that changes meanwhile does not matter and no path is too
 * long. A directory on another mount is not entered. A subtree that lies deeper than DEPTH_MAX is
 * renamed to the top and removed in the next pass, which bounds the descriptors.
 */
#include "base/file.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 16, NAMES_MAX = 1000000, FDINFO_MAX = 4096, NAME_SIZE = 32 };

struct removal {
	int top;	/* its directory */
	uint64_t mount; /* on which the tree lies */
	unsigned names; /* number of names used for subtrees moved to the top */
	bool again;	/* this pass moved a subtree to the top */
	size_t stayed;	/* entries that could not be removed in this pass */
	int rc;
	struct error *err; /* of the first entry that stayed */
};

/* A directory on the way down. */
struct place {
	const struct place *above; /* NULL: `name` is the tree's path */
	const char *name;
	int fd;
	int depth;
};

static void removal_empty(struct removal *removal, const struct place *place);

/* Which mount a directory lies on: bind mounts of one file system differ in it. */
static int removal_mount(int fd, uint64_t *mount, struct error *err)
{
	static const char key[] = "mnt_id:";
	char *path CLEANUP_FREE = text_format("/proc/self/fdinfo/%d", fd);
	char *text CLEANUP_FREE = NULL;
	int rc = path != NULL ? file_read(path, FDINFO_MAX, &text, NULL, err) : error_memory(err);
	if (rc < 0)
		return rc;
	const char *found = strstr(text, key);
	if (found == NULL)
		return error_set(err, ERROR_UNSUPPORTED, "%s does not name the mount", path);
	*mount = strtoull(found + strlen(key), NULL, 10);
	return 0;
}

static void add_path(struct text *out, const struct place *place)
{
	if (place->above != NULL)
		add_path(out, place->above);
	text_addf(out, "%s%s", place->name, place->depth >= 0 ? "/" : "");
}

/* `name` in `place` stays: for `reason`, an errno, or because it lies on another mount. */
static void removal_failed(struct removal *removal, const struct place *place, const char *name,
			   int reason)
{
	const struct place last = {.above = place, .name = name, .depth = -1};
	struct text path CLEANUP_TEXT = {0};
	if (removal->stayed++ > 0)
		return;
	add_path(&path, &last);
	removal->rc =
		reason == EBUSY
			? error_set(removal->err, ERROR_IO, "%s: a mount point", text_string(&path))
			: error_system(removal->err, reason, "%s", text_string(&path));
}

/* 0 or errno. A directory that its owner may not write gets that permission back. */
static int removal_unlink(int fd, const char *name, int flags)
{
	if (unlinkat(fd, name, flags) == 0 || errno == ENOENT)
		return 0;
	if (errno == EACCES && fchmod(fd, 0700) == 0 &&
	    (unlinkat(fd, name, flags) == 0 || errno == ENOENT))
		return 0;
	return errno;
}

static void move_up(struct removal *removal, const struct place *place, const char *name)
{
	char free_name[NAME_SIZE] = "";
	while (removal->names < NAMES_MAX) {
		(void)snprintf(free_name, sizeof(free_name), "gpucert-moved-%u", removal->names++);
		if (renameat(place->fd, name, removal->top, free_name) == 0) {
			removal->again = true;
			return;
		}
		if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
			break;
	}
	removal_failed(removal, place, name, errno);
}

static void removal_directory(struct removal *removal, const struct place *place, const char *name)
{
	int fd CLEANUP_FD =
		openat(place->fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	const struct place below = {place, name, fd, place->depth + 1};
	uint64_t mount = 0;
	size_t before = removal->stayed;
	if (fd < 0) {
		if (errno != ENOENT)
			removal_failed(removal, place, name, errno);
		return;
	}
	if (removal_mount(fd, &mount, NULL) < 0 || mount != removal->mount) {
		removal_failed(removal, place, name, EBUSY);
		return;
	}
	if (below.depth > DEPTH_MAX) {
		move_up(removal, place, name);
		return;
	}
	removal_empty(removal, &below);
	int reason = removal_unlink(place->fd, name, AT_REMOVEDIR);
	if (reason != 0 && removal->stayed == before)
		removal_failed(removal, place, name, reason);
}

static void removal_empty(struct removal *removal, const struct place *place)
{
	int fd = openat(place->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *directory CLEANUP_DIR = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry = NULL;
	if (directory == NULL) {
		removal_failed(removal, place, ".", errno);
		if (fd >= 0)
			(void)close(fd);
		return;
	}
	for (errno = 0; (entry = readdir(directory)) != NULL; errno = 0) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			continue;
		int reason = removal_unlink(place->fd, name, 0);
		if (reason == EISDIR)
			removal_directory(removal, place, name);
		else if (reason != 0)
			removal_failed(removal, place, name, reason);
	}
	if (errno != 0)
		removal_failed(removal, place, ".", errno);
}

int file_remove_tree(const char *path, struct error *err)
{
	struct removal removal = {.err = err};
	struct place top = {.name = path};
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR)
		return error_system(err, errno, "%s", path);
	int fd CLEANUP_FD = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_system(err, errno, "%s", path);
	removal.rc = removal_mount(fd, &removal.mount, err);
	if (removal.rc < 0)
		return removal.rc;
	removal.top = top.fd = fd;
	do {
		removal.again = false;
		removal.stayed = 0;
		removal_empty(&removal, &top);
	} while (removal.again);

	if (removal.stayed > 1 && err != NULL) {
		size_t used = strlen(err->text);
		(void)snprintf(err->text + used, sizeof(err->text) - used, " (and %zu more stay)",
			       removal.stayed - 1);
	}
	if (removal.stayed != 0)
		return removal.rc;
	return rmdir(path) == 0 || errno == ENOENT ? 0 : error_system(err, errno, "%s", path);
}
