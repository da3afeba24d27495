/* SPDX-License-Identifier: MIT */
/* The JSON documents of an image (OCI image specification 1.0) and the archive that holds them. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
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

/* Content that is stored under its digest. */
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

/* Consumes the text. */
static void take_document(struct text *text, struct blob *out)
{
	out->type = IMAGE_TEXT;
	out->size = text->size;
	out->content = text_take(text);
	digest_bytes(out->content, out->size, out->digest);
}

/* The environment that probes need; everything else comes from the device plugin. */
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

/* Layers are not compressed, so the digests of their content (diff_ids) are those of their blobs. */
static int make_config(const struct image_spec *spec, struct image *image, struct error *err)
{
	struct utsname system = {0};
	const char *architecture = NULL;
	(void)uname(&system);
	int rc = image_architecture(system.machine, &architecture, err);
	if (rc < 0)
		return rc;

	struct text json = {0};
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
	take_document(&json, &image->blobs[CONFIG]);
	return 0;
}

static void add_descriptor(struct text *json, const char *type, const struct blob *blob)
{
	text_addf(json, "\"mediaType\":\"" MEDIA_TYPE "%s\",\"digest\":\"%s\",\"size\":%llu", type,
		  blob->digest, blob->size);
}

char *image_reference(const char *repository, const char *digest)
{
	return text_format("%s:%.*s", repository, TAG_DIGITS, digest + strlen("sha256:"));
}

/* Adds the image's next layer, and its files to the description. */
static int add_layer(const char *archive, size_t index, struct image_tree *tree,
		     struct image *image, struct image_description *out, struct error *err)
{
	struct blob *layer = &image->blobs[LAYERS + image->layer_count];
	layer->type = IMAGE_FILE;
	layer->content = text_format("%s.%zu.%zu", archive, index, image->layer_count++);
	image_tree_sort(tree);

	int rc = 0;
	out->manifest.complete = true;
	for (size_t i = 0; rc == 0 && i < tree->count; i++) {
		const struct image_entry *entry = &tree->entries[i];
		if (entry->type == IMAGE_FILE &&
		    image_manifest_find(&out->manifest, entry->path) == NULL)
			rc = image_manifest_add(&out->manifest, entry->path, entry->content, err);
	}

	struct tar *tar CLEANUP_TAR = NULL;
	if (rc == 0)
		rc = tar_open(layer->content, &tar, err);
	for (size_t i = 0; rc == 0 && i < tree->count; i++)
		rc = tar_add(tar, &tree->entries[i], err);
	if (rc == 0)
		rc = tar_finish(tar, err);
	if (rc == 0)
		rc = digest_file(layer->content, layer->digest, &layer->size, err);
	return rc;
}

static int make_image(const char *archive, size_t index, const struct image_spec *spec,
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
	if (rc == 0)
		rc = make_config(spec, image, err);
	if (rc < 0)
		return rc;

	struct text json = {0};
	text_add(&json, "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE "manifest.v1+json\","
			"\"config\":{");
	add_descriptor(&json, "config.v1+json", &image->blobs[CONFIG]);
	text_add(&json, "},\"layers\":[");
	for (size_t i = 0; i < image->layer_count; i++) {
		text_add(&json, i == 0 ? "{" : "},{");
		add_descriptor(&json, "layer.v1.tar", &image->blobs[LAYERS + i]);
	}
	text_add(&json, "}]}");
	take_document(&json, &image->blobs[MANIFEST]);

	memcpy(out->digest, image->blobs[MANIFEST].digest, sizeof(out->digest));
	out->reference = spec->reference != NULL ? memory_copy(spec->reference)
						 : image_reference(spec->repository, out->digest);
	image->reference = out->reference;
	return 0;
}

static int write_archive(const char *path, const struct image *images, size_t count,
			 struct error *err)
{
	struct text index CLEANUP_TEXT = {0};
	text_add(&index, "{\"schemaVersion\":2,\"mediaType\":\"" MEDIA_TYPE "index.v1+json\","
			 "\"manifests\":[");
	for (size_t i = 0; i < count; i++) {
		text_add(&index, i == 0 ? "{" : ",{");
		add_descriptor(&index, "manifest.v1+json", &images[i].blobs[MANIFEST]);
		/* containerd names an imported image by the first annotation, others by the second. */
		text_addf(&index,
			  ",\"annotations\":{\"io.containerd.image.name\":\"%s\","
			  "\"org.opencontainers.image.ref.name\":\"%s\"}}",
			  images[i].reference, images[i].reference);
	}
	text_add(&index, "]}");
	const struct image_entry heads[] = {
		{IMAGE_TEXT, "oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}", 0444},
		{IMAGE_TEXT, "index.json", text_string(&index), 0444},
		{IMAGE_DIRECTORY, "blobs", "", 0755},
		{IMAGE_DIRECTORY, "blobs/sha256", "", 0755},
	};

	struct tar *tar CLEANUP_TAR = NULL;
	int rc = tar_open(path, &tar, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(heads); i++)
		rc = tar_add(tar, &heads[i], err);
	for (size_t i = 0; rc == 0 && i < count * BLOBS; i++) {
		const struct blob *blob = &images[i / BLOBS].blobs[i % BLOBS];
		if (blob->content == NULL)
			continue;
		char *name CLEANUP_FREE =
			text_format("blobs/sha256/%s", blob->digest + strlen("sha256:"));
		const struct image_entry entry = {blob->type, name, blob->content, 0444};
		rc = tar_add(tar, &entry, err);
	}
	if (rc == 0)
		rc = tar_finish(tar, err);
	return rc;
}

int image_compose(const char *path, const struct image_spec *specs, size_t count,
		  struct image_description *out, struct error *err)
{
	struct image *images = memory_allocate(count, sizeof(*images));
	char *new CLEANUP_FREE = text_format("%s.%d", path, (int)getpid());
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = make_image(new, i, &specs[i], &images[i], &out[i], err);
		if (rc < 0)
			error_wrap(err, rc, "image %s", specs[i].repository);
	}
	if (rc == 0)
		rc = write_archive(new, images, count, err);
	for (size_t i = 0; i < count * BLOBS; i++) {
		struct blob *blob = &images[i / BLOBS].blobs[i % BLOBS];
		if (blob->type == IMAGE_FILE && blob->content != NULL)
			(void)unlink(blob->content);
		free(blob->content);
	}
	free(images);

	/* A file at `path` is replaced by the complete archive, or stays. */
	struct stat status = {0};
	if (rc == 0 && lstat(path, &status) == 0 && !S_ISREG(status.st_mode))
		rc = error_set(err, ERROR_EXISTS, "%s: exists and is not a regular file", path);
	if (rc == 0 && rename(new, path) < 0)
		rc = error_system(err, errno, "%s", path);
	if (rc < 0) {
		(void)unlink(new);
		for (size_t i = 0; i < count; i++)
			image_description_free(&out[i]);
	}
	return rc;
}
