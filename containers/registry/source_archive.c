/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/path.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * A tar file whose entries are looked up by name and read as streams, also compressed: then each look-up
 * reads from the beginning. Only regular files count, and links to them inside the archive (Docker before
 * 1.11 wrote equal layers as links). Whatever a name or a link says, no path of the file system is used.
 */
enum {
	CHUNK_SIZE = 65536,
	ENTRIES_MAX = 20000,
	NAMES_MAX = 4 * 1024 * 1024, /* bytes of all names */
	/* How far compressed files may grow: DEFLATE reaches 1:1032. */
	RATIO_MAX = 1100,
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
	return grown / RATIO_MAX <= stored + CHUNK_SIZE
		       ? 0
		       : error_set(err, ERROR_LIMIT, "%s: unpacks to more than %d times its size",
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
	if (file->count == ENTRIES_MAX || file->names_size > NAMES_MAX)
		return error_set(err, ERROR_LIMIT,
				 "%s: more than %d files, or names longer than %d bytes",
				 file->path, ENTRIES_MAX, NAMES_MAX);
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

/* Lists the entries. */
static int archive_file_open(const char *path, struct archive_file *out, struct error *err)
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

/* The entry for a name, links followed; NULL: there is none. */
static const struct archive_entry_place *archive_file_find(const struct archive_file *file,
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

static int archive_file_read(const struct archive_file *file, const char *name,
			     struct blob_reader **out, struct error *err)
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

/* What `docker save` wrote before Docker 25 has no digests but those of the unpacked layers, which
 * the configuration tells ("rootfs.diff_ids"). Each image gets the manifest that its files stand for. */
struct archive_blob {
	const char *digest;
	const char *name; /* of an entry; NULL: `data` */
	const char *data;
};

struct archive_source {
	struct archive_file file;
	struct arena arena;
	struct archive_blob *blobs;
	size_t blob_count;
};

static void archive_close(void *self)
{
	struct archive_source *source = self;
	arena_free(&source->file.arena);
	arena_free(&source->arena);
	free(source);
}

static int archive_open_blob(void *self, const struct image_descriptor *what, bool is_document,
			     struct blob_reader **out, struct error *err)
{
	const struct archive_source *source = self;
	struct text data CLEANUP_TEXT = {0};
	char *own CLEANUP_FREE = blob_path("blobs", what->digest);
	const char *name = own;
	(void)is_document;
	if (own == NULL)
		return error_memory(err);
	for (size_t i = 0; i < source->blob_count; i++) {
		if (strcmp(source->blobs[i].digest, what->digest) != 0)
			continue;
		name = source->blobs[i].name;
		text_add(&data, source->blobs[i].data != NULL ? source->blobs[i].data : "");
	}
	return name != NULL ? archive_file_read(&source->file, name, out, err)
			    : blob_text_open(&data, out, err);
}

static const struct source_kind archive_kind = {.open = archive_open_blob, .close = archive_close};

/* A small file of the archive, as it is. */
static int read_name(const struct archive_source *source, const char *name, struct text *out,
		     struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	int rc = archive_file_read(&source->file, name, &reader, err);
	return rc == 0 ? blob_read_all(reader, name, out, err) : rc;
}

/* `data` NULL: an entry of the archive. */
static int add_blob(struct archive_source *source, const char *digest, const char *name,
		    const char *data, struct error *err)
{
	struct archive_blob *grown =
		arena_grow(&source->arena, source->blobs, source->blob_count, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	source->blobs = grown;
	grown[source->blob_count++] = (struct archive_blob){
		.digest = arena_string(&source->arena, digest),
		.name = data == NULL ? arena_string(&source->arena, name) : NULL,
		.data = data != NULL ? arena_string(&source->arena, data) : NULL,
	};
	return source->arena.failed ? error_memory(err) : 0;
}

#define DOCKER(type) "application/vnd.docker." type

static void add_descriptor(struct text *out, const char *media_type, const char *digest,
			   uint64_t size)
{
	text_addf(out, "{\"mediaType\": \"%s\", \"digest\": \"%s\", \"size\": %" PRIu64 "}",
		  media_type, digest, size);
}

/* Layers of the archive and their digests in the configuration: the same number, in the same order. */
static int add_layers(struct archive_source *source, const struct json_at *files,
		      const cJSON *configuration, struct text *manifest, struct error *err)
{
	const cJSON *ids = json_pointer(configuration, "/rootfs/diff_ids");
	if (!cJSON_IsArray(ids) || json_count(files) != (size_t)cJSON_GetArraySize(ids) ||
	    json_count(files) > IMAGE_LAYERS_MAX)
		return json_error(files, err,
				  "not as many as rootfs.diff_ids of the configuration");
	const cJSON *id = ids->child;
	json_each (item, files->node) {
		const char *name = cJSON_GetStringValue(item);
		const char *digest = cJSON_GetStringValue(id);
		const struct archive_entry_place *entry =
			name != NULL ? archive_file_find(&source->file, name) : NULL;
		if (entry == NULL || digest == NULL || !digest_is_valid(digest))
			return json_error(files, err,
					  "a layer that the archive lacks, or without a digest");
		int rc = add_blob(source, digest, entry->name, NULL, err);
		if (rc < 0)
			return rc;
		text_add(manifest, id != ids->child ? ", " : "");
		add_descriptor(manifest, DOCKER("image.rootfs.diff.tar"), digest, entry->size);
		id = id->next;
	}
	return 0;
}

/* The manifest into `source`, its descriptor into *entry. */
static int add_image(struct archive_source *source, const struct json_at *image, struct text *entry,
		     struct error *err)
{
	static const char type[] = DOCKER("distribution.manifest.v2+json");
	struct json_at files = {0};
	struct text text CLEANUP_TEXT = {0};
	struct text manifest CLEANUP_TEXT = {0};
	cJSON *configuration CLEANUP_JSON = NULL;
	const char *name = NULL;
	char digest[DIGEST_SIZE] = "";
	int rc = json_need_string(image, "Config", &name, err);
	if (rc == 0)
		rc = json_need(image, "Layers", JSON_ARRAY, &files, err);
	if (rc == 0)
		rc = read_name(source, name, &text, err);
	if (rc == 0)
		rc = image_document_parse(text_string(&text), text.size, &configuration, err);
	if (rc < 0)
		return rc;
	digest_bytes(text_string(&text), text.size, digest);
	text_addf(&manifest, "{\"schemaVersion\": 2, \"mediaType\": \"%s\", \"config\": ", type);
	add_descriptor(&manifest, DOCKER("container.image.v1+json"), digest, text.size);
	text_add(&manifest, ", \"layers\": [");
	rc = add_blob(source, digest, name, NULL, err);
	if (rc == 0)
		rc = add_layers(source, &files, configuration, &manifest, err);
	text_add(&manifest, "]}");
	if (rc < 0 || manifest.failed)
		return rc < 0 ? rc : error_memory(err);
	digest_bytes(manifest.data, manifest.size, digest);
	add_descriptor(entry, type, digest, manifest.size);
	return add_blob(source, digest, NULL, manifest.data, err);
}

/* One entry of the index for each name, one without a name for an image that has none. */
static int add_entries(const struct json_at *image, const struct text *descriptor,
		       struct text *index, struct error *err)
{
	struct json_at tags = {0};
	int rc = json_have(image, "RepoTags", JSON_ARRAY, &tags, err);
	if (rc == 0 && json_count(&tags) == 0)
		text_addf(index, "%s%s", index->size > 0 ? ", " : "", text_string(descriptor));
	json_each (tag, tags.node) {
		const char *name = cJSON_GetStringValue(tag);
		if (name == NULL)
			return json_error(&tags, err, "expected strings");
		text_addf(index,
			  "%s%.*s, \"annotations\": {\"org.opencontainers.image.ref.name\": ",
			  index->size > 0 ? ", " : "", (int)descriptor->size - 1,
			  text_string(descriptor));
		json_add_quoted(index, name, strlen(name));
		text_add(index, "}}");
	}
	return rc;
}

/* "manifest.json" as an index of manifests, which are made for it. */
static int read_docker(struct archive_source *source, const struct text *text, struct text *index,
		       struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	int rc = image_document_parse(text_string(text), text->size, &document, err);
	struct json_at root = json_root(document);
	struct text entries CLEANUP_TEXT = {0};
	size_t place = 0;
	if (rc == 0 && !cJSON_IsArray(document))
		rc = json_error(&root, err, "expected array");
	json_each (item, document) {
		struct json_at image = {.node = item, .parent = &root, .index = place++};
		struct text descriptor CLEANUP_TEXT = {0};
		if (rc == 0)
			rc = add_image(source, &image, &descriptor, err);
		if (rc == 0)
			rc = add_entries(&image, &descriptor, &entries, err);
	}
	if (rc < 0)
		return error_wrap(err, rc, "manifest.json");
	text_addf(index, "{\"manifests\": [%s]}", text_string(&entries));
	return entries.failed || index->failed ? error_memory(err) : 0;
}

int source_archive_open(const struct source_name *name, const struct image_source_options *options,
			struct source *out, struct error *err)
{
	struct archive_source *source = calloc(1, sizeof(*source));
	struct text text CLEANUP_TEXT = {0};
	struct text index CLEANUP_TEXT = {0};
	(void)options;
	if (source == NULL)
		return error_memory(err);
	*out = (struct source){.kind = &archive_kind, .self = source};
	int rc = archive_file_open(name->path, &source->file, err);
	if (rc < 0)
		return rc;
	if (archive_file_find(&source->file, "oci-layout") != NULL) {
		rc = read_name(source, "oci-layout", &text, err);
		if (rc == 0)
			rc = source_check_layout(text_string(&text), text.size, err);
		if (rc == 0)
			rc = read_name(source, "index.json", &index, err);
	} else if (archive_file_find(&source->file, "manifest.json") != NULL) {
		rc = read_name(source, "manifest.json", &text, err);
		if (rc == 0)
			rc = read_docker(source, &text, &index, err);
	} else {
		rc = error_set(err, ERROR_FORMAT,
			       "not an image: the archive has neither \"oci-layout\" nor "
			       "\"manifest.json\"");
	}
	return rc == 0 ? source_choose_entries(text_string(&index), index.size, name, &out->top,
					       err)
		       : rc;
}
