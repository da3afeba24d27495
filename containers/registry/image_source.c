/* SPDX-License-Identifier: MIT */
#include "containers/registry/content_cache.h"
#include "containers/registry/internal.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"

#include <string.h>

/* Nested indexes: how deep, and how many documents. */
enum { DEPTH_MAX = 4, DOCUMENTS_MAX = 100 };

struct image_source {
	struct source from;
	char *string;
	struct image_index index; /* returned by image_source_index() */
	bool is_read, has_kept;
	struct error failure;	   /* permanent failure of reading it */
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
	struct image_source *source CLEANUP_IMAGE_SOURCE = memory_allocate(1, sizeof(*source));
	struct arena *arena = &source->index.arena;
	size_t kind = 0;
	source->string = memory_copy(string);
	while (!text_starts_with(string, kinds[kind].prefix))
		kind++;

	/* PATH[:TAG][@DIGEST]: a colon in front of the last separator belongs to the path, as in "C:\". The path may
	 * contain a colon when it exists as written. */
	const char *rest = string + strlen(kinds[kind].prefix);
	const char *at = strrchr(rest, '@');
	const bool has_digest = at != NULL && digest_is_valid(at + 1);
	const int length = (int)(has_digest ? (size_t)(at - rest) : strlen(rest));
	const char *whole = arena_format(arena, "%.*s", length, rest);
	struct source_name name = {rest, whole, NULL, has_digest ? at + 1 : NULL};
	for (const char *colon = whole; name.tag == NULL && (colon = strchr(colon, ':')) != NULL;
	     colon++) {
		const char *path = arena_format(arena, "%.*s", (int)(colon - whole), whole);
		if (!file_exists(path) || colon[1] == '\0' || file_exists(whole))
			continue;
		name.path = path;
		name.tag = colon + 1;
	}

	int rc = kinds[kind].open(&name, options != NULL ? options : &defaults, &source->from, err);
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
	if (!is_copy) {
		int rc = from->kind->open(from->self, what, is_document, &reader, err);
		source->has_kept = true;
		if (rc < 0)
			return rc;
	}
	return blob_verify(reader, what, from->cache, is_copy, out, err);
}

static int read_document(struct image_source *source, const struct image_descriptor *what,
			 bool is_manifest, cJSON **out, struct error *err)
{
	struct text text CLEANUP_TEXT = {0};
	struct error failure = {0};
	int rc = ERROR_PROTOCOL;
	if (what->size != UINT64_MAX && what->size > IMAGE_DOCUMENT_MAX)
		return error_set(err, ERROR_LIMIT, "%s: a document of %llu bytes, more than %d",
				 what->digest, (unsigned long long)what->size, IMAGE_DOCUMENT_MAX);

	/* Reading removes a wrong copy from the cache; the second attempt asks the registry. */
	int attempts = source->from.cache != NULL ? 2 : 1;
	while (rc == ERROR_PROTOCOL && attempts-- > 0) {
		struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
		failure = (struct error){0};
		text_reset(&text);
		rc = open_blob(source, what, is_manifest, &reader, &failure);
		if (rc == 0)
			rc = blob_read_all(reader, IMAGE_DOCUMENT_MAX, &text, &failure);
	}
	if (rc < 0)
		return error_copy(err, &failure);
	rc = image_document_parse(text_string(&text), text.size, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", what->digest) : 0;
}

/* Reads the document of an entry, whose media type may be unknown until then. */
static int read_entry(struct image_source *source, struct image_index_entry *entry,
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

/* Adds an entry, or in place of an index the entries of that index. */
static int expand_entry(struct image_source *source, struct image_index_entry entry, unsigned depth,
			struct error *err)
{
	struct image_index nested = {0};
	cJSON *document CLEANUP_JSON = NULL;
	const char *digest = entry.descriptor.digest;
	if (entry.descriptor.media_type[0] != '\0' &&
	    !image_media_type_is_index(entry.descriptor.media_type)) {
		image_index_add(&source->index, &entry);
		return 0;
	}
	if (text_list_has(&source->expanded, digest))
		return 0;
	if (depth == DEPTH_MAX)
		return error_set(err, ERROR_LIMIT, "%s: indexes nested deeper than %d", digest,
				 DEPTH_MAX);
	if (source->expanded.count == DOCUMENTS_MAX)
		return error_set(err, ERROR_LIMIT, "more than %d indexes", DOCUMENTS_MAX);
	text_list_add(&source->expanded, digest);
	int rc = read_entry(source, &entry, &document, err);
	if (rc < 0)
		return rc;
	if (image_media_type_is_manifest(entry.descriptor.media_type)) {
		image_index_add(&source->index, &entry);
		return 0;
	}
	nested.arena = source->index.arena;
	rc = image_index_read(document, &nested, err);
	source->index.arena = nested.arena;
	if (rc < 0)
		return error_wrap(err, rc, "%s", digest);
	return expand(source, &nested, depth + 1, err);
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
		int rc = 0;
		source->is_read = true;
		if (from->kind->index != NULL)
			rc = from->kind->index(from->self, &from->top, failure);
		if (rc == 0)
			rc = expand(source, &from->top, 0, failure);
		if (rc < 0)
			(void)error_wrap(failure, rc, "%s", source->string);
	}
	return failure->code == 0 ? 0 : error_copy(err, failure);
}

int image_source_load_entry(struct image_source *source, const struct image_index_entry *entry,
			    struct image *out, struct error *err)
{
	static const struct image_platform nothing = {"", "", "", ""};
	cJSON *manifest CLEANUP_JSON = NULL;
	cJSON *configuration CLEANUP_JSON = NULL;
	struct image_index_entry copy = *entry;
	struct image_descriptor where = {0};
	*out = (struct image){.platform = nothing};
	out->reference = arena_string(&out->arena, source->string);
	out->digest = arena_string(&out->arena, entry->descriptor.digest);
	int rc = read_entry(source, &copy, &manifest, err);
	if (rc == 0) {
		rc = image_manifest_read(manifest, out, &where, err);
		if (rc < 0)
			(void)error_wrap(err, rc, "%s", out->digest);
	}
	if (rc == 0 && out->artifact_type[0] == '\0') {
		rc = read_document(source, &where, false, &configuration, err);
		if (rc == 0)
			rc = image_configuration_read(configuration, out, err);
		if (rc < 0)
			(void)error_wrap(err, rc, "configuration");
	}
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
	    text_equal(source->index.entries[0].descriptor.digest, of))
		return 0; /* the source is a single image */
	return from->kind->referrers(from->self, of, artifact_type, out, err);
}

int image_source_open_layer(struct image_source *source, const struct image_descriptor *layer,
			    struct blob_reader **out, struct error *err)
{
	int rc = open_blob(source, layer, false, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", source->string) : 0;
}
