/* SPDX-License-Identifier: MIT */
#pragma once

/* The identity of a file of the node, whatever its path: two paths are the same file if their numbers
 * agree, and the same device if the numbers of their nodes agree. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum node_file_kind {
	NODE_FILE_REGULAR,
	NODE_FILE_FOLDER,
	NODE_FILE_CHARACTER, /* device nodes */
	NODE_FILE_BLOCK,
	NODE_FILE_OTHER,
};

struct node_file {
	enum node_file_kind kind;
	uint64_t device, inode;	    /* identify the file */
	unsigned int major, minor;  /* of a device node */
	uint64_t size, modified_ns; /* of a regular file */
};

/* Is it a device node? */
static inline bool node_file_is_device(const struct node_file *file)
{
	return file->kind == NODE_FILE_CHARACTER || file->kind == NODE_FILE_BLOCK;
}

/* Has it this number, as a block device or as another one? */
static inline bool node_file_has_number(const struct node_file *file, bool block, unsigned major,
					unsigned minor)
{
	return (file->kind == NODE_FILE_BLOCK) == block && file->major == major &&
	       file->minor == minor;
}

/* Follows symbolic links. "/dev/char/MAJOR:MINOR" and "/dev/block/..." are that device node even if
 * the system has no such links. False: no such file; always on Windows, where files have no such
 * numbers. */
bool node_file_identify(const char *path, struct node_file *out);

/* The permission bits of a file, links followed; -1: unknown, and always on Windows. */
int node_file_mode(const char *path);

/* Counts the visible descriptors of this machine's processes that have this device node open, by any
 * path. */
size_t node_file_count_open(const char *path);

/* Calls `each` for the regular files and device nodes in a folder and those below it, at most
 * `most` entries, without following links and without leaving the file system. `each` returns false
 * to end it. */
void node_file_walk(const char *folder, size_t most,
		    bool (*each)(const char *path, const struct node_file *file, void *user),
		    void *user);

/* Finds a path that not every user of the machine may read: the path itself, an entry in it (links are not
 * followed), or a folder above it. With more than `most` entries it is the path itself. False: everything
 * can be read. Caller frees *found. */
bool node_file_find_private(const char *path, size_t most, char **found);
