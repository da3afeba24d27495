/* SPDX-License-Identifier: MIT */
/* Catalogues that are an index of images, and what kind a string names. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "containers/judging/selection/compatibility.h"
#include "containers/judging/selection/internal.h"
#include "containers/registry/reference.h"

#include <string.h>

static const char registry_prefix[] = "docker://";

static bool is_source(const char *string)
{
	static const char *const prefixes[] = {
		registry_prefix, "oci:", "oci-archive:", "docker-archive:", "containerd:"};
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		if (text_starts_with(string, prefixes[i]))
			return true;
	}
	return false;
}

/* A repository of a registry without tag and digest. */
static bool is_repository(const char *string)
{
	const char *name = strrchr(string, '/');
	return text_starts_with(string, registry_prefix) && name != NULL &&
	       strpbrk(name, ":@") == NULL;
}

static const char *created_of(const struct json_pair *pairs, size_t count, struct arena *arena)
{
	const char *value = image_pair_value(pairs, count, "org.opencontainers.image.created");
	return value != NULL && catalogue_date_is_valid(value) ? arena_string(arena, value) : "";
}

static bool is_of_host(const struct image_platform *platform, const struct host_facts *host)
{
	bool told = platform->os[0] != '\0';
	return !told || (text_equal(platform->os, host->os) &&
			 text_equal(host_architecture(platform->architecture), host->architecture));
}

static void copy_platform(const struct image_platform *from, struct arena *arena,
			  struct image_platform *out)
{
	*out = (struct image_platform){.os = arena_string(arena, from->os),
				       .architecture = arena_string(arena, from->architecture),
				       .variant = arena_string(arena, from->variant),
				       .os_version = arena_string(arena, from->os_version)};
}

/* The artifact that was made last; what does not tell its time is the oldest. */
static const struct image_index_entry *newest(const struct image_index *index)
{
	const struct image_index_entry *found = NULL;
	const char *last = "";
	for (size_t i = 0; i < index->count; i++) {
		const struct image_index_entry *it = &index->entries[i];
		const char *created = image_pair_value(it->annotations, it->annotation_count,
						       "org.opencontainers.image.created");
		if (found != NULL && strcmp(created != NULL ? created : "", last) < 0)
			continue;
		found = it;
		last = created != NULL ? created : "";
	}
	return found;
}

static int read_artifact(struct image_source *source, const struct image_index_entry *from,
			 struct text *out, struct error *err)
{
	struct image artifact CLEANUP_IMAGE = {0};
	struct blob_reader *layer CLEANUP_BLOB_READER = NULL;
	int rc = image_source_load_entry(source, from, &artifact, err);
	if (rc == 0 && artifact.layer_count == 0)
		rc = error_set(err, ERROR_FORMAT, "it has no layer");
	if (rc == 0)
		rc = image_source_open_layer(source, &artifact.layers[0], &layer, err);
	return rc == 0 ? blob_read_all(layer, COMPATIBILITY_MAX, out, err) : rc;
}

/* Of the image itself, otherwise of the index that has it. */
static int read_compatibility(struct image_source *source, struct arena *arena,
			      struct catalogue_entry *entry, struct error *err)
{
	struct image_index index CLEANUP_IMAGE_INDEX = {0};
	struct text text CLEANUP_TEXT = {0};
	int rc = image_source_referrers(source, entry->image.digest, COMPATIBILITY_ARTIFACT, &index,
					err);
	if (rc == 0 && index.count == 0) {
		image_index_free(&index);
		rc = image_source_referrers(source, NULL, COMPATIBILITY_ARTIFACT, &index, err);
	}
	if (rc < 0 || index.count == 0)
		return rc;
	const struct image_index_entry *artifact = newest(&index);
	entry->artifact = arena_string(arena, artifact->descriptor.digest);
	rc = read_artifact(source, artifact, &text, err);
	return rc == 0 ? compatibility_parse(text_string(&text), text.size, &entry->compatibility,
					     err)
		       : rc;
}

static int add_compatibility(struct image_source *source, struct arena *arena,
			     struct catalogue_entry *entry, struct error *err)
{
	struct error failure = {0};
	int rc = read_compatibility(source, arena, entry, &failure);
	if (rc < 0)
		entry->not_read = arena_string(arena, failure.text);
	return rc == ERROR_MEMORY ? error_copy(err, &failure) : 0;
}

