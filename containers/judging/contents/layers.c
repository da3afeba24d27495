/* SPDX-License-Identifier: MIT */
/* The layers, from the lowest to the highest, entry by entry. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/judging/contents/internal.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

enum {
	CHUNK_SIZE = 128 * 1024,
	SCRIPT_MAX = 256 * 1024,
	SKIPPED_AT_ONCE = 16 << 20, /* larger files are skipped in blocks */
};

struct layer_reader {
	struct blob_reader *stream;
	struct archive *archive;
	struct files *files;
	struct image_contents *contents;
	struct capture capture;
	char chunk[CHUNK_SIZE];
	struct error *err;
	struct error failure; /* of the stream, which libarchive does not pass on */
};

static la_ssize_t read_chunk(struct archive *archive, void *user, const void **data)
{
	struct layer_reader *reader = user;
	size_t count = 0;
	*data = reader->chunk;
	if (reader->stream->read(reader->stream, reader->chunk, sizeof(reader->chunk), &count,
				 &reader->failure) == 0)
		return (la_ssize_t)count;
	archive_set_error(archive, ARCHIVE_FATAL, "%s", reader->failure.text);
	return -1;
}

static int archive_failed(struct layer_reader *reader)
{
	const char *text = archive_error_string(reader->archive);
	if (reader->failure.code != 0)
		return error_copy(reader->err, &reader->failure);
	return error_set(reader->err, ERROR_FORMAT, "%s",
			 text != NULL ? text : "not a tar archive");
}

static int check_ratio(struct layer_reader *reader)
{
	const int64_t stored = archive_filter_bytes(reader->archive, -1);
	const int64_t grown = archive_filter_bytes(reader->archive, 0);
	if (grown / CONTENTS_RATIO_MAX > stored + CONTENTS_RATIO_FREE)
		return error_set(reader->err, ERROR_LIMIT,
				 "it grows to more than %d times its size",
				 (int)CONTENTS_RATIO_MAX);
	return 0;
}

/* ERROR_BUSY: more of the file must pass first. */
static int identify_elf(struct layer_reader *reader, struct content_file *file, struct error *err)
{
	struct elf_info info CLEANUP(elf_info_free) = {0};
	struct arena *arena = &reader->files->arena;
	int rc = elf_read_from(&reader->capture.source, &info, err);
	if (rc < 0)
		return rc;
	file->is_elf = true;
	file->machine = info.machine;
	file->bits = info.bits;
	file->interpreter = arena_string(arena, info.interpreter != NULL ? info.interpreter : "");
	if (info.soname != NULL && text_equal(info.soname, "libc.so.6"))
		file->component = component_find(info.soname); /* before 2.34: libc-2.31.so */
	file->cpu_level = info.x86_level;
	file->glibc = info.glibc != NULL ? arena_string(arena, info.glibc) : "";
	const char **needed = arena_allocate(arena, (info.needed.count + 1) * sizeof(*needed));
	for (size_t i = 0; i < info.needed.count; i++)
		needed[i] = arena_string(arena, info.needed.items[i]);
	file->needed_count = info.needed.count;
	file->needed = needed;
	return 0;
}

/* "stable release version 2.36." of the text that the C library prints when it is run. */
static void identify_glibc(struct layer_reader *reader, struct content_file *file)
{
	static const char banner[] = "GNU C Library";
	static const char phrase[] = "release version ";
	const struct capture_piece *head = &reader->capture.pieces[0];
	const char *at =
		head->filled > 0 ? memmem(head->data, head->filled, banner, strlen(banner)) : NULL;
	const char *end = (const char *)head->data + head->filled;
	at = at != NULL ? memmem(at, (size_t)(end - at), phrase, strlen(phrase)) : NULL;
	if (at == NULL)
		return;
	at += strlen(phrase);
	size_t size = 0;
	while (at + size < end && size < 16 && strchr("0123456789.", at[size]) != NULL &&
	       at[size] != '\0')
		size++;
	while (size > 0 && at[size - 1] == '.')
		size--;
	file->version = arena_format(&reader->files->arena, "%.*s", (int)size, at);
}

