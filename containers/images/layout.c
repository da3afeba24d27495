/* SPDX-License-Identifier: MIT */
#include "containers/images/layout.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

static const char oci_layout[] = "{\"imageLayoutVersion\":\"1.0.0\"}";

/* Probes find their loaders and temporary files with it; anything else comes from the device
 * plugin. */
static const char *const image_environment[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/root",
};

void layout_blob_free(struct layout_blob *blob)
{
	free(blob->data);
	free(blob->file);
	*blob = (struct layout_blob){0};
}

int layout_architecture(const char *machine, const char **out, struct error *err)
{
	static const char *const names[][2] = {
		{"x86_64", "amd64"},	{"aarch64", "arm64"}, {"i686", "386"},
		{"ppc64le", "ppc64le"}, {"s390x", "s390x"},   {"riscv64", "riscv64"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(names[i][0], machine) == 0) {
			*out = names[i][1];
			return 0;
		}
	}
	return error_set(err, ERROR_UNSUPPORTED, "images for %s machines are not known", machine);
}

/* Takes the document over. */
static int layout_blob_from_json(cJSON *json, struct layout_blob *out, struct error *err)
{
	cJSON *document CLEANUP_JSON = json;

	out->data = document != NULL ? json_print_compact(document) : NULL;
	if (out->data == NULL)
		return error_memory(err);
	out->size = strlen(out->data);
	digest_bytes(out->data, out->size, out->digest);
	return 0;
}

static cJSON *layout_strings(const char *const *strings, size_t count)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; array != NULL && i < count; i++) {
		if (!cJSON_AddItemToArray(array, cJSON_CreateString(strings[i]))) {
			cJSON_Delete(array);
			return NULL;
		}
	}
	return array;
}

/* Adds `item` (NULL: out of memory) or frees it. */
static bool layout_add(cJSON *object, const char *key, cJSON *item)
{
	if (item != NULL && cJSON_AddItemToObject(object, key, item))
		return true;
	cJSON_Delete(item);
	return false;
}

static cJSON *layout_run_config(const struct image_spec *spec)
{
	cJSON *config = cJSON_CreateObject();
	size_t words = 0;

	while (spec->command != NULL && spec->command[words] != NULL)
		words++;
	if (layout_add(config, "Env",
		       layout_strings(image_environment, ARRAY_SIZE(image_environment))) &&
	    (words == 0 || layout_add(config, "Cmd", layout_strings(spec->command, words))) &&
	    layout_add(config, "WorkingDir", cJSON_CreateString("/")))
		return config;
	cJSON_Delete(config);
	return NULL;
}

static cJSON *layout_rootfs(const struct layout_blob *layer)
{
	cJSON *rootfs = cJSON_CreateObject();
	const char *digest = layer->digest;

	/* The layer is not compressed, so the digest of its content is that of the blob. */
	if (layout_add(rootfs, "type", cJSON_CreateString("layers")) &&
	    layout_add(rootfs, "diff_ids", layout_strings(&digest, 1)))
		return rootfs;
	cJSON_Delete(rootfs);
	return NULL;
}

int layout_config(const struct image_spec *spec, const struct layout_blob *layer,
		  struct layout_blob *out, struct error *err)
{
	struct utsname system = {0};
	const char *architecture = NULL;
	cJSON *json = NULL;
	int rc = 0;

	(void)uname(&system);
	rc = layout_architecture(system.machine, &architecture, err);
	if (rc < 0)
		return rc;
	json = cJSON_CreateObject();
	if (!layout_add(json, "architecture", cJSON_CreateString(architecture)) ||
	    !layout_add(json, "os", cJSON_CreateString("linux")) ||
	    !layout_add(json, "config", layout_run_config(spec)) ||
	    !layout_add(json, "rootfs", layout_rootfs(layer))) {
		cJSON_Delete(json);
		return error_memory(err);
	}
	return layout_blob_from_json(json, out, err);
}

static cJSON *layout_descriptor(const char *media_type, const struct layout_blob *blob)
{
	cJSON *json = cJSON_CreateObject();

	if (layout_add(json, "mediaType", cJSON_CreateString(media_type)) &&
	    layout_add(json, "digest", cJSON_CreateString(blob->digest)) &&
	    layout_add(json, "size", cJSON_CreateNumber((double)blob->size)))
		return json;
	cJSON_Delete(json);
	return NULL;
}

/* An array with one element, which it takes over. */
static cJSON *layout_one(cJSON *item)
{
	cJSON *array = cJSON_CreateArray();

	if (item != NULL && array != NULL && cJSON_AddItemToArray(array, item))
		return array;
	cJSON_Delete(array);
	cJSON_Delete(item);
	return NULL;
}

int layout_manifest(const struct layout_blob *config, const struct layout_blob *layer,
		    struct layout_blob *out, struct error *err)
{
	cJSON *json = cJSON_CreateObject();

