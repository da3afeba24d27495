/* SPDX-License-Identifier: MIT */
#include "containers/registry/internal.h"

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/path.h"

#define REFERENCE_NAME	"org.opencontainers.image.ref.name"
#define CONTAINERD_NAME "io.containerd.image.name" /* of `docker save` and `ctr image export` too */

static const char *entry_annotation(const struct image_index_entry *entry, const char *name)
{
	return image_pair_value(entry->annotations, entry->annotation_count, name);
}

static void list_names(const struct image_index *index, struct text_list *names)
{
	for (size_t i = 0; i < index->count; i++) {
		const struct image_index_entry *entry = &index->entries[i];
		const char *name = entry_annotation(entry, CONTAINERD_NAME);
		name = name != NULL ? name : entry_annotation(entry, REFERENCE_NAME);
		if (name != NULL && !text_list_has(names, name))
			text_list_add(names, name);
	}
}

void source_add_digest(const char *digest, struct image_index *out)
{
	const struct image_index_entry entry = {
		.descriptor = {"", arena_string(&out->arena, digest), UINT64_MAX},
		.artifact_type = "",
		.platform = {"", "", "", ""},
	};
	image_index_add(out, &entry);
}

/* Chooses the entries of "index.json" that a name selects: without tag and digest all of them, if no two have different
 * tags. A digest may belong to a blob that no entry names. */
static int choose_entries(const struct text *text, const struct source_name *name,
			  struct image_index *index, struct error *err)
{
	enum { SHOWN = 20 };
	struct text_list all CLEANUP_TEXT_LIST = {0};
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct text shown CLEANUP_TEXT = {0};
	cJSON *json CLEANUP_JSON = NULL;
	size_t kept = 0;
	int rc = image_document_parse(text_string(text), text->size, &json, err);
	if (rc == 0)
		rc = image_index_read(json, index, err);
	if (rc < 0)
		return error_wrap(err, rc, "index.json");
	list_names(index, &all);

	for (size_t i = 0; i < index->count; i++) {
		const struct image_index_entry *entry = &index->entries[i];
		const char *digest = entry->descriptor.digest;
		size_t same = 0;
		/* An image that has several names has several entries. */
		while (same < kept && !text_equal(index->entries[same].descriptor.digest, digest))
			same++;
		if (same == kept && (name->digest == NULL || text_equal(digest, name->digest)) &&
		    (name->tag == NULL ||
		     text_equal(entry_annotation(entry, REFERENCE_NAME), name->tag) ||
		     text_equal(entry_annotation(entry, CONTAINERD_NAME), name->tag)))
			index->entries[kept++] = *entry;
	}
	index->count = kept;
	list_names(index, &names);

	if (name->tag != NULL ? kept > 0 : name->digest != NULL || names.count <= 1) {
		if (kept == 0 && name->digest != NULL)
			source_add_digest(name->digest, index);
		return 0;
	}
	for (size_t i = 0; i < all.count && i < SHOWN; i++)
		text_add_item(&shown, ", ", all.items[i]);
	text_add(&shown, all.count > SHOWN ? ", ..." : all.count == 0 ? "none" : "");
	if (name->tag == NULL)
		return error_set(err, ERROR_ARGUMENT, "several images, name one of %s",
				 text_string(&shown));
	return error_set(err, ERROR_NOT_FOUND, "no image has the name %s%s%s; names: %s", name->tag,
			 name->digest != NULL ? " and the digest " : "",
			 name->digest != NULL ? name->digest : "", text_string(&shown));
}

/* A file of a layout, which is a folder or an archive of one. ERROR_NOT_FOUND. */
static int layout_open_file(const char *path, const char *name, struct blob_reader **out,
			    struct error *err)
{
	if (!file_is_directory(path))
		return archive_open(path, name, out, err);
	char *file CLEANUP_FREE = path_join(path, name);
	return blob_file_open(file, out, err);
}

static int layout_open_blob(void *path, const struct image_descriptor *what, bool is_document,
			    struct blob_reader **out, struct error *err)
{
	char *name CLEANUP_FREE = blob_path("blobs", what->digest);
	(void)is_document;
	int rc = layout_open_file(path, name, out, err);
	if (rc == ERROR_NOT_FOUND)
		return error_set(err, rc, "%s is not in %s", what->digest, (const char *)path);
	return rc;
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

int source_layout_open(const struct source_name *name, const struct image_source_options *options,
		       struct source *out, struct error *err)
{
	struct text marker CLEANUP_TEXT = {0};
	struct text index CLEANUP_TEXT = {0};
	struct file_status status = {0};
	struct error failure = {0};
	cJSON *json CLEANUP_JSON = NULL;
	const char *version = NULL;
	(void)options;
	*out = (struct source){.kind = &layout_kind, .self = memory_copy(name->path)};
	int rc = file_status(name->path, true, &status, err);
	if (rc < 0)
		return rc;

	rc = layout_read(name->path, "oci-layout", &marker, &failure);
	if (rc == ERROR_NOT_FOUND) {
		/* Formats older than "oci-layout" have no digests of their files. */
		struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
		if (layout_open_file(name->path, "manifest.json", &reader, NULL) < 0)
			return error_set(err, ERROR_FORMAT,
					 "not an OCI image layout: it has no file \"oci-layout\"");
		return error_set(
			err, ERROR_UNSUPPORTED,
			"an archive as Docker before version 25 and Podman save it; make an "
			"OCI archive of it: `skopeo copy docker-archive:%s oci-archive:NEW`",
			name->path);
	}
	if (rc < 0)
		return error_copy(err, &failure);

	rc = image_document_parse(text_string(&marker), marker.size, &json, err);
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_need_string(&root, "imageLayoutVersion", &version, err);
	if (rc < 0)
		return error_wrap(err, rc, "oci-layout");
	if (!text_starts_with(version, "1."))
		return error_set(err, ERROR_UNSUPPORTED, "oci-layout: version %s, not 1", version);
	rc = layout_read(name->path, "index.json", &index, err);
	return rc == 0 ? choose_entries(&index, name, &out->top, err) : rc;
}
