/* SPDX-License-Identifier: MIT */
#include "containers/inspect/manifest.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

void image_manifest_free(struct image_manifest *manifest)
{
	for (size_t i = 0; i < manifest->count; i++)
		free(manifest->files[i].path);
	free(manifest->files);
	*manifest = (struct image_manifest){0};
}

/* Images hold some dozen files. */
static int manifest_put(struct image_manifest *manifest, const char *path, const char *digest,
			struct error *err)
{
	struct image_manifest_file *grown =
		realloc(manifest->files, (manifest->count + 1) * sizeof(*grown));

	if (grown == NULL)
		return error_memory(err);
	manifest->files = grown;
	grown[manifest->count].path = strdup(path);
	memcpy(grown[manifest->count].digest, digest, DIGEST_SIZE);
	if (grown[manifest->count].path == NULL)
		return error_memory(err);
	manifest->count++;
	return 0;
}

int image_manifest_add(struct image_manifest *manifest, const char *path, const char *source,
		       struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	int rc = digest_file(source, digest, NULL, err);

	return rc == 0 ? manifest_put(manifest, path, digest, err) : rc;
}

const struct image_manifest_file *image_manifest_find(const struct image_manifest *manifest,
						      const char *path)
{
	for (size_t i = 0; i < manifest->count; i++) {
		if (strcmp(manifest->files[i].path, path) == 0)
			return &manifest->files[i];
	}
	return NULL;
}

const struct image_manifest_file *image_manifest_holds(const struct image_manifest *manifest,
						       const char *digest)
{
	for (size_t i = 0; i < manifest->count; i++) {
		if (strcmp(manifest->files[i].digest, digest) == 0)
			return &manifest->files[i];
	}
	return NULL;
}

int image_manifest_write(const struct image_manifest *manifest, const char *path, struct error *err)
{
	cJSON *json CLEANUP_JSON = cJSON_CreateObject();
	const cJSON *complete = cJSON_AddBoolToObject(json, "complete", manifest->complete);
	cJSON *files = cJSON_AddArrayToObject(json, "files");

	for (size_t i = 0; i < manifest->count; i++) {
		cJSON *file = cJSON_CreateObject();

		if (!cJSON_AddItemToArray(files, file)) {
			cJSON_Delete(file);
			return error_memory(err);
		}
		if (cJSON_AddStringToObject(file, "path", manifest->files[i].path) == NULL ||
		    cJSON_AddStringToObject(file, "digest", manifest->files[i].digest) == NULL)
			return error_memory(err);
	}
	return files != NULL && complete != NULL ? json_write_file(path, json, err)
						 : error_memory(err);
}

static int manifest_read_file(const struct json_at *files, size_t index,
			      struct image_manifest *manifest, struct error *err)
{
	struct json_at file = {0};
	const char *path = "";
	const char *digest = "";
	int rc = json_element(files, index, JSON_OBJECT, &file, err);

	rc = rc == 0 ? json_need_string(&file, "path", &path, err) : rc;
	rc = rc == 0 ? json_need_string(&file, "digest", &digest, err) : rc;
	if (rc == 0 && (path[0] != '/' || strlen(digest) != DIGEST_SIZE - 1))
		return json_error(&file, err, "not an absolute path with a SHA-256 digest");
	return rc == 0 ? manifest_put(manifest, path, digest, err) : rc;
}

int image_manifest_read(const char *path, struct image_manifest *out, struct error *err)
{
	struct image_manifest manifest CLEANUP_IMAGE_MANIFEST = {0};
	cJSON *json CLEANUP_JSON = NULL;
	struct json_at root = {0};
	struct json_at files = {0};
	int rc = json_read_file(path, &json, err);

	root = json_root(json);
	rc = rc == 0 ? json_need_bool(&root, "complete", &manifest.complete, err) : rc;
	rc = rc == 0 ? json_need(&root, "files", JSON_ARRAY, &files, err) : rc;
	for (size_t i = 0; rc == 0 && i < json_count(&files); i++)
		rc = manifest_read_file(&files, i, &manifest, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", path);
	*out = manifest;
	manifest = (struct image_manifest){0};
	return 0;
}
