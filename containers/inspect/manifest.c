/* SPDX-License-Identifier: MIT */
#include "containers/inspect/manifest.h"

#include "base/digest.h"
#include "base/json_members.h"

#include <string.h>

enum { FILES_MAX = 100000 };

static int check_path(const struct json_at *at, struct error *err)
{
	if (at->node->valuestring[0] != '/')
		return json_error(at, err, "not an absolute path");
	return 0;
}

static int check_digest(const struct json_at *at, struct error *err)
{
	if (strlen(at->node->valuestring) != DIGEST_SIZE - 1)
		return json_error(at, err, "not a SHA-256 digest");
	return 0;
}

static const struct json_member file_members[] = {
	JSON_TEXT(struct image_manifest_file, "path", path, JSON_REQUIRED, check_path),
	JSON_TEXT(struct image_manifest_file, "digest", digest, JSON_REQUIRED, check_digest),
	{0},
};

static const struct json_member manifest_members[] = {
	{.key = "complete",
	 .type = JSON_MEMBER_BOOL,
	 .presence = JSON_REQUIRED,
	 JSON_AT(struct image_manifest, complete)},
	JSON_LIST(struct image_manifest, "files", files, count, JSON_REQUIRED, FILES_MAX,
		  file_members),
	{0},
};

void image_manifest_free(struct image_manifest *manifest)
{
	arena_free(&manifest->arena);
	*manifest = (struct image_manifest){0};
}

int image_manifest_add(struct image_manifest *manifest, const char *path, const char *source,
		       struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	int rc = digest_file(source, digest, NULL, err);
	if (rc < 0)
		return rc;

	struct arena *arena = &manifest->arena;
	manifest->files =
		arena_grow(arena, manifest->files, manifest->count, sizeof(*manifest->files));
	manifest->files[manifest->count++] = (struct image_manifest_file){
		arena_string(arena, path), arena_string(arena, digest)};
	return 0;
}

const struct image_manifest_file *image_manifest_find(const struct image_manifest *manifest,
						      const char *path)
{
	for (size_t i = 0; i < manifest->count; i++) {
		if (text_equal(manifest->files[i].path, path))
			return &manifest->files[i];
	}
	return NULL;
}

const struct image_manifest_file *image_manifest_holds(const struct image_manifest *manifest,
						       const char *digest)
{
	for (size_t i = 0; i < manifest->count; i++) {
		if (text_equal(manifest->files[i].digest, digest))
			return &manifest->files[i];
	}
	return NULL;
}

int image_manifest_write(const struct image_manifest *manifest, const char *path, struct error *err)
{
	cJSON *json CLEANUP_JSON = json_members_write(manifest_members, manifest);
	return json_write_file(path, json, err);
}

int image_manifest_load(const char *path, struct image_manifest *out, struct error *err)
{
	struct image_manifest manifest CLEANUP_IMAGE_MANIFEST = {0};
	cJSON *json CLEANUP_JSON = NULL;
	int rc = json_read_file(path, &json, err);
	struct json_at root = json_root(json);
	if (rc == 0)
		rc = json_members_read(&root, manifest_members, &manifest, &manifest.arena, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	*out = STEAL(manifest);
	return 0;
}