	if (!layout_add(json, "schemaVersion", cJSON_CreateNumber(2)) ||
	    !layout_add(json, "mediaType", cJSON_CreateString(MEDIA_TYPE_MANIFEST)) ||
	    !layout_add(json, "config", layout_descriptor(MEDIA_TYPE_CONFIG, config)) ||
	    !layout_add(json, "layers", layout_one(layout_descriptor(MEDIA_TYPE_LAYER, layer)))) {
		cJSON_Delete(json);
		return error_memory(err);
	}
	return layout_blob_from_json(json, out, err);
}

/* containerd names an imported image by the first annotation; the second is the specification's. */
static cJSON *layout_index_entry(const struct layout_image *image)
{
	cJSON *entry = layout_descriptor(MEDIA_TYPE_MANIFEST, &image->manifest);
	cJSON *annotations = cJSON_CreateObject();
	const char *tag = strrchr(image->reference, ':');

	if (layout_add(annotations, "io.containerd.image.name",
		       cJSON_CreateString(image->reference)) &&
	    layout_add(annotations, "org.opencontainers.image.ref.name",
		       cJSON_CreateString(tag != NULL ? tag + 1 : image->reference)) &&
	    layout_add(entry, "annotations", annotations))
		return entry;
	cJSON_Delete(entry);
	return NULL;
}

static int layout_index(const struct layout_image *images, size_t count, struct layout_blob *out,
			struct error *err)
{
	cJSON *json = cJSON_CreateObject();
	cJSON *manifests = cJSON_CreateArray();
	bool sound = layout_add(json, "schemaVersion", cJSON_CreateNumber(2)) &&
		     layout_add(json, "mediaType", cJSON_CreateString(MEDIA_TYPE_INDEX));

	for (size_t i = 0; sound && i < count; i++)
		sound = cJSON_AddItemToArray(manifests, layout_index_entry(&images[i]));
	if (!sound || !layout_add(json, "manifests", manifests)) {
		cJSON_Delete(json);
		return error_memory(err);
	}
	return layout_blob_from_json(json, out, err);
}

static int layout_compare_blobs(const void *a, const void *b)
{
	return strcmp((*(const struct layout_blob *const *)a)->digest,
		      (*(const struct layout_blob *const *)b)->digest);
}

static int layout_write_blob(struct tar *tar, const struct layout_blob *blob, struct error *err)
{
	char *path CLEANUP_FREE = text_format("blobs/sha256/%s", blob->digest + strlen("sha256:"));

	if (path == NULL)
		return error_memory(err);
	if (blob->data != NULL)
		return tar_add_bytes(tar, path, 0444, blob->data, (size_t)blob->size, err);
	return tar_add_file(tar, path, 0444, blob->file, err);
}

static int layout_write_blobs(struct tar *tar, const struct layout_image *images, size_t count,
			      struct error *err)
{
	size_t blob_count = 3 * count;
	const struct layout_blob **blobs CLEANUP_FREE = calloc(blob_count + 1, sizeof(void *));
	int rc = 0;

	if (blobs == NULL)
		return error_memory(err);
	for (size_t i = 0; i < count; i++) {
		blobs[3 * i] = &images[i].layer;
		blobs[3 * i + 1] = &images[i].config;
		blobs[3 * i + 2] = &images[i].manifest;
	}
	qsort(blobs, blob_count, sizeof(void *), layout_compare_blobs);
	for (size_t i = 0; rc == 0 && i < blob_count; i++) {
		if (i == 0 || strcmp(blobs[i]->digest, blobs[i - 1]->digest) != 0)
			rc = layout_write_blob(tar, blobs[i], err);
	}
	return rc;
}

static int layout_fill(struct tar *tar, const struct layout_image *images, size_t count,
		       struct error *err)
{
	struct layout_blob index = {0};
	int rc = layout_index(images, count, &index, err);

	if (rc == 0)
		rc = tar_add_bytes(tar, "oci-layout", 0444, oci_layout, strlen(oci_layout), err);
	if (rc == 0)
		rc = tar_add_bytes(tar, "index.json", 0444, index.data, (size_t)index.size, err);
	if (rc == 0)
		rc = tar_add_directory(tar, "blobs", 0755, err);
	if (rc == 0)
		rc = tar_add_directory(tar, "blobs/sha256", 0755, err);
	if (rc == 0)
		rc = layout_write_blobs(tar, images, count, err);
	layout_blob_free(&index);
	return rc;
}

int layout_write(const char *path, const struct layout_image *images, size_t count,
		 struct error *err)
{
	struct tar *tar = NULL;
	int rc = tar_open(path, &tar, err);

	if (rc < 0)
		return rc;
	rc = layout_fill(tar, images, count, err);
	if (rc < 0) {
		tar_abandon(tar);
		return rc;
	}
	return tar_close(tar, err);
}
