/* SPDX-License-Identifier: MIT */
/* The JSON documents of an image (OCI image specification 1.0) and the archive that holds them. */
#include "base/cleanup.h"
#include "base/json.h"
#include "containers/images/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { TAG_DIGITS = 12 };

#define MEDIA_TYPE "application/vnd.oci.image."

/* What is stored under its digest. */
struct blob {
	enum image_entry_type type;
	char *content; /* IMAGE_FILE: its path */
	unsigned long long size;
	char digest[DIGEST_SIZE];
};

enum { CONFIG, MANIFEST, LAYERS, BLOBS = LAYERS + IMAGE_SPEC_LAYERS_MAX };

struct image {
	struct blob blobs[BLOBS];
	size_t layer_count;
	const char *reference; /* of its description */
};

static void free_images(struct image *images, size_t count)
{
	for (size_t i = 0; i < count * BLOBS; i++) {
		struct blob *blob = &images[i / BLOBS].blobs[i % BLOBS];
		if (blob->type == IMAGE_FILE && blob->content != NULL)
			(void)unlink(blob->content);
		free(blob->content);
	}
	free(images);
}

int image_architecture(const char *machine, const char **out, struct error *err)
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

/* Takes the text over. */
static int take_document(struct text *text, struct blob *out, struct error *err)
{
	out->type = IMAGE_TEXT;
	out->size = text->size;
	out->content = text_take(text);
	if (out->content == NULL)
		return error_memory(err);
	digest_bytes(out->content, out->size, out->digest);
	return 0;
}

/* Probes find their loaders and temporary files with the environment; anything else comes from the
 * device plugin. */
#define ENVIRONMENT                                                                                     \
	"\"Env\":["                                                                                     \
	"\"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:" IMAGES_PROGRAM_DIRECTORY \
	"\","                                                                                           \
	"\"HOME=/root\"],"

static void add_string(struct text *json, const char *before, const char *string)
{
	text_add(json, before);
	json_add_quoted(json, string, strlen(string));
}

/* Layers are not compressed, so the digest of one's content is that of its blob. */
static int make_config(const struct image_spec *spec, struct image *image, struct error *err)
{
	struct utsname system = {0};
	const char *architecture = NULL;
	struct text json CLEANUP_TEXT = {0};
	(void)uname(&system);
	int rc = image_architecture(system.machine, &architecture, err);
	if (rc < 0)
		return rc;
	text_addf(&json, "{\"architecture\":\"%s\",\"os\":\"linux\",\"config\":{" ENVIRONMENT,
		  architecture);
	for (size_t i = 0; spec->command != NULL && spec->command[i] != NULL; i++) {
		add_string(&json, i == 0 ? "\"Cmd\":[" : ",", spec->command[i]);
		text_add(&json, spec->command[i + 1] == NULL ? "]," : "");
	}
	for (size_t i = 0; spec->labels != NULL && spec->labels[i] != NULL; i += 2) {
		add_string(&json, i == 0 ? "\"Labels\":{" : ",", spec->labels[i]);
		add_string(&json, ":", spec->labels[i + 1]);
		text_add(&json, spec->labels[i + 2] == NULL ? "}," : "");
	}
	text_add(&json, "\"WorkingDir\":\"/\"},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[");
	for (size_t i = 0; i < image->layer_count; i++)
		add_string(&json, i == 0 ? "" : ",", image->blobs[LAYERS + i].digest);
	text_add(&json, "]}}");
	return take_document(&json, &image->blobs[CONFIG], err);
}

static void add_descriptor(struct text *json, const char *type, const struct blob *blob)
{
	text_addf(json, "\"mediaType\":\"" MEDIA_TYPE "%s\",\"digest\":\"%s\",\"size\":%llu", type,
		  blob->digest, blob->size);
}

static int make_manifest(struct image *image, struct error *err)
{
	struct text json CLEANUP_TEXT = {0};
	text_add(&json, "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE "manifest.v1+json\","
			"\"config\":{");
	add_descriptor(&json, "config.v1+json", &image->blobs[CONFIG]);
	text_add(&json, "},\"layers\":[");
	for (size_t i = 0; i < image->layer_count; i++) {
		text_add(&json, i == 0 ? "{" : "},{");
		add_descriptor(&json, "layer.v1.tar", &image->blobs[LAYERS + i]);
	}
	text_add(&json, "}]}");
	return take_document(&json, &image->blobs[MANIFEST], err);
}

/* containerd names an imported image by the first annotation, others by the second. */
static int make_index(const struct image *images, size_t count, struct blob *out, struct error *err)
{
	struct text json CLEANUP_TEXT = {0};
	text_add(&json, "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE "index.v1+json\","
			"\"manifests\":[");
	for (size_t i = 0; i < count; i++) {
		text_add(&json, i == 0 ? "{" : ",{");
		add_descriptor(&json, "manifest.v1+json", &images[i].blobs[MANIFEST]);
		text_addf(&json,
			  ",\"annotations\":{\"io.containerd.image.name\":\"%s\","
			  "\"org.opencontainers.image.ref.name\":\"%s\"}}",
			  images[i].reference, images[i].reference);
	}
	text_add(&json, "]}");
	return take_document(&json, out, err);
}

static int write_layer(const struct image_tree *tree, struct blob *layer, struct error *err)
{
	struct tar *tar CLEANUP_TAR = NULL;
	int rc = tar_open(layer->content, &tar, err);
	for (size_t i = 0; rc == 0 && i < tree->count; i++)
		rc = tar_add(tar, &tree->entries[i], err);
	if (rc == 0)
		rc = tar_finish(tar, err);
	return rc == 0 ? digest_file(layer->content, layer->digest, &layer->size, err) : rc;
}

