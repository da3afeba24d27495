/* SPDX-License-Identifier: MIT */
/* Catalogues from an index of images; selects the kind of catalogue by its name. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/text.h"
#include "containers/judging/selection/compatibility.h"
#include "containers/judging/selection/internal.h"
#include "containers/registry/reference.h"

#include <string.h>

static const char registry_prefix[] = "docker://";

#define CREATED "org.opencontainers.image.created"

static const char *created_of(const struct json_pair *pairs, size_t count, struct arena *arena)
{
	const char *value = image_pair_value(pairs, count, CREATED);
	return value != NULL && catalogue_date_is_valid(value) ? arena_string(arena, value) : "";
}

/* Reads the artifact of the image itself, or else of the index that lists it. */
static int read_compatibility(struct image_source *source, struct arena *arena,
			      struct catalogue_entry *entry, struct error *err)
{
	struct image_index index CLEANUP_IMAGE_INDEX = {0};
	struct image artifact CLEANUP_IMAGE = {0};
	struct blob_reader *layer CLEANUP_BLOB_READER = NULL;
	struct text text CLEANUP_TEXT = {0};
	int rc = image_source_referrers(source, entry->image.digest, COMPATIBILITY_ARTIFACT, &index,
					err);
	if (rc == 0 && index.count == 0) {
		image_index_free(&index);
		rc = image_source_referrers(source, NULL, COMPATIBILITY_ARTIFACT, &index, err);
	}
	if (rc < 0 || index.count == 0)
		return rc;

	/* The newest artifact; one without a date counts as the oldest. */
	const struct image_index_entry *newest = &index.entries[0];
	const char *last = "";
	for (size_t i = 0; i < index.count; i++) {
		const struct image_index_entry *it = &index.entries[i];
		const char *created =
			image_pair_value(it->annotations, it->annotation_count, CREATED);
		created = created != NULL ? created : "";
		if (strcmp(created, last) < 0)
			continue;
		newest = it;
		last = created;
	}
	entry->artifact = arena_string(arena, newest->descriptor.digest);

	rc = image_source_load_entry(source, newest, &artifact, err);
	if (rc == 0 && artifact.layer_count == 0)
		rc = error_set(err, ERROR_FORMAT, "it has no layer");
	if (rc == 0)
		rc = image_source_open_layer(source, &artifact.layers[0], &layer, err);
	if (rc == 0)
		rc = blob_read_all(layer, COMPATIBILITY_MAX, &text, err);
	return rc == 0 ? compatibility_parse(text_string(&text), text.size, &entry->compatibility,
					     err)
		       : rc;
}

static int fill_entry(struct image_source *source, const struct image_index_entry *from,
		      const struct host_facts *host, struct arena *arena,
		      struct catalogue_entry *entry, struct error *err)
{
	struct image *image = &entry->image;
	const struct image_platform *platform = &from->platform;
	entry->created = created_of(from->annotations, from->annotation_count, arena);
	/* For another system or architecture than the host's. */
	if (platform->os[0] != '\0' &&
	    (!text_equal(platform->os, host->os) ||
	     !text_equal(host_architecture(platform->architecture), host->architecture))) {
		image->platform = (struct image_platform){
			.os = arena_string(arena, platform->os),
			.architecture = arena_string(arena, platform->architecture),
			.variant = arena_string(arena, platform->variant),
			.os_version = arena_string(arena, platform->os_version)};
		return 0;
	}
	int rc = image_source_load_entry(source, from, image, err);
	if (rc < 0)
		return rc;
	if (image->artifact_type[0] != '\0')
		return 0; /* an artifact that the index did not mark as one */
	entry->loaded = true;
	/* The index may be more exact: a configuration seldom names the variant. */
	if (image->platform.variant[0] == '\0')
		image->platform.variant = arena_string(arena, platform->variant);
	if (entry->created[0] == '\0')
		entry->created = created_of(image->annotations, image->annotation_count, arena);
	if (entry->created[0] == '\0')
		entry->created = created_of(image->labels, image->label_count, arena);

	struct error failure = {0};
	if (read_compatibility(source, arena, entry, &failure) < 0)
		entry->not_read = arena_string(arena, failure.text);
	return 0;
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
		/* Artifacts have a type or the platform "unknown/unknown" (attestations of BuildKit). */
		if (from->artifact_type[0] != '\0' || text_equal(from->platform.os, "unknown"))
			continue;
		if (out->count == CATALOGUE_LOADED_MAX)
			return error_set(err, ERROR_LIMIT, "more than %d images",
					 (int)CATALOGUE_LOADED_MAX);
		out->entries =
			arena_grow(&out->arena, out->entries, out->count, sizeof(*out->entries));
		struct catalogue_entry *entry = &out->entries[out->count++];
		catalogue_entry_reset(entry);
		entry->reference = strchr(string, '@') != NULL
					   ? arena_string(&out->arena, string)
					   : arena_format(&out->arena, "%s@%s", string,
							  from->descriptor.digest);
		rc = fill_entry(source, from, host, &out->arena, entry, err);
		if (rc == 0 && entry->image.artifact_type != NULL &&
		    entry->image.artifact_type[0] != '\0')
			catalogue_entry_free(&out->entries[--out->count]);
	}
	return rc;
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
		/* Tags of the form sha256-... hold referrers where a registry does not support them. */
		char *tagged CLEANUP_FREE = text_format("%s:%s", string, tags.items[i]);
		if (!text_starts_with(tags.items[i], "sha256-"))
			rc = add_source(tagged, host, options, out, err);
	}
	return rc;
}

int catalogue_read(const char *string, const struct host_facts *host,
		   const struct image_source_options *options, struct catalogue *out,
		   struct error *err)
{
	static const char *const prefixes[] = {
		registry_prefix, "oci:", "oci-archive:", "docker-archive:", "containerd:"};
	cJSON *document CLEANUP_JSON = NULL;
	bool is_source = false;
	int rc = 0;
	*out = (struct catalogue){0};
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		is_source = is_source || text_starts_with(string, prefixes[i]);

	const char *name = strrchr(string, '/');
	if (!is_source) {
		rc = json_read_file(string, &document, err);
		if (rc < 0)
			return rc;
		rc = catalogue_read_document(document, out, err);
	} else if (text_starts_with(string, registry_prefix) && name != NULL &&
		   strpbrk(name, ":@") == NULL) {
		/* A repository without tag and digest. */
		rc = add_repository(string, host, options, out, err);
	} else {
		rc = add_source(string, host, options, out, err);
	}
	return rc < 0 ? error_wrap(err, rc, "%s", string) : 0;
}