static int fill_entry(struct image_source *source, const struct image_index_entry *from,
		      const struct host_facts *host, struct arena *arena,
		      struct catalogue_entry *entry, struct error *err)
{
	struct image *image = &entry->image;
	entry->created = created_of(from->annotations, from->annotation_count, arena);
	if (!is_of_host(&from->platform, host)) {
		copy_platform(&from->platform, arena, &image->platform);
		return 0;
	}
	int rc = image_source_load_entry(source, from, image, err);
	if (rc < 0)
		return rc;
	if (image->artifact_type[0] != '\0')
		return 0; /* the index did not say so, and it has no platform */
	entry->loaded = true;
	/* The index may be more exact: a configuration seldom names the variant. */
	if (image->platform.variant[0] == '\0')
		image->platform.variant = arena_string(arena, from->platform.variant);
	if (entry->created[0] == '\0')
		entry->created = created_of(image->annotations, image->annotation_count, arena);
	if (entry->created[0] == '\0')
		entry->created = created_of(image->labels, image->label_count, arena);
	return add_compatibility(source, arena, entry, err);
}

/* Artifacts have a type or the platform "unknown/unknown" (attestations of BuildKit). */
static bool is_artifact(const struct image_index_entry *entry)
{
	return entry->artifact_type[0] != '\0' || text_equal(entry->platform.os, "unknown");
}

static int add_source(const char *string, const struct host_facts *host,
		      const struct image_source_options *options, struct catalogue *out,
		      struct error *err)
{
	struct image_source *source CLEANUP_IMAGE_SOURCE = NULL;
	const struct image_index *index = NULL;
	int rc = image_source_open(string, options, &source, err);
	if (rc == 0)
		rc = image_source_index(source, &index, err);
	for (size_t i = 0; rc == 0 && i < index->count; i++) {
		const struct image_index_entry *from = &index->entries[i];
		if (is_artifact(from))
			continue;
		if (out->count == CATALOGUE_LOADED_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d images",
					 (int)CATALOGUE_LOADED_MAX);
		struct catalogue_entry *entries =
			arena_grow(&out->arena, out->entries, out->count, sizeof(*out->entries));
		if (entries == NULL)
			return error_memory(err);
		out->entries = entries;
		struct catalogue_entry *entry = &entries[out->count++];
		catalogue_entry_reset(entry);
		entry->reference = strchr(string, '@') != NULL
					   ? arena_string(&out->arena, string)
					   : arena_format(&out->arena, "%s@%s", string,
							  from->descriptor.digest);
		rc = fill_entry(source, from, host, &out->arena, entry, err);
		if (rc == 0 && entry->image.artifact_type != NULL &&
		    entry->image.artifact_type[0] != '\0')
			catalogue_entry_free(&entries[--out->count]);
	}
	return rc == 0 && out->arena.failed ? error_memory(err) : rc;
}

/* Each tag is an index or an image. */
static int add_repository(const char *string, const struct host_facts *host,
			  const struct image_source_options *options, struct catalogue *out,
			  struct error *err)
{
	struct image_reference reference CLEANUP_IMAGE_REFERENCE = {0};
	struct registry *registry CLEANUP_REGISTRY = NULL;
	struct text_list tags CLEANUP_TEXT_LIST = {0};
	int rc = image_reference_parse(string + strlen(registry_prefix), &reference, err);
	if (rc == 0)
		rc = registry_open(reference.host, reference.name, false, &options->registry,
				   &registry, err);
	if (rc == 0)
		rc = registry_list_tags(registry, &tags, err);
	if (rc == 0 && tags.count > CATALOGUE_LOADED_MAX)
		return error_set(err, ERROR_LIMIT,
				 "%zu tags, and at most %d are read: name one of them", tags.count,
				 (int)CATALOGUE_LOADED_MAX);
	for (size_t i = 0; rc == 0 && i < tags.count; i++) {
		/* Tags of the form sha256-... hold referrers where a registry does not keep them. */
		char *tagged CLEANUP_FREE = text_format("%s:%s", string, tags.items[i]);
		if (tagged == NULL)
			return error_memory(err);
		if (!text_starts_with(tags.items[i], "sha256-"))
			rc = add_source(tagged, host, options, out, err);
	}
	return rc;
}

static int read_file(const char *path, struct catalogue *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = NULL;
	int rc = json_read_file(path, &document, err);
	if (rc < 0)
		return rc;
	rc = catalogue_read_document(document, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", path) : 0;
}

int catalogue_read(const char *string, const struct host_facts *host,
		   const struct image_source_options *options, struct catalogue *out,
		   struct error *err)
{
	*out = (struct catalogue){0};
	if (!is_source(string))
		return read_file(string, out, err);
	int rc = is_repository(string) ? add_repository(string, host, options, out, err)
				       : add_source(string, host, options, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", string) : 0;
}
