/* SPDX-License-Identifier: MIT */
#pragma once

/* The file that a path of the node leads to: two paths are the same file when their numbers are, and
 * the same device when the numbers of their nodes are. */

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
	uint64_t device, inode;	    /* which file it is */
	unsigned int major, minor;  /* of a device node */
	uint64_t size, modified_ns; /* of a regular file */
};

/* Follows symbolic links. "/dev/char/MAJOR:MINOR" and "/dev/block/..." are that device node also where
 * the system has no such links. False: there is no such file, or, on Windows, always: files have no
 * such numbers there. */
bool node_file_identify(const char *path, struct node_file *out);

/* How many descriptors of this machine's processes have this device node open, by any path. Processes
 * of other users count only where they are visible. */
size_t node_file_count_open(const char *path);

/* Calls `each` for the regular files and device nodes in a folder and those below it, `most`
 * entries at the most, without following links and without leaving the file system. `each` returns
 * false to end it. */
void node_file_walk(const char *folder, size_t most,
		    bool (*each)(const char *path, const struct node_file *file, void *user),
		    void *user);

/* Finds a file or folder that not every user of the machine may read: the path itself, what lies in it (links are not
 * followed), or a folder above it; with more than `most` entries it is the path itself. False: everything
 * can be read. Caller frees *found. */
bool node_file_find_private(const char *path, size_t most, char **found);
