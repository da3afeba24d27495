/* SPDX-License-Identifier: MIT */
#include "containers/registry/archive_file.h"

#include "base/digest.h"
#include "base/json.h"

#include <inttypes.h>
#include <string.h>

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
	archive_file_close(&source->file);
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
