/* SPDX-License-Identifier: MIT */
#include "containers/registry/content_cache.h"
#include "containers/registry/internal.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

#include <string.h>

/* Nested indexes: how deep, and how many documents. */
enum { DEPTH_MAX = 4, DOCUMENTS_MAX = 100 };

struct image_source {
	struct source from;
	char *string;
	struct image_index index; /* as image_source_index() tells it */
	bool is_read, has_kept;
	struct error failure;	   /* of reading it, which stays */
	struct text_list expanded; /* digests of indexes */
};

void image_source_close(struct image_source **source)
{
	struct image_source *closed = STEAL(*source);
	struct content_cache_size size = {0};
	if (closed == NULL)
		return;
	if (closed->from.self != NULL)
		closed->from.kind->close(closed->from.self);
	if (closed->from.cache != NULL && closed->has_kept)
		(void)content_cache_prune(closed->from.cache, CONTENT_CACHE_MAX, &size, NULL);
	image_index_free(&closed->from.top);
	image_index_free(&closed->index);
	text_list_free(&closed->expanded);
	free(closed->from.cache);
	free(closed->string);
	free(closed);
}

/* PATH[:TAG][@DIGEST]: a colon in front of the last separator belongs to the path, as that of "C:\"
 * does. The path may have a colon when it exists as it stands. */
static int source_name_parse(const char *string, struct arena *arena, struct source_name *out,
			     struct error *err)
{
	const char *at = strrchr(string, '@');
	bool has_digest = at != NULL && digest_is_valid(at + 1);
	int length = (int)(has_digest ? (size_t)(at - string) : strlen(string));
	out->whole = string;
	out->path = arena_format(arena, "%.*s", length, string);
	out->digest = has_digest ? at + 1 : NULL;
	const char *whole = out->path;
	for (const char *colon = whole; (colon = strchr(colon, ':')) != NULL; colon++) {
		const char *path = arena_format(arena, "%.*s", (int)(colon - whole), whole);
		if (!file_exists(path) || colon[1] == '\0' || file_exists(whole))
			continue;
		out->path = path;
		out->tag = colon + 1;
		break;
	}
	return arena->failed ? error_memory(err) : 0;
}

static const struct {
	const char *prefix;
	int (*open)(const struct source_name *name, const struct image_source_options *options,
		    struct source *out, struct error *err);
} kinds[] = {
	{"oci:", source_layout_open},
	{"oci-archive:", source_layout_open},
	{"docker-archive:", source_layout_open},
	{"containerd:", source_containerd_open},
	{"docker://", source_registry_open},
	{"", source_registry_open},
};

