/* SPDX-License-Identifier: MIT */
#include "conformance/checks/node_file.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"

#include <fts.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static struct node_file node_file_of(const struct stat *status)
{
	struct node_file file = {
		.kind = NODE_FILE_OTHER,
		.device = status->st_dev,
		.inode = status->st_ino,
		.major = major(status->st_rdev),
		.minor = minor(status->st_rdev),
		.size = (uint64_t)status->st_size,
		.modified_ns = (uint64_t)status->st_mtim.tv_sec * 1000000000 +
			       (uint64_t)status->st_mtim.tv_nsec,
	};
	if (S_ISREG(status->st_mode))
		file.kind = NODE_FILE_REGULAR;
	else if (S_ISDIR(status->st_mode))
		file.kind = NODE_FILE_FOLDER;
	else if (S_ISCHR(status->st_mode))
		file.kind = NODE_FILE_CHARACTER;
	else if (S_ISBLK(status->st_mode))
		file.kind = NODE_FILE_BLOCK;
	return file;
}

int node_file_mode(const char *path)
{
	struct stat status = {0};
	return stat(path, &status) == 0 ? (int)(status.st_mode & 0777) : -1;
}

bool node_file_identify(const char *path, struct node_file *out)
{
	struct stat status = {0};
	if (stat(path, &status) == 0) {
		*out = node_file_of(&status);
		return true;
	}

	/* A device by its numbers, also where the system has no such link. */
	bool block = text_starts_with(path, "/dev/block/");
	if (!block && !text_starts_with(path, "/dev/char/"))
		return false;
	*out = (struct node_file){.kind = block ? NODE_FILE_BLOCK : NODE_FILE_CHARACTER};
	return text_to_device_number(strrchr(path, '/') + 1, &out->major, &out->minor);
}

size_t node_file_count_open(const char *path)
{
	struct stat wanted = {0};
	glob_t found = {0};
	size_t count = 0;
	if (stat(path, &wanted) != 0 || glob("/proc/[0-9]*/fd/*", GLOB_NOSORT, NULL, &found) != 0)
		return 0;
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct stat status = {0};
		count += stat(found.gl_pathv[i], &status) == 0 &&
			 (status.st_mode & S_IFMT) == (wanted.st_mode & S_IFMT) &&
			 status.st_rdev == wanted.st_rdev;
	}
	globfree(&found);
	return count;
}

static void node_file_close(FTS **walk)
{
	if (*walk != NULL)
		(void)fts_close(*walk);
}

void node_file_walk(const char *folder, size_t most,
		    bool (*each)(const char *path, const struct node_file *file, void *user),
		    void *user)
{
	char *root CLEANUP_FREE = memory_copy(folder);
	char *const roots[] = {root, NULL};
	FTS *walk CLEANUP(node_file_close) =
		fts_open(roots, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	for (size_t i = 0; walk != NULL && i < most; i++) {
		const FTSENT *entry = fts_read(walk);
		if (entry == NULL)
			return;
		if (entry->fts_info != FTS_F && entry->fts_info != FTS_DEFAULT)
			continue;
		const struct node_file file = node_file_of(entry->fts_statp);
		if (file.kind != NODE_FILE_OTHER && !each(entry->fts_path, &file, user))
			return;
	}
}

/* A folder that others may not enter hides everything in it. */
static bool is_private(const struct stat *status)
{
	if (S_ISDIR(status->st_mode))
		return (status->st_mode & S_IXOTH) == 0;
	return S_ISREG(status->st_mode) && (status->st_mode & S_IROTH) == 0;
}

bool node_file_find_private(const char *path, size_t most, char **found)
{
	/* Does it lie in a private folder? */
	bool hidden = false;
	char *folder CLEANUP_FREE = path_directory(path);
	while (!hidden && strcmp(folder, "/") != 0 && strcmp(folder, ".") != 0) {
		struct stat status = {0};
		hidden = stat(folder, &status) == 0 && is_private(&status);
		char *above = path_directory(folder);
		free(folder);
		folder = above;
	}

	char *root CLEANUP_FREE = memory_copy(path);
	char *const roots[] = {root, NULL};
	/* glibc's fts_close() leaks what was opened and never read. */
	FTS *walk CLEANUP(node_file_close) = NULL;
	if (!hidden)
		walk = fts_open(roots, FTS_COMFOLLOW | FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (walk == NULL) {
		*found = STEAL(root);
		return true;
	}

	size_t entries = 0;
	for (const FTSENT *entry = fts_read(walk); entry != NULL; entry = fts_read(walk)) {
		bool listed = entry->fts_info == FTS_F || entry->fts_info == FTS_D;
		if (++entries > most || (listed && is_private(entry->fts_statp))) {
			*found = memory_copy(entries > most ? path : entry->fts_path);
			return true;
		}
	}
	return false;
}
