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

/* The entries of "index.json" that a name stands for: all without tag and digest when no two have different tags. A digest may
 * be of a blob that no entry names. */
static int choose_entries(const struct text *index, const struct source_name *name,
			  struct image_index *out, struct error *err)
{
	struct text_list all CLEANUP_TEXT_LIST = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	cJSON *json CLEANUP_JSON = NULL;
	int rc = image_document_parse(text_string(index), index->size, &json, err);
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

/* A file of a layout, which is a folder or an archive of one. ERROR_NOT_FOUND. */
static int layout_open_file(const char *path, const char *name, struct blob_reader **out,
			    struct error *err)
{
	if (!file_is_directory(path))
		return archive_open(path, name, out, err);
	char *file CLEANUP_FREE = path_join(path, name);
	return file != NULL ? blob_file_open(file, out, err) : error_memory(err);
}

static int layout_open_blob(void *path, const struct image_descriptor *what, bool is_document,
			    struct blob_reader **out, struct error *err)
{
	char *name CLEANUP_FREE = blob_path("blobs", what->digest);
	(void)is_document;
	int rc = name != NULL ? layout_open_file(path, name, out, err) : error_memory(err);
	return rc == ERROR_NOT_FOUND
		       ? error_set(err, rc, "%s is not in %s", what->digest, (const char *)path)
		       : rc;
}

static const struct source_kind layout_kind = {.open = layout_open_blob, .close = free};

static int layout_read(const char *path, const char *name, struct text *out, struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	int rc = layout_open_file(path, name, &reader, err);
	if (rc < 0)
		return rc;
	rc = blob_read_all(reader, IMAGE_DOCUMENT_MAX, out, err);
	return rc < 0 ? error_wrap(err, rc, "%s", name) : 0;
}

/* Without "oci-layout": what was written before there was one has no digests of its files. */
static int refuse_layout(const char *path, struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	if (layout_open_file(path, "manifest.json", &reader, NULL) < 0)
		return error_set(err, ERROR_FORMAT,
				 "not an OCI image layout: it has no file \"oci-layout\"");
	return error_set(err, ERROR_UNSUPPORTED,
			 "an archive as Docker before version 25 and Podman save it; make an OCI "
			 "archive of it: `skopeo copy docker-archive:%s oci-archive:NEW`",
			 path);
}

static int check_marker(const struct text *text, struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	const char *version = NULL;
	int rc = image_document_parse(text_string(text), text->size, &json, err);
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_need_string(&root, "imageLayoutVersion", &version, err);
	if (rc < 0)
		return error_wrap(err, rc, "oci-layout");
	return text_starts_with(version, "1.")
		       ? 0
		       : error_set(err, ERROR_UNSUPPORTED, "oci-layout: version %s, not 1",
				   version);
}

int source_layout_open(const struct source_name *name, const struct image_source_options *options,
		       struct source *out, struct error *err)
{
	struct text marker CLEANUP_TEXT = {0};
	struct text index CLEANUP_TEXT = {0};
	struct file_status status = {0};
	struct error failure = {0};
	(void)options;
	*out = (struct source){.kind = &layout_kind, .self = strdup(name->path)};
	int rc =
		out->self != NULL ? file_status(name->path, true, &status, err) : error_memory(err);
	if (rc < 0)
		return rc;
	rc = layout_read(name->path, "oci-layout", &marker, &failure);
	if (rc < 0)
		return rc == ERROR_NOT_FOUND ? refuse_layout(name->path, err)
					     : error_copy(err, &failure);
	rc = check_marker(&marker, err);
	if (rc == 0)
		rc = layout_read(name->path, "index.json", &index, err);
	return rc == 0 ? choose_entries(&index, name, &out->top, err) : rc;
}
