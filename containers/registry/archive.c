/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/memory.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

/*
 * A tar file whose entries are found by name and read as streams, also compressed: each search reads from the
 * beginning. Only regular files count. The names never become paths of the file system.
 */
enum {
	CHUNK_SIZE = 65536,
	/* Compressed files may grow this much: DEFLATE reaches 1:1032. */
	RATIO_MAX = 1100,
};

/* The file, open at one of its entries. */
struct archive_reader {
	struct blob_reader reader;
	struct archive *archive;
	char *path;
};

static int archive_failed(const struct archive_reader *reader, struct error *err)
{
	const char *text = archive_error_string(reader->archive);
	int code = archive_errno(reader->archive);
	if (code == ENOENT || code == EACCES)
		return error_system(err, code, "%s", reader->path);
	return error_set(err, ERROR_FORMAT, "%s: %s", reader->path,
			 text != NULL ? text : "not a tar file");
}

/* A small file that unpacks to a large one is an attack on its reader. */
static int check_ratio(const struct archive_reader *reader, struct error *err)
{
	int64_t stored = archive_filter_bytes(reader->archive, -1);
	int64_t grown = archive_filter_bytes(reader->archive, 0);
	if (grown / RATIO_MAX <= stored + CHUNK_SIZE)
		return 0;
	return error_set(err, ERROR_LIMIT, "%s: unpacks to more than %d times its size",
			 reader->path, RATIO_MAX);
}

static int reader_read(struct blob_reader *self, void *out, size_t size, size_t *count,
		       struct error *err)
{
	struct archive_reader *reader = (struct archive_reader *)self;
	la_ssize_t got = archive_read_data(reader->archive, out, size);
	if (got < 0)
		return archive_failed(reader, err);
	*count = (size_t)got;
	return check_ratio(reader, err);
}

static void reader_close(struct blob_reader *self)
{
	struct archive_reader *reader = (struct archive_reader *)self;
	(void)archive_read_free(reader->archive);
	free(reader->path);
	free(reader);
}

int archive_open(const char *path, const char *name, struct blob_reader **out, struct error *err)
{
	struct archive_reader *reader = memory_allocate(1, sizeof(*reader));
	struct blob_reader *owned CLEANUP_BLOB_READER = &reader->reader;
	reader->reader = (struct blob_reader){.read = reader_read, .close = reader_close};
	reader->path = memory_copy(path);
	reader->archive = archive_read_new();
	/* A build of libarchive that lacks one would start a program instead. */
	if (reader->archive != NULL &&
	    (archive_read_support_filter_gzip(reader->archive) != ARCHIVE_OK ||
	     archive_read_support_filter_bzip2(reader->archive) != ARCHIVE_OK ||
	     archive_read_support_filter_xz(reader->archive) != ARCHIVE_OK ||
	     archive_read_support_filter_zstd(reader->archive) != ARCHIVE_OK)) {
		(void)archive_read_free(reader->archive);
		reader->archive = archive_read_new();
	}
	if (reader->archive == NULL ||
	    archive_read_support_format_tar(reader->archive) != ARCHIVE_OK)
		return error_memory(err);
	if (archive_read_open_filename(reader->archive, path, CHUNK_SIZE) != ARCHIVE_OK)
		return archive_failed(reader, err);

	while (true) {
		struct archive_entry *entry = NULL;
		int status = archive_read_next_header(reader->archive, &entry);
		if (status == ARCHIVE_EOF)
			return error_set(err, ERROR_NOT_FOUND, "the archive has no file %s", name);
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			return archive_failed(reader, err);
		/* "./a" is "a", too. */
		const char *found = archive_entry_pathname(entry);
		if (found != NULL && text_starts_with(found, "./"))
			found += strlen("./");
		if (archive_entry_filetype(entry) == AE_IFREG && text_equal(found, name)) {
			*out = STEAL(owned);
			return 0;
		}
		int rc = check_ratio(reader, err);
		if (rc < 0)
			return rc;
	}
}
