/* SPDX-License-Identifier: MIT */
#include "containers/images/layout.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

/* Probes find their loaders and temporary files with it; anything else comes from the device
 * plugin. */
static const char *const image_environment[] = {
	"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"HOME=/root",
	NULL,
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

static void add_strings(struct text *json, const char *const *strings)
{
	for (size_t i = 0; strings[i] != NULL; i++) {
		text_add(json, i > 0 ? "," : "");
		json_add_quoted(json, strings[i], strlen(strings[i]));
	}
}

static void add_descriptor(struct text *json, const char *media_type,
			   const struct layout_blob *blob)
{
	text_addf(json, "{\"mediaType\":\"%s\",\"digest\":\"%s\",\"size\":%llu", media_type,
		  blob->digest, blob->size);
}

static int blob_take(struct text *json, struct layout_blob *out, struct error *err)
{
	out->size = json->size;
	out->data = text_take(json);
	if (out->data == NULL)
		return error_memory(err);
	digest_bytes(out->data, out->size, out->digest);
	return 0;
}

int layout_config(const struct image_spec *spec, const struct layout_blob *layer,
		  struct layout_blob *out, struct error *err)
{
	struct text json CLEANUP_TEXT = {0};
	struct utsname system = {0};
	const char *architecture = NULL;
	int rc = 0;

	(void)uname(&system);
	rc = layout_architecture(system.machine, &architecture, err);
	if (rc < 0)
		return rc;
	text_addf(&json, "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{\"Env\":[",
		  architecture);
	add_strings(&json, image_environment);
	if (spec->command != NULL) {
		text_add(&json, "],\"Cmd\":[");
		add_strings(&json, spec->command);
	}
	/* The layer is not compressed, so the digest of its content is that of the blob. */
	text_addf(&json,
		  "],\"WorkingDir\":\"/\"},\"rootfs\":{\"type\":\"layers\","
		  "\"diff_ids\":[\"%s\"]}}",
		  layer->digest);
	return blob_take(&json, out, err);
}

int layout_manifest(const struct layout_blob *config, const struct layout_blob *layer,
		    struct layout_blob *out, struct error *err)
{
	struct text json CLEANUP_TEXT = {0};

	text_add(&json,
		 "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE_MANIFEST "\",\"config\":");
	add_descriptor(&json, MEDIA_TYPE_CONFIG, config);
	text_add(&json, "},\"layers\":[");
	add_descriptor(&json, MEDIA_TYPE_LAYER, layer);
	text_add(&json, "}]}");
	return blob_take(&json, out, err);
}

/* containerd names an imported image by the first annotation; the second is the specification's. */
static int layout_index(const struct layout_image *images, size_t count, struct layout_blob *out,
			struct error *err)
{
	struct text json CLEANUP_TEXT = {0};

	text_add(&json,
		 "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE_INDEX "\",\"manifests\":[");
	for (size_t i = 0; i < count; i++) {
		const char *reference = images[i].reference;
		const char *tag = strrchr(reference, ':');

		text_add(&json, i > 0 ? "," : "");
		add_descriptor(&json, MEDIA_TYPE_MANIFEST, &images[i].manifest);
		text_add(&json, ",\"annotations\":{\"io.containerd.image.name\":");
		json_add_quoted(&json, reference, strlen(reference));
		text_add(&json, ",\"org.opencontainers.image.ref.name\":");
		tag = tag != NULL ? tag + 1 : reference;
		json_add_quoted(&json, tag, strlen(tag));
		text_add(&json, "}}");
	}
	text_add(&json, "]}");
	return blob_take(&json, out, err);
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
	return tar_add(tar,
		       &(struct image_entry){blob->data != NULL ? IMAGE_TEXT : IMAGE_FILE, path,
					     blob->data != NULL ? blob->data : blob->file, 0444},
		       err);
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
	const struct image_entry entries[] = {
		{IMAGE_TEXT, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}", 0444},
		{IMAGE_TEXT, "index.json", index.data, 0444},
		{IMAGE_DIRECTORY, "blobs", "", 0755},
		{IMAGE_DIRECTORY, "blobs/sha256", "", 0755},
	};

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(entries); i++)
		rc = tar_add(tar, &entries[i], err);
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
