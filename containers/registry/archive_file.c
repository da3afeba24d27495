/* SPDX-License-Identifier: MIT */
#include "containers/registry/archive_file.h"

#include "base/file.h"
#include "base/path.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <string.h>

enum { CHUNK_SIZE = 65536 };

/* The file, open at one of its entries. */
struct archive_reader {
	struct blob_reader reader;
	struct archive *archive;
	struct archive_entry *entry; /* NULL: behind the last */
	char *name;		     /* of the entry; NULL: it has none */
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

/* A small file that becomes a large one is made to exhaust its reader. */
static int check_ratio(const struct archive_reader *reader, struct error *err)
{
	int64_t stored = archive_filter_bytes(reader->archive, -1);
	int64_t grown = archive_filter_bytes(reader->archive, 0);
	return grown / ARCHIVE_RATIO_MAX <= stored + CHUNK_SIZE
		       ? 0
		       : error_set(err, ERROR_LIMIT, "%s: unpacks to more than %d times its size",
				   reader->path, ARCHIVE_RATIO_MAX);
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
	free(reader->name);
	free(reader->path);
	free(reader);
}

/* Filters that this build has. What it lacks would be a program that libarchive starts. */
static bool add_filters(struct archive *archive)
{
	return archive_read_support_filter_gzip(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_bzip2(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_xz(archive) == ARCHIVE_OK &&
	       archive_read_support_filter_zstd(archive) == ARCHIVE_OK;
}

static int reader_open(const char *path, struct blob_reader **out, struct error *err)
{
	struct archive_reader *reader = calloc(1, sizeof(*reader));
	if (reader == NULL)
		return error_memory(err);
	*out = &reader->reader;
	reader->reader = (struct blob_reader){.read = reader_read, .close = reader_close};
	reader->path = strdup(path);
	reader->archive = archive_read_new();
	if (reader->archive != NULL && !add_filters(reader->archive)) {
		(void)archive_read_free(reader->archive);
		reader->archive = archive_read_new();
	}
	if (reader->path == NULL || reader->archive == NULL ||
	    archive_read_support_format_tar(reader->archive) != ARCHIVE_OK)
		return error_memory(err);
	return archive_read_open_filename(reader->archive, path, CHUNK_SIZE) == ARCHIVE_OK
		       ? 0
		       : archive_failed(reader, err);
}

/* "a/b" of "./a//c/../b": what would lead out of the archive stays at its root. Caller frees. */
static char *entry_name(const char *path)
{
	char *below CLEANUP_FREE = text_format("/%s", path + strspn(path, "/\\"));
	char *name CLEANUP_FREE = below != NULL ? path_normalize(below) : NULL;
	return name != NULL ? strdup(name + 1) : NULL;
}

static int reader_next(struct archive_reader *reader, struct error *err)
{
	int status = archive_read_next_header(reader->archive, &reader->entry);
	free(STEAL(reader->name));
	if (status == ARCHIVE_EOF) {
		reader->entry = NULL;
		return 0;
	}
	if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
		return archive_failed(reader, err);
	const char *path = archive_entry_pathname(reader->entry);
	reader->name = path != NULL ? entry_name(path) : NULL;
	if (path != NULL && reader->name == NULL)
		return error_memory(err);
	return check_ratio(reader, err);
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
	char *kept CLEANUP_FREE = target != NULL ? entry_name(target) : NULL;
	return target != NULL ? arena_string(&file->arena, kept) : NULL;
}

static int list_entry(struct archive_file *file, const struct archive_reader *reader,
		      struct error *err)
{
	struct archive_entry *entry = reader->entry;
	struct archive_entry_place place = {.name = arena_string(&file->arena, reader->name)};
	place.link = keep_link(file, place.name, entry);
	if (archive_entry_size_is_set(entry))
		place.size = (uint64_t)archive_entry_size(entry);
	file->names_size += strlen(place.name);
	if (file->count == ARCHIVE_ENTRIES_MAX || file->names_size > ARCHIVE_NAMES_MAX)
		return error_set(err, ERROR_LIMIT,
				 "%s: more than %d files, or names longer than %d bytes",
				 file->path, ARCHIVE_ENTRIES_MAX, ARCHIVE_NAMES_MAX);
	if (place.link == NULL && archive_entry_filetype(entry) != AE_IFREG)
		return 0;
	struct archive_entry_place *grown =
		arena_grow(&file->arena, file->entries, file->count, sizeof(*grown));
	if (grown == NULL || file->arena.failed)
		return error_memory(err);
	file->entries = grown;
	grown[file->count++] = place;
	return 0;
}

int archive_file_open(const char *path, struct archive_file *out, struct error *err)
{
	struct blob_reader *owned CLEANUP_BLOB_READER = NULL;
	*out = (struct archive_file){0};
	out->path = arena_string(&out->arena, path);
	int rc = reader_open(path, &owned, err);
	while (rc == 0) {
		struct archive_reader *reader = (struct archive_reader *)owned;
		rc = reader_next(reader, err);
		if (rc < 0 || reader->entry == NULL)
			break;
		if (reader->name != NULL)
			rc = list_entry(out, reader, err);
	}
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
	char *first CLEANUP_FREE = entry_name(name);
	name = first;
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

int archive_file_read(const struct archive_file *file, const char *name, struct blob_reader **out,
		      struct error *err)
{
	const struct archive_entry_place *place = archive_file_find(file, name);
	struct blob_reader *owned CLEANUP_BLOB_READER = NULL;
	if (place == NULL)
		return error_set(err, ERROR_NOT_FOUND, "the archive has no file %s", name);
	int rc = reader_open(file->path, &owned, err);
	while (rc == 0) {
		struct archive_reader *reader = (struct archive_reader *)owned;
		rc = reader_next(reader, err);
		if (rc == 0 && reader->entry == NULL)
			rc = error_set(err, ERROR_IO, "%s: changed while it was read", file->path);
		if (rc == 0 && text_equal(reader->name, place->name)) {
			*out = STEAL(owned);
			return 0;
		}
	}
	return rc;
}
