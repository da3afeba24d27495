/* SPDX-License-Identifier: MIT */
#include "containers/registry/archive_file.h"

#include "base/digest.h"
#include "base/json.h"
#include "base/members.h"

#include <string.h>

/* What `docker save` wrote before Docker 25 has no digests but those of the unpacked layers, which
 * the configuration tells ("rootfs.diff_ids"). Each image gets the manifest that its files stand for. */
struct archive_blob {
	const char *digest;
	const char *name; /* of an entry; NULL: `data` */
	const char *data;
	size_t size;
};

struct archive_source {
	struct archive_file file;
	struct image_index index; /* until it is asked for */
	struct arena arena;
	struct archive_blob *blobs;
	size_t blob_count;
};

static void archive_close(void *self)
{
	struct archive_source *source = self;
	archive_file_close(&source->file);
	image_index_free(&source->index);
	arena_free(&source->arena);
	free(source);
}

static void source_cleanup(struct archive_source **source)
{
	if (*source != NULL)
		archive_close(*source);
}

static int archive_index(void *self, struct image_index *out, struct error *err)
{
	struct archive_source *source = self;
	(void)err;
	*out = source->index;
	source->index = (struct image_index){0};
	return 0;
}

static const struct archive_blob *find_blob(const struct archive_source *source, const char *digest)
{
	for (size_t i = 0; i < source->blob_count; i++) {
		if (strcmp(source->blobs[i].digest, digest) == 0)
			return &source->blobs[i];
	}
	return NULL;
}

static int open_memory(const struct archive_blob *blob, struct blob_reader **out, struct error *err)
{
	char *data = malloc(blob->size);
	if (data == NULL)
		return error_memory(err);
	memcpy(data, blob->data, blob->size);
	return blob_memory_open(data, blob->size, out, err);
}

static int open_name(const struct archive_source *source, const char *name,
		     struct blob_reader **out, struct error *err)
{
	const struct archive_entry_place *entry = archive_file_find(&source->file, name);
	return entry != NULL ? archive_file_read(&source->file, entry, out, err)
			     : error_set(err, ERROR_NOT_FOUND, "the archive has no file %s", name);
}

static int archive_open_blob(void *self, const struct image_descriptor *what, bool is_document,
			     struct blob_reader **out, struct error *err)
{
	const struct archive_source *source = self;
	const struct archive_blob *blob = find_blob(source, what->digest);
	(void)is_document;
	if (blob != NULL && blob->name == NULL)
		return open_memory(blob, out, err);
	char *name CLEANUP_FREE =
		text_format("blobs/%.6s/%s", what->digest, what->digest + sizeof("sha256"));
	if (name == NULL)
		return error_memory(err);
	return open_name(source, blob != NULL ? blob->name : name, out, err);
}

static const struct source_kind archive_kind = {archive_index, archive_open_blob, archive_close};

/* A small file of the archive, as it is. */
static int read_name(const struct archive_source *source, const char *name, struct text *out,
		     struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	char chunk[4096];
	size_t count = 0;
	int rc = open_name(source, name, &reader, err);
	do {
		if (rc == 0)
			rc = reader->read(reader, chunk, sizeof(chunk), &count, err);
		if (rc == 0 && count > IMAGE_DOCUMENT_MAX - out->size)
			rc = error_set(err, ERROR_LIMIT, "%s: longer than %d bytes", name,
				       IMAGE_DOCUMENT_MAX);
		text_append(out, chunk, rc == 0 ? count : 0);
	} while (rc == 0 && count > 0);
	return rc == 0 && out->failed ? error_memory(err) : rc;
}

static int add_blob(struct archive_source *source, struct archive_blob blob, struct error *err)
{
	struct archive_blob *grown =
		arena_grow(&source->arena, source->blobs, source->blob_count, sizeof(*grown));
	if (grown == NULL)
		return error_memory(err);
	source->blobs = grown;
	grown[source->blob_count] = blob;
	grown[source->blob_count].digest = arena_string(&source->arena, blob.digest);
	if (blob.name != NULL)
		grown[source->blob_count].name = arena_string(&source->arena, blob.name);
	source->blob_count++;
	return source->arena.failed ? error_memory(err) : 0;
}

static cJSON *new_descriptor(const char *media_type, const char *digest, uint64_t size)
{
	struct members members CLEANUP_MEMBERS = members_new();
	member_string(&members, "mediaType", media_type);
	member_string(&members, "digest", digest);
	member_int(&members, "size", (int64_t)size);
	return members_take(&members);
}

/* Layers of the archive and their digests in the configuration: the same number, in the same order. */
static int add_layers(struct archive_source *source, const struct json_at *files,
		      const cJSON *configuration, cJSON *layers, struct error *err)
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
		int rc = add_blob(source, (struct archive_blob){digest, entry->name, NULL, 0}, err);
		if (rc < 0 ||
		    !array_add(layers,
			       new_descriptor("application/vnd.docker.image.rootfs.diff.tar",
					      digest, entry->size)))
			return rc < 0 ? rc : error_memory(err);
		id = id->next;
	}
	return 0;
}