static int write_blob(struct tar *tar, const struct blob *blob, struct error *err)
{
	char *path CLEANUP_FREE = text_format("blobs/sha256/%s", blob->digest + strlen("sha256:"));
	const struct image_entry entry = {blob->type, path, blob->content, 0444};
	return path != NULL ? tar_add(tar, &entry, err) : error_memory(err);
}

static int write_archive(const char *path, const struct image *images, size_t count,
			 struct error *err)
{
	struct blob index = {0};
	struct tar *tar CLEANUP_TAR = NULL;
	int rc = make_index(images, count, &index, err);
	char *content CLEANUP_FREE = index.content;
	const struct image_entry heads[] = {
		{IMAGE_TEXT, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}", 0444},
		{IMAGE_TEXT, "index.json", content, 0444},
		{IMAGE_DIRECTORY, "blobs", "", 0755},
		{IMAGE_DIRECTORY, "blobs/sha256", "", 0755},
	};
	if (rc == 0)
		rc = tar_open(path, &tar, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(heads); i++)
		rc = tar_add(tar, &heads[i], err);
	for (size_t i = 0; rc == 0 && i < count * BLOBS; i++) {
		const struct blob *blob = &images[i / BLOBS].blobs[i % BLOBS];
		rc = blob->content != NULL ? write_blob(tar, blob, err) : 0;
	}
	return rc == 0 ? tar_finish(tar, err) : rc;
}

static int list_content(const struct image_tree *tree, struct image_manifest *manifest,
			struct error *err)
{
	int rc = 0;
	manifest->complete = true;
	for (size_t i = 0; rc == 0 && i < tree->count; i++) {
		const struct image_entry *entry = &tree->entries[i];
		if (entry->type == IMAGE_FILE && image_manifest_find(manifest, entry->path) == NULL)
			rc = image_manifest_add(manifest, entry->path, entry->content, err);
	}
	return rc;
}

char *image_reference(const char *repository, const char *digest)
{
	return text_format("%s:%.*s", repository, TAG_DIGITS, digest + strlen("sha256:"));
}

/* The image's next layer. */
static int add_layer(const char *archive, size_t index, struct image_tree *tree,
		     struct image *image, struct image_description *out, struct error *err)
{
	struct blob *layer = &image->blobs[LAYERS + image->layer_count];
	layer->type = IMAGE_FILE;
	layer->content = text_format("%s.%zu.%zu", archive, index, image->layer_count++);
	image_tree_sort(tree);
	int rc = layer->content != NULL ? list_content(tree, &out->manifest, err)
					: error_memory(err);
	return rc == 0 ? write_layer(tree, layer, err) : rc;
}

static int make_layers(const char *archive, size_t index, const struct image_spec *spec,
		       struct image *image, struct image_description *out, struct error *err)
{
	struct image_tree base CLEANUP_IMAGE_TREE = {0};
	int rc = (spec->content != NULL ? spec->content : image_content)(spec, &base, err);
	if (rc == 0)
		rc = add_layer(archive, index, &base, image, out, err);
	for (const struct image_layer *layer = spec->layers;
	     rc == 0 && layer != NULL && layer->programs != NULL; layer++) {
		struct image_tree tree CLEANUP_IMAGE_TREE = {.below = &base};
		rc = image_layer_content(layer, &tree, err);
		if (rc == 0)
			rc = add_layer(archive, index, &tree, image, out, err);
	}
	return rc;
}

static int make_image(const char *archive, size_t index, const struct image_spec *spec,
		      struct image *image, struct image_description *out, struct error *err)
{
	int rc = make_layers(archive, index, spec, image, out, err);
	if (rc == 0)
		rc = make_config(spec, image, err);
	if (rc == 0)
		rc = make_manifest(image, err);
	if (rc < 0)
		return rc;
	memcpy(out->digest, image->blobs[MANIFEST].digest, sizeof(out->digest));
	out->reference = spec->reference != NULL ? strdup(spec->reference)
						 : image_reference(spec->repository, out->digest);
	image->reference = out->reference;
	return out->reference != NULL ? 0 : error_memory(err);
}

/* What is at `path` is replaced by a whole archive or stays. */
static int put_in_place(const char *new, const char *path, struct error *err)
{
	struct stat status = {0};
	if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		return error_set(err, ERROR_EXISTS, "%s: is there, and not a regular file", path);
	return rename(new, path) == 0 ? 0 : error_system(err, errno, "%s", path);
}

int image_compose(const char *path, const struct image_spec *specs, size_t count,
		  struct image_description *out, struct error *err)
{
	struct image *images = calloc(count, sizeof(*images));
	char *new CLEANUP_FREE = text_format("%s.%d", path, (int)getpid());
	int rc = images != NULL && new != NULL ? 0 : error_memory(err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = make_image(new, i, &specs[i], &images[i], &out[i], err);
		if (rc < 0)
			error_wrap(err, rc, "image %s", specs[i].repository);
	}
	if (rc == 0)
		rc = write_archive(new, images, count, err);
	free_images(images, images != NULL ? count : 0);
	if (rc == 0)
		rc = put_in_place(new, path, err);
	if (rc < 0) {
		if (new != NULL)
			(void)unlink(new);
		for (size_t i = 0; i < count; i++)
			image_description_free(&out[i]);
	}
	return rc;
}
