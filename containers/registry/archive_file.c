/* SPDX-License-Identifier: MIT */
#include "containers/registry/archive_file.h"

#include "base/file.h"
#include "base/path.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

enum { CHUNK_SIZE = 65536 };

static void archive_cleanup(struct archive **archive)
{
	if (*archive != NULL)
		(void)archive_read_free(*archive);
}

#define CLEANUP_ARCHIVE CLEANUP(archive_cleanup)

static int archive_failed(struct archive *archive, const char *path, struct error *err)
{
	const char *text = archive_error_string(archive);
	if (archive_errno(archive) == ENOENT || archive_errno(archive) == EACCES)
		return error_system(err, archive_errno(archive), "%s", path);
	return error_set(err, ERROR_FORMAT, "%s: %s", path, text != NULL ? text : "not a tar file");
}

static int archive_start(const char *path, struct archive **out, struct error *err)
{
	struct archive *archive CLEANUP_ARCHIVE = archive_read_new();
	if (archive == NULL)
		return error_memory(err);
	/* A filter that this build lacks would be a program that libarchive starts. */
	if (archive_read_support_format_tar(archive) != ARCHIVE_OK)
		return archive_failed(archive, path, err);
	if (archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_bzip2(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_xz(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(archive) != ARCHIVE_OK) {
		archive_cleanup(&archive);
		archive = archive_read_new();
		if (archive == NULL || archive_read_support_format_tar(archive) != ARCHIVE_OK)
			return error_memory(err);
	}
	if (archive_read_open_filename(archive, path, CHUNK_SIZE) != ARCHIVE_OK)
		return archive_failed(archive, path, err);
	*out = STEAL(archive);
	return 0;
}

/* A small file that becomes a large one is made to exhaust its reader. */
static int check_ratio(struct archive *archive, const char *path, struct error *err)
{
	int64_t stored = archive_filter_bytes(archive, -1);
	int64_t grown = archive_filter_bytes(archive, 0);
	return grown / ARCHIVE_RATIO_MAX <= stored + CHUNK_SIZE
		       ? 0
		       : error_set(err, ERROR_LIMIT, "%s: unpacks to more than %d times its size",
				   path, ARCHIVE_RATIO_MAX);
}

/* *entry is NULL at the end. */
static int archive_step(struct archive *archive, const char *path, struct archive_entry **entry,
			struct error *err)
{
	int status = archive_read_next_header(archive, entry);
	if (status == ARCHIVE_EOF) {
		*entry = NULL;
		return 0;
	}
	if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
		return archive_failed(archive, path, err);
	return check_ratio(archive, path, err);
}

/* "a/b" of "./a//c/../b": what would lead out of the archive stays at its root. Caller frees. */
static char *entry_name(const char *path)
{
	struct text name CLEANUP_TEXT = {0};
	text_add(&name, "");
	while (*path != '\0' && !name.failed) {
		size_t length = strcspn(path, "/");
		if (length == 2 && strncmp(path, "..", 2) == 0) {
			const char *last = name.size > 0 ? strrchr(name.data, '/') : NULL;
			name.size = last != NULL ? (size_t)(last - name.data) : 0;
			name.data[name.size] = '\0';
		} else if (length > 0 && !(length == 1 && *path == '.')) {
			text_add(&name, name.size > 0 ? "/" : "");
			text_append(&name, path, length);
		}
		path += length + (path[length] == '/');
	}
	return text_take(&name);
}

static const char *keep_name(struct archive_file *file, const char *path)
{
	char *name CLEANUP_FREE = entry_name(path);
	return arena_string(&file->arena, name);
}

/* Symbolic links are relative to their folder, hard links to the root of the archive. */
static const char *keep_link(struct archive_file *file, const char *name,
			     struct archive_entry *entry)
{
	const char *target = archive_entry_symlink(entry);
	if (target == NULL)
		target = archive_entry_hardlink(entry);
	else if (target[0] != '/')
		target = arena_format(&file->arena, "%.*s/%s", (int)(path_base(name) - name), name,
				      target);
	return target != NULL ? keep_name(file, target) : NULL;
}

static int list_entry(struct archive_file *file, struct archive_entry *entry, struct error *err)
{
	const char *path = archive_entry_pathname(entry);
	bool is_link =
		archive_entry_symlink(entry) != NULL || archive_entry_hardlink(entry) != NULL;
	if (path == NULL || (archive_entry_filetype(entry) != AE_IFREG && !is_link))
		return 0;
	if (file->count == ARCHIVE_ENTRIES_MAX)
		return error_set(err, ERROR_LIMIT, "%s: more than %d files", file->path,
				 ARCHIVE_ENTRIES_MAX);
	struct archive_entry_place *grown =
		arena_grow(&file->arena, file->entries, file->count, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	file->entries = grown;
	grown += file->count++;
	grown->name = keep_name(file, path);
	grown->link = keep_link(file, grown->name, entry);
	grown->size = archive_entry_size_is_set(entry) ? (uint64_t)archive_entry_size(entry) : 0;
	return file->arena.failed ? error_memory(err) : 0;
}

static int list_entries(struct archive_file *file, struct error *err)
{
	struct archive *archive CLEANUP_ARCHIVE = NULL;
	struct archive_entry *entry = NULL;
	size_t names = 0;
	int rc = archive_start(file->path, &archive, err);
	while (rc == 0 && (rc = archive_step(archive, file->path, &entry, err)) == 0 &&
	       entry != NULL) {
		names += strlen(
			archive_entry_pathname(entry) != NULL ? archive_entry_pathname(entry) : "");
		if (names > ARCHIVE_NAMES_MAX)
			return error_set(err, ERROR_LIMIT, "%s: names longer than %d bytes",
					 file->path, ARCHIVE_NAMES_MAX);
		rc = list_entry(file, entry, err);
	}
	return rc;
}

int archive_file_open(const char *path, struct archive_file *out, struct error *err)
{
	*out = (struct archive_file){0};
	out->path = arena_string(&out->arena, path);
	int rc = list_entries(out, err);
	if (rc < 0)
		archive_file_close(out);
	return rc;
}

void archive_file_close(struct archive_file *file)
{
	arena_free(&file->arena);
	*file = (struct archive_file){0};
}

const struct archive_entry_place *archive_file_find(const struct archive_file *file,
						    const char *name)
{
	enum { LINKS_MAX = 8 };
	for (unsigned links = 0; links <= LINKS_MAX && name != NULL; links++) {
		const struct archive_entry_place *found = NULL;
		for (size_t i = 0; i < file->count && found == NULL; i++) {
			if (strcmp(file->entries[i].name, name) == 0)
				found = &file->entries[i];
		}
		if (found == NULL || found->link == NULL)
			return found;
		name = found->link;
	}
	return NULL;
}

struct archive_reader {
	struct blob_reader reader;
	struct archive *archive;
	char *path;
};

static int reader_read(struct blob_reader *self, void *out, size_t size, size_t *count,
		       struct error *err)
{
	struct archive_reader *reader = (struct archive_reader *)self;
	la_ssize_t got = archive_read_data(reader->archive, out, size);
	if (got < 0)
		return archive_failed(reader->archive, reader->path, err);
	*count = (size_t)got;
	return check_ratio(reader->archive, reader->path, err);
}

static void reader_close(struct blob_reader *self)
{
	struct archive_reader *reader = (struct archive_reader *)self;
	archive_cleanup(&reader->archive);
	free(reader->path);
	free(reader);
}

static int seek_entry(const struct archive_reader *reader, const char *name, struct error *err)
{
	struct archive_entry *entry = NULL;
	int rc = 0;
	while ((rc = archive_step(reader->archive, reader->path, &entry, err)) == 0 &&
	       entry != NULL) {
		const char *path = archive_entry_pathname(entry);
		char *seen CLEANUP_FREE = path != NULL ? entry_name(path) : NULL;
		if (text_equal(seen, name))
			return 0;
	}
	return rc < 0 ? rc
		      : error_set(err, ERROR_IO, "%s: changed while it was read", reader->path);
}

int archive_file_read(const struct archive_file *file, const struct archive_entry_place *entry,
		      struct blob_reader **out, struct error *err)
{
	struct archive_reader *reader = calloc(1, sizeof(*reader));
	if (reader == NULL)
		return error_memory(err);
	struct blob_reader *owned CLEANUP_BLOB_READER = &reader->reader;
	reader->reader = (struct blob_reader){reader_read, reader_close, NULL};
	reader->path = strdup(file->path);
	if (reader->path == NULL)
		return error_memory(err);
	int rc = archive_start(file->path, &reader->archive, err);
	if (rc == 0)
		rc = seek_entry(reader, entry->name, err);
	if (rc == 0)
		*out = STEAL(owned);
	return rc;
}