/* The manifest into `source`, its descriptor into *entry. */
static int add_manifest(struct archive_source *source, cJSON *configuration, cJSON *layers,
			cJSON **entry, struct error *err)
{
	struct members manifest CLEANUP_MEMBERS = members_new();
	char digest[DIGEST_SIZE] = "";
	static const char type[] = "application/vnd.docker.distribution.manifest.v2+json";
	member_int(&manifest, "schemaVersion", 2);
	member_string(&manifest, "mediaType", type);
	member_item(&manifest, "config", configuration);
	member_copy(&manifest, "layers", layers);
	cJSON *built CLEANUP_JSON = members_take(&manifest);
	char *printed CLEANUP_FREE = built != NULL ? json_print_compact(built) : NULL;
	if (printed == NULL)
		return error_memory(err);
	size_t size = strlen(printed);
	digest_bytes(printed, size, digest);
	const char *kept = arena_string(&source->arena, printed);
	*entry = new_descriptor(type, digest, size);
	int rc = add_blob(source, (struct archive_blob){digest, NULL, kept, size}, err);
	return rc == 0 && *entry == NULL ? error_memory(err) : rc;
}

static int add_image(struct archive_source *source, const struct json_at *image, cJSON **entry,
		     struct error *err)
{
	struct json_at files = {0};
	struct text text CLEANUP_TEXT = {0};
	cJSON *configuration CLEANUP_JSON = NULL;
	cJSON *layers CLEANUP_JSON = cJSON_CreateArray();
	const char *name = NULL;
	char digest[DIGEST_SIZE] = "";
	int rc = json_need_string(image, "Config", &name, err);
	if (rc == 0)
		rc = json_need(image, "Layers", JSON_ARRAY, &files, err);
	if (rc == 0)
		rc = read_name(source, name, &text, err);
	if (rc == 0)
		rc = image_document_parse(text_string(&text), text.size, &configuration, err);
	if (rc == 0)
		rc = layers != NULL ? add_layers(source, &files, configuration, layers, err)
				    : error_memory(err);
	if (rc < 0)
		return rc;
	digest_bytes(text_string(&text), text.size, digest);
	rc = add_blob(source, (struct archive_blob){digest, name, NULL, 0}, err);
	if (rc < 0)
		return rc;
	return add_manifest(
		source,
		new_descriptor("application/vnd.docker.container.image.v1+json", digest, text.size),
		layers, entry, err);
}

/* One entry of the index for each name, one without a name for an image that has none. */
static int add_entries(const struct json_at *image, const cJSON *descriptor, cJSON *manifests,
		       struct error *err)
{
	struct json_at tags = {0};
	int rc = json_have(image, "RepoTags", JSON_ARRAY, &tags, err);
	if (rc == 0 && json_count(&tags) == 0)
		rc = members_append(manifests, cJSON_Duplicate(descriptor, true), err);
	json_each (tag, tags.node) {
		struct members name CLEANUP_MEMBERS = members_new();
		cJSON *entry = cJSON_Duplicate(descriptor, true);
		member_copy(&name, "org.opencontainers.image.ref.name", tag);
		(void)cJSON_AddItemToObject(entry, "annotations", members_take(&name));
		rc = rc == 0 ? members_append(manifests, entry, err) : rc;
	}
	return rc;
}

static int read_docker(struct archive_source *source, const struct source_name *name,
		       const cJSON *document, struct error *err)
{
	struct json_at root = json_root(document);
	cJSON *index CLEANUP_JSON = cJSON_CreateObject();
	cJSON *manifests = index != NULL ? cJSON_AddArrayToObject(index, "manifests") : NULL;
	size_t place = 0;
	if (manifests == NULL)
		return error_memory(err);
	if (!cJSON_IsArray(document))
		return json_error(&root, err, "expected array");
	json_each (item, document) {
		struct json_at image = {.node = item, .parent = &root, .index = place++};
		cJSON *descriptor CLEANUP_JSON = NULL;
		int rc = add_image(source, &image, &descriptor, err);
		if (rc == 0)
			rc = add_entries(&image, descriptor, manifests, err);
		if (rc < 0)
			return rc;
	}
	return source_choose_entries(index, name, &source->index, err);
}

static int read_archive(struct archive_source *source, const struct source_name *name,
			struct error *err)
{
	struct text text CLEANUP_TEXT = {0};
	cJSON *document CLEANUP_JSON = NULL;
	bool is_layout = archive_file_find(&source->file, "oci-layout") != NULL;
	const char *top = is_layout ? "index.json" : "manifest.json";
	int rc = 0;
	if (!is_layout && archive_file_find(&source->file, top) == NULL)
		return error_set(err, ERROR_FORMAT,
				 "not an image: the archive has neither \"oci-layout\" nor "
				 "\"manifest.json\"");
	if (is_layout)
		rc = read_name(source, "oci-layout", &text, err);
	if (rc == 0 && is_layout)
		rc = source_check_layout(text_string(&text), text.size, err);
	text_reset(&text);
	if (rc == 0)
		rc = read_name(source, top, &text, err);
	if (rc < 0)
		return rc;
	rc = image_document_parse(text_string(&text), text.size, &document, err);
	if (rc == 0)
		rc = is_layout ? source_choose_entries(document, name, &source->index, err)
			       : read_docker(source, name, document, err);
	return rc < 0 ? error_wrap(err, rc, "%s", top) : 0;
}

int source_archive_open(const struct source_name *name, const struct source_kind **kind,
			void **self, struct error *err)
{
	struct archive_source *source CLEANUP(source_cleanup) = calloc(1, sizeof(*source));
	if (source == NULL)
		return error_memory(err);
	int rc = archive_file_open(name->path, &source->file, err);
	if (rc == 0)
		rc = read_archive(source, name, err);
	if (rc < 0)
		return rc;
	*kind = &archive_kind;
	*self = STEAL(source);
	return 0;
}
