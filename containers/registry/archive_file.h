/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A tar file whose entries are looked up by name and read as streams; nothing is unpacked. Also
 * compressed (gzip, bzip2, xz, zstd), then each look-up reads from the beginning.
 *
 * Only regular files count, and links to them inside the archive (Docker before 1.11 wrote equal
 * layers as links). Whatever a name or a link says, no path of the file system is used.
 */

#include "containers/registry/internal.h"

enum {
	ARCHIVE_ENTRIES_MAX = 20000,
	ARCHIVE_NAMES_MAX = 4 * 1024 * 1024, /* bytes of all names */
	/* How far compressed files may grow: DEFLATE reaches 1:1032. */
	ARCHIVE_RATIO_MAX = 1100,
};

struct archive_entry_place {
	const char *name; /* from the root of the archive */
	const char *link; /* where it leads, the same; NULL: a file */
	uint64_t size;
};

struct archive_file {
	struct arena arena;
	const char *path;
	struct archive_entry_place *entries;
	size_t count, names_size;
};

/* Lists the entries. ERROR_NOT_FOUND, ERROR_IO; ERROR_FORMAT: not a tar file, or damaged; ERROR_LIMIT.
 * archive_file_close() also when it fails. */
int archive_file_open(const char *path, struct archive_file *out, struct error *err);
void archive_file_close(struct archive_file *file);

/* The entry for a name, links followed; NULL: there is none. */
const struct archive_entry_place *archive_file_find(const struct archive_file *file,
						    const char *name);

/* The content of an entry. ERROR_NOT_FOUND: there is none of the name. */
int archive_file_read(const struct archive_file *file, const char *name, struct blob_reader **out,
		      struct error *err);
