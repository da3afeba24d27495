/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Files and directories. Every error names the path. On Windows paths may be longer than MAX_PATH,
 * and a mode without bits for group and others means an access list that admits only owner, SYSTEM
 * and Administrators; with other modes the folder's access list is inherited.
 */

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The whole of a regular file, /proc and /sys files included, followed by a NUL. ERROR_LIMIT when
 * it is longer than `max` bytes. Caller frees *data. `size` may be NULL. */
int file_read(const char *path, size_t max, char **data, size_t *size, struct error *err);

enum file_kind {
	FILE_REGULAR,
	FILE_DIRECTORY,
	FILE_LINK,
	FILE_OTHER /* a pipe, a device, a socket */
};

struct file_status {
	enum file_kind kind; /* FILE_LINK only where links are not followed */
	uint64_t size;
	uint64_t device, inode;		 /* identify the file, whatever its name */
	int64_t modified_ns, changed_ns; /* mtime and ctime, since 1970 */
};

/* ERROR_NOT_FOUND, and other errors of the system. */
int file_status(const char *path, bool follow, struct file_status *out, struct error *err);

/* file_read() of an untrusted file: opens only a regular file of at most `max` bytes. ERROR_FORMAT: a folder, a
 * pipe, a device, or without `follow` a link. */
int file_read_regular(const char *path, bool follow, size_t max, char **data, size_t *size,
		      struct error *err);

/* file_read() of a small text file (4 KiB), white space at the end removed: sysfs attributes. */
int file_read_line(const char *path, char **line, struct error *err);

/* Writes a temporary file next to `path`, flushes it to disk and renames it over `path`, so that a reader or a crash
 * sees the old or the new content, never a part. ERROR_FORMAT: `path` is a pipe or a device, such as /dev/stdout. */
int file_write_atomic(const char *path, const void *data, size_t size, unsigned mode,
		      struct error *err);

/* As file_write_atomic() for a file that does not exist yet. ERROR_EXISTS: it does, or is a dangling link, even if
 * another process made it meanwhile. */
int file_create(const char *path, const void *data, size_t size, unsigned mode, struct error *err);

/* A descriptor to read the file with: binary, not inherited by children. Caller closes it. */
int file_open_to_read(const char *path, int *fd, struct error *err);

/* The next bytes of the file; `path` is for the error; *count is 0 at its end. ERROR_IO. */
int file_read_some(int fd, const char *path, void *out, size_t size, size_t *count,
		   struct error *err);

/* All of it, to any descriptor. False: errno has the reason. */
bool file_write_all(int fd, const void *data, size_t size);

/* A regular file, not a link, that this user owns and nobody else may write. On Windows any regular file: there the
 * folder decides who may write it. */
bool file_is_private(const char *path);

bool file_exists(const char *path); /* follows symbolic links */
bool file_is_directory(const char *path);

int file_make_directories(const char *path, unsigned mode, struct error *err); /* as mkdir -p */

/* Removes a tree without following symbolic links and without entering mounts, bind mounts of the
 * same file system included (Windows: without following reparse points, which junctions and mount
 * points are), however deep it is. Entries that cannot be removed stay, the rest is removed, and
 * the error names the first that stayed. A missing tree is success. */
int file_remove_tree(const char *path, struct error *err);

#define FILE_LOCK_NAME ".lock"

/* Locks a directory exclusively, until *lock is closed or this process ends; children do not
 * inherit it. ERROR_BUSY: somebody holds it. Where the file system has no locks it succeeds. On
 * Windows the directory contains a file FILE_LOCK_NAME meanwhile. */
int file_lock_directory(const char *path, int *lock, struct error *err);

/* Locks an open file exclusively, until all processes that share the descriptor have closed it. ERROR_BUSY: somebody
 * holds it, unless `waits`. On Windows ERROR_UNSUPPORTED. */
int file_lock_descriptor(int fd, bool waits, struct error *err);

/* Makes a directory as file_make_directories() does, locks it, and refuses one that another user could redirect: it
 * belongs to somebody else than this user or root, others may write to it, or the path leads through another user's
 * symbolic link (ERROR_PERMISSION; ERROR_EXISTS: not a directory). *held is a path for this process and its children
 * that leads to it until *lock is closed, whatever replaces `path`; caller frees. On Windows *held is `path`, and
 * nothing is refused. */
int file_hold_directory(const char *path, unsigned mode, int *lock, char **held, struct error *err);

/* Makes an error that names *held of file_hold_directory() name the directory as `path`. `held` may be NULL. */
void file_name_held(const char *held, const char *path, struct error *err);

/* Applies the same rule to an entry of it: a directory, not a link, that only this user or root may write. One that
 * does not exist is accepted. On Windows always 0. */
int file_expect_private(const char *path, struct error *err);

/* A new directory `parent`/`prefix`XXXXXX with mode 0700. `parent` NULL: the folder for temporary
 * files, which is /tmp, and the user's on Windows. Caller frees *path. */
int file_make_temporary(const char *parent, const char *prefix, char **path, struct error *err);

/* Follows every symbolic link of an absolute path as a process whose root directory is `root` would
 * (NULL: the running system): absolute links and ".." stay below it. *resolved has no links and no
 * root prefix; caller frees. ERROR_NOT_FOUND; ERROR_FORMAT for a relative path; ERROR_LIMIT after
 * 40 links. */
int file_resolve(const char *root, const char *path, char **resolved, struct error *err);

/* The names in a directory, sorted, without "." and "..". */
int file_list(const char *path, struct text_list *names, struct error *err);