int image_source_open(const char *string, const struct image_source_options *options,
		      struct image_source **out, struct error *err)
{
	static const struct image_source_options defaults = {0};
	struct source_name name = {0};
	struct image_source *source CLEANUP_IMAGE_SOURCE = calloc(1, sizeof(*source));
	if (source == NULL || (source->string = strdup(string)) == NULL)
		return error_memory(err);
	size_t kind = 0;
	while (!text_starts_with(string, kinds[kind].prefix))
		kind++;
	int rc = source_name_parse(string + strlen(kinds[kind].prefix), &source->index.arena, &name,
				   err);
	if (rc == 0)
		rc = kinds[kind].open(&name, options != NULL ? options : &defaults, &source->from,
				      err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", string);
	*out = STEAL(source);
	return 0;
}

static int open_blob(struct image_source *source, const struct image_descriptor *what,
		     bool is_document, struct blob_reader **out, struct error *err)
{
	struct source *from = &source->from;
	struct blob_reader *reader = NULL;
	bool is_copy =
		from->cache != NULL && content_cache_open(from->cache, what, &reader, NULL) == 0;
	int rc = is_copy ? 0 : from->kind->open(from->self, what, is_document, &reader, err);
	source->has_kept = source->has_kept || !is_copy;
	return rc == 0 ? blob_verify(reader, what, from->cache, is_copy, out, err) : rc;
}

static int read_all(struct image_source *source, const struct image_descriptor *what,
		    bool is_manifest, struct text *text, struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	int rc = open_blob(source, what, is_manifest, &reader, err);
	return rc == 0 ? blob_read_all(reader, IMAGE_DOCUMENT_MAX, text, err) : rc;
}

static int read_document(struct image_source *source, const struct image_descriptor *what,
			 bool is_manifest, cJSON **out, struct error *err)
{
	struct text text CLEANUP_TEXT = {0};
	struct error failure = {0};
	if (what->size != UINT64_MAX && what->size > IMAGE_DOCUMENT_MAX)
		return error_set(err, ERROR_LIMIT, "%s: a document of %llu bytes, more than %d",
				 what->digest, (unsigned long long)what->size, IMAGE_DOCUMENT_MAX);
	int rc = read_all(source, what, is_manifest, &text, &failure);
	/* The copy in the cache may have been wrong, which is gone now. */
	if (rc == ERROR_PROTOCOL && source->from.cache != NULL) {
		failure = (struct error){0};
		text_reset(&text);
		rc = read_all(source, what, is_manifest, &text, &failure);
	}
	if (rc < 0)
		return error_copy(err, &failure);
	rc = image_document_parse(text_string(&text), text.size, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", what->digest) : 0;
}

/* What is not known is read: what a digest alone names. */
static int learn_type(struct image_source *source, struct image_index_entry *entry,
		      cJSON **document, struct error *err)
{
	const char *type = entry->descriptor.media_type;
	int rc = read_document(source, &entry->descriptor, true, document, err);
	if (rc < 0)
		return rc;
	rc = image_document_type(*document, type, &type, err);
	if (rc == 0 && image_media_type_is_manifest(entry->descriptor.media_type) &&
	    image_media_type_is_index(type))
		rc = error_set(err, ERROR_FORMAT, "an index where a manifest was promised");
	entry->descriptor.media_type = arena_string(&source->index.arena, type);
	return rc < 0 ? error_wrap(err, rc, "%s", entry->descriptor.digest) : 0;
}

static int expand(struct image_source *source, const struct image_index *from, unsigned depth,
		  struct error *err);

/* An index inside an index: its entries stand in its place. */
static int expand_entry(struct image_source *source, struct image_index_entry entry, unsigned depth,
			struct error *err)
{
	struct image_index nested = {0};
	cJSON *document CLEANUP_JSON = NULL;
	const char *digest = entry.descriptor.digest;
	if (entry.descriptor.media_type[0] != '\0' &&
	    !image_media_type_is_index(entry.descriptor.media_type))
		return image_index_add(&source->index, &entry, err);
	if (text_list_has(&source->expanded, digest))
		return 0;
	if (depth == DEPTH_MAX)
		return error_set(err, ERROR_LIMIT, "%s: indexes nested deeper than %d", digest,
				 DEPTH_MAX);
	if (source->expanded.count == DOCUMENTS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d indexes", DOCUMENTS_MAX);
	int rc = text_list_add(&source->expanded, digest, err);
	if (rc == 0)
		rc = learn_type(source, &entry, &document, err);
	if (rc < 0)
		return rc;
	if (image_media_type_is_manifest(entry.descriptor.media_type))
		return image_index_add(&source->index, &entry, err);
	nested.arena = source->index.arena;
	rc = image_index_read(document, &nested, err);
	source->index.arena = nested.arena;
	return rc == 0 ? expand(source, &nested, depth + 1, err)
		       : error_wrap(err, rc, "%s", digest);
}

static int expand(struct image_source *source, const struct image_index *from, unsigned depth,
		  struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < from->count; i++)
		rc = expand_entry(source, from->entries[i], depth, err);
	return rc;
}

int image_source_index(struct image_source *source, const struct image_index **out,
		       struct error *err)
{
	struct source *from = &source->from;
	struct error *failure = &source->failure;
	*out = &source->index;
	if (!source->is_read) {
		int rc = from->kind->index != NULL
				 ? from->kind->index(from->self, &from->top, failure)
				 : 0;
		source->is_read = true;
		rc = rc == 0 ? expand(source, &from->top, 0, failure) : rc;
		if (rc < 0)
			(void)error_wrap(failure, rc, "%s", source->string);
	}
	return failure->code != 0 ? error_copy(err, failure) : 0;
}

static int load(struct image_source *source, const struct image_index_entry *entry,
		struct image *out, struct error *err)
{
	cJSON *manifest CLEANUP_JSON = NULL;
	cJSON *configuration CLEANUP_JSON = NULL;
	struct image_index_entry learnt = *entry;
	struct image_descriptor where = {0};
	int rc = learn_type(source, &learnt, &manifest, err);
	if (rc < 0)
		return rc;
	rc = image_manifest_read(manifest, out, &where, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", entry->descriptor.digest);
	if (out->artifact_type[0] != '\0')
		return 0;
	rc = read_document(source, &where, false, &configuration, err);
	if (rc == 0)
		rc = image_configuration_read(configuration, out, err);
	return rc < 0 ? error_wrap(err, rc, "configuration") : 0;
}

int image_source_load_entry(struct image_source *source, const struct image_index_entry *entry,
			    struct image *out, struct error *err)
{
	static const struct image_platform nothing = {"", "", "", "", NULL, 0};
	*out = (struct image){.platform = nothing};
	out->reference = arena_string(&out->arena, source->string);
	out->digest = arena_string(&out->arena, entry->descriptor.digest);
	int rc = load(source, entry, out, err);
	if (rc == 0 && out->arena.failed)
		rc = error_memory(err);
	if (rc == 0)
		return 0;
	image_free(out);
	return error_wrap(err, rc, "%s", source->string);
}

int image_source_load(struct image_source *source, const struct image_platform *wanted,
		      struct image *out, struct error *err)
{
	const struct image_index *index = NULL;
	const struct image_index_entry *entry = NULL;
	int rc = image_source_index(source, &index, err);
	if (rc < 0)
		return rc;
	rc = image_index_choose(index, wanted, &entry, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", source->string);
	rc = image_source_load_entry(source, entry, out, err);
	if (rc < 0 || out->artifact_type[0] == '\0')
		return rc;
	rc = error_set(err, ERROR_UNSUPPORTED, "%s: an artifact of type %s, not an image",
		       source->string, out->artifact_type);
	image_free(out);
	return rc;
}

int image_source_referrers(struct image_source *source, const char *digest,
			   const char *artifact_type, struct image_index *out, struct error *err)
{
	const struct source *from = &source->from;
	*out = (struct image_index){0};
	if (from->kind->referrers == NULL || (digest == NULL && from->top.count == 0))
		return 0;
	const char *of = digest != NULL ? digest : from->top.entries[0].descriptor.digest;
	if (digest == NULL && source->index.count == 1 &&
	    strcmp(source->index.entries[0].descriptor.digest, of) == 0)
		return 0; /* it stands for the image itself */
	return from->kind->referrers(from->self, of, artifact_type, out, err);
}

int image_source_open_layer(struct image_source *source, const struct image_descriptor *layer,
			    struct blob_reader **out, struct error *err)
{
	int rc = open_blob(source, layer, false, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", source->string) : 0;
}