static int identify(struct layer_reader *reader, struct content_file *file, bool at_end)
{
	struct error why = {0};
	const struct capture_piece *head = &reader->capture.pieces[0];
	int rc = 0;
	if (head->filled >= 4 && memcmp(head->data, "\177ELF", 4) == 0) {
		rc = identify_elf(reader, file, &why);
	} else if (head->filled >= 2 && memcmp(head->data, "MZ", 2) == 0) {
		char version[PE_VERSION_SIZE] = "";
		rc = pe_version(&reader->capture.source, version, &why);
		if (rc == 0)
			file->version = arena_string(&reader->files->arena, version);
		else if (rc == ERROR_NOT_FOUND)
			rc = 0;
	} else if (workaround_is_script(file->path) &&
		   workaround_found((const char *)head->data, head->filled)) {
		file->note = &workaround_note;
	}
	if (file->component != NULL && text_equal(file->component->name, "glibc")) {
		if (!at_end && rc == 0)
			return ERROR_BUSY; /* the text comes later in the file */
		identify_glibc(reader, file);
	}
	if (rc == ERROR_BUSY && !at_end)
		return rc;
	if (rc < 0)
		reader->contents->files_unread++;
	return 0;
}

/* Feeds the capture until the file is identified; the rest of it is skipped. */
static int read_file(struct layer_reader *reader, struct content_file *file)
{
	struct capture *capture = &reader->capture;
	const void *data = NULL;
	size_t size = 0;
	la_int64_t offset = 0;
	int status = ARCHIVE_OK;
	while ((status = archive_read_data_block(reader->archive, &data, &size, &offset)) ==
	       ARCHIVE_OK) {
		if (capture->position == 0 && size >= 4 && file->component == NULL &&
		    memcmp(data, "\177ELF", 4) != 0 && !workaround_is_script(file->path))
			return 0;
		int rc = capture_feed(capture, (uint64_t)offset, data, size, reader->err);
		if (rc == 0 && capture->position >= capture->ready &&
		    capture->position < capture->size) {
			capture->ready = capture->size;
			rc = identify(reader, file, false);
			if (rc == 0)
				return 0;
		}
		if (rc < 0 && rc != ERROR_BUSY)
			return rc;
	}
	if (status != ARCHIVE_EOF)
		return archive_failed(reader);
	capture->position = capture->size;
	return identify(reader, file, true);
}

static int add_file(struct layer_reader *reader, struct archive_entry *entry, const char *path)
{
	enum { ELF_SMALLEST = 52 };
	const uint64_t size = (uint64_t)archive_entry_size(entry);
	const bool is_program =
		(archive_entry_perm(entry) & 0111) != 0 || strstr(path_base(path), ".so") != NULL;
	struct content_file file = {
		.path = path, .component = component_find(path), .version = "", .glibc = ""};
	files_forget(reader->files, path);
	const bool may_matter = file.component != NULL || (is_program && size >= ELF_SMALLEST) ||
				(workaround_is_script(path) && size <= SCRIPT_MAX);
	if (size == 0 || !may_matter)
		return 0;
	capture_begin(&reader->capture, size);
	int rc = read_file(reader, &file);
	capture_end(&reader->capture);
	if (rc < 0 || (file.component == NULL && !file.is_elf && file.note == NULL))
		return rc;
	return files_put(reader->files, path, &file, reader->err);
}

static int add_entry(struct layer_reader *reader, struct archive_entry *entry)
{
	struct files *files = reader->files;
	const char *name = archive_entry_pathname(entry);
	const char *target = archive_entry_hardlink(entry);
	char *path CLEANUP_FREE = files_path(name != NULL ? name : "");
	reader->contents->files++;
	if (text_equal(path, "/"))
		return 0;
	if (files_is_whiteout(path)) {
		files_whiteout(files, path);
		return 0;
	}

	if (target != NULL) { /* another name of a file of the same layer */
		char *to CLEANUP_FREE = files_path(target);
		const struct content_file *known = files_get(files, to);
		if (known == NULL) {
			files_forget(files, path);
			return 0;
		}
		const struct content_file copy = *known; /* files_put() may move it */
		return files_put(files, path, &copy, reader->err);
	}

	if (archive_entry_symlink(entry) != NULL) {
		const struct content_file link = {.is_link = true,
						  .component = component_find(path),
						  .version = "",
						  .glibc = ""};
		files_replace(files, path);
		if (strstr(path_base(path), ".so") == NULL)
			return 0;
		return files_put(files, path, &link, reader->err);
	}
	if (archive_entry_filetype(entry) == AE_IFREG)
		return add_file(reader, entry, path);
	return 0;
}

