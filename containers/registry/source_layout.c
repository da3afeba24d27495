/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/file.h"
#include "base/json.h"
#include "base/path.h"

#include <string.h>

#define REFERENCE_NAME	"org.opencontainers.image.ref.name"
#define CONTAINERD_NAME "io.containerd.image.name" /* of `docker save` and `ctr image export` too */

static const char *entry_annotation(const struct image_index_entry *entry, const char *name)
{
	return image_pair_value(entry->annotations, entry->annotation_count, name);
}

static bool entry_is_named(const struct image_index_entry *entry, const struct source_name *name)
{
	if (name->digest != NULL && strcmp(entry->descriptor.digest, name->digest) != 0)
		return false;
	return name->tag == NULL ||
	       text_equal(entry_annotation(entry, REFERENCE_NAME), name->tag) ||
	       text_equal(entry_annotation(entry, CONTAINERD_NAME), name->tag);
}

static int list_names(const struct image_index *index, struct text_list *names, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < index->count; i++) {
		const struct image_index_entry *entry = &index->entries[i];
		const char *name = entry_annotation(entry, CONTAINERD_NAME);
		name = name != NULL ? name : entry_annotation(entry, REFERENCE_NAME);
		if (name != NULL && !text_list_has(names, name))
			rc = text_list_add(names, name, err);
	}
	return rc;
}

static int refuse_name(const struct source_name *name, const struct text_list *names,
		       struct error *err)
{
	enum { SHOWN = 20 };
	struct text all CLEANUP_TEXT = {0};
	for (size_t i = 0; i < names->count && i < SHOWN; i++)
		text_addf(&all, "%s%s", i > 0 ? ", " : "", names->items[i]);
	text_add(&all, names->count > SHOWN ? ", ..." : names->count == 0 ? "none" : "");
	if (name->tag == NULL)
		return error_set(err, ERROR_ARGUMENT, "several images, name one of %s",
				 text_string(&all));
	return error_set(err, ERROR_NOT_FOUND, "no image has the name %s%s%s; names: %s", name->tag,
			 name->digest != NULL ? " and the digest " : "",
			 name->digest != NULL ? name->digest : "", text_string(&all));
}

int source_add_digest(const char *digest, struct image_index *out, struct error *err)
{
	const struct image_index_entry entry = {
		.descriptor = {"", arena_string(&out->arena, digest), UINT64_MAX},
		.artifact_type = "",
		.platform = {"", "", "", "", NULL, 0},
	};
	return image_index_add(out, &entry, err);
}

/* An image that has several names has several entries. */
static void keep_named(struct image_index *index, const struct source_name *name)
{
	size_t kept = 0;
	for (size_t i = 0; i < index->count; i++) {
		const struct image_index_entry *entry = &index->entries[i];
		size_t same = 0;
		while (same < kept && strcmp(index->entries[same].descriptor.digest,
					     entry->descriptor.digest) != 0)
			same++;
		if (same == kept && entry_is_named(entry, name))
			index->entries[kept++] = *entry;
	}
	index->count = kept;
}

int source_choose_entries(const char *index_json, size_t size, const struct source_name *name,
			  struct image_index *out, struct error *err)
{
	struct text_list all CLEANUP_TEXT_LIST = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	cJSON *json CLEANUP_JSON = NULL;
	int rc = image_document_parse(index_json, size, &json, err);
	if (rc == 0)
		rc = image_index_read(json, out, err);
	if (rc == 0)
		rc = list_names(out, &all, err);
	keep_named(out, name);
	if (rc == 0)
		rc = list_names(out, &names, err);
	if (rc < 0)
		return error_wrap(err, rc, "index.json");
	if (name->tag != NULL ? out->count == 0 : name->digest == NULL && names.count > 1)
		return refuse_name(name, &all, err);
	return out->count == 0 && name->digest != NULL ? source_add_digest(name->digest, out, err)
						       : 0;
}

static int layout_open_blob(void *blobs, const struct image_descriptor *what, bool is_document,
			    struct blob_reader **out, struct error *err)
{
	(void)is_document;
	return blob_file_open(blobs, what->digest, out, err);
}

static const struct source_kind layout_kind = {.open = layout_open_blob, .close = free};

int source_check_layout(const char *data, size_t size, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	const char *version = NULL;
	int rc = image_document_parse(data, size, &json, err);
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_need_string(&root, "imageLayoutVersion", &version, err);
	if (rc < 0)
		return error_wrap(err, rc, "oci-layout");
	if (!text_starts_with(version, "1."))
		return error_set(err, ERROR_UNSUPPORTED, "oci-layout: version %s, not 1", version);
	return 0;
}

static int layout_read(const char *directory, const char *name, char **data, size_t *size,
		       struct error *err)
{
	char *path CLEANUP_FREE = path_join(directory, name);
	return path != NULL ? file_read(path, IMAGE_DOCUMENT_MAX, data, size, err)
			    : error_memory(err);
}

int source_layout_open(const struct source_name *name, const struct image_source_options *options,
		       struct source *out, struct error *err)
{
	char *marker CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	(void)options;
	*out = (struct source){.kind = &layout_kind, .self = path_join(name->path, "blobs")};
	if (out->self == NULL)
		return error_memory(err);
	int rc = layout_read(name->path, "oci-layout", &marker, &size, err);
	if (rc == ERROR_NOT_FOUND && file_is_directory(name->path))
		return error_set(err, ERROR_FORMAT,
				 "not an OCI image layout: it has no file \"oci-layout\"");
	if (rc == 0)
		rc = source_check_layout(marker, size, err);
	if (rc == 0)
		rc = layout_read(name->path, "index.json", &data, &size, err);
	return rc == 0 ? source_choose_entries(data, size, name, &out->top, err) : rc;
}