static int read_entries(struct layer_reader *reader)
{
	struct archive *archive = reader->archive;
	struct archive_entry *entry = NULL;
	int status = ARCHIVE_OK;
	while ((status = archive_read_next_header(archive, &entry)) != ARCHIVE_EOF) {
		if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
			return archive_failed(reader);
		int rc = add_entry(reader, entry);
		if (rc < 0)
			return rc;

		/* The rest of a large file, so that a bomb is found before it is all unpacked. */
		const void *data = NULL;
		size_t count = 0;
		la_int64_t offset = 0;
		const bool is_large = (uint64_t)archive_entry_size(entry) >= SKIPPED_AT_ONCE;
		while (is_large && (status = archive_read_data_block(archive, &data, &count,
								     &offset)) == ARCHIVE_OK) {
			rc = check_ratio(reader);
			if (rc < 0)
				return rc;
		}
		if (is_large && status != ARCHIVE_EOF)
			return archive_failed(reader);
		rc = check_ratio(reader);
		if (rc < 0)
			return rc;
	}
	reader->contents->bytes += (uint64_t)archive_filter_bytes(archive, 0);

	/* The digest also covers bytes that libarchive leaves unread. */
	size_t count = 0;
	do {
		int rc = reader->stream->read(reader->stream, reader->chunk, sizeof(reader->chunk),
					      &count, reader->err);
		if (rc < 0)
			return rc;
	} while (count > 0);
	return 0;
}

static void free_archive(struct archive **archive)
{
	if (*archive != NULL)
		(void)archive_read_free(*archive);
}

static int read_layer(struct image_source *source, const struct image_descriptor *descriptor,
		      struct layer_reader *reader)
{
	struct error *err = reader->err;
	if (text_ends_with(descriptor->media_type, "+encrypted"))
		return error_set(err, ERROR_UNSUPPORTED, "it is encrypted");
	struct blob_reader *stream CLEANUP_BLOB_READER = NULL;
	int rc = image_source_open_layer(source, descriptor, &stream, err);
	/* Under older rules, registries did not hold the layers of Windows itself. */
	if (rc == ERROR_NOT_FOUND && (strstr(descriptor->media_type, "foreign") != NULL ||
				      strstr(descriptor->media_type, "nondistributable") != NULL)) {
		reader->contents->layers_absent++;
		return 0;
	}
	if (rc < 0)
		return rc;

	/* For a filter that it was built without, libarchive would start a program: none is allowed. */
	struct archive *archive CLEANUP(free_archive) = archive_read_new();
	if (archive == NULL)
		return error_memory(err);
	if (archive_read_support_format_tar(archive) != ARCHIVE_OK ||
	    archive_read_support_format_empty(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
	    archive_read_support_filter_zstd(archive) != ARCHIVE_OK)
		return error_set(err, ERROR_UNSUPPORTED,
				 "this libarchive cannot read gzip and zstd by itself");
	reader->stream = stream;
	reader->archive = archive;
	if (archive_read_open(archive, reader, NULL, read_chunk, NULL) != ARCHIVE_OK)
		return archive_failed(reader);
	return read_entries(reader);
}

int image_contents_read(struct image_source *source, const struct image *image,
			contents_progress *progress, struct image_contents *out, struct error *err)
{
	struct files files CLEANUP(files_free) = {0};
	struct image_contents contents CLEANUP_IMAGE_CONTENTS = {0};
	struct layer_reader *reader CLEANUP_FREE = memory_allocate(1, sizeof(*reader));
	*reader = (struct layer_reader){.files = &files, .contents = &contents, .err = err};
	for (size_t i = 0; i < image->layer_count; i++) {
		if (progress != NULL)
			progress(i, image->layer_count);
		int rc = read_layer(source, &image->layers[i], reader);
		if (rc < 0)
			return error_wrap(err, rc, "layer %zu (%s)", i + 1,
					  image->layers[i].digest);
		files_end_layer(&files);
	}
	contents_conclude(&files, image, &contents);
	*out = STEAL(contents);
	return 0;
}
