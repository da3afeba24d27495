/* SPDX-License-Identifier: MIT */
#include "containers/wine/image.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/json.h"
#include "base/path.h"
#include "containers/wine/image_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEY_DIGITS = 16, IMAGE_COUNT = 2, SECONDS_KEPT = 24 * 60 * 60 };

/* Raised when the image is made differently from the same files. */
#define WINE_IMAGE_FORMAT "1"

static int wine_key_add_file(struct text *key, const char *path, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	int rc = digest_file(path, digest, NULL, err);

	text_addf(key, "%s %s\n", path_base(path), digest);
	return rc;
}

/* What the archive's name is made from. A root is never changed: its name says what is in it. */
static int wine_image_key(const struct wine_image_options *options, const char *pause,
			  char out[DIGEST_SIZE], struct error *err)
{
	struct text key CLEANUP_TEXT = {0};
	int rc = 0;

	text_addf(&key, "%s\n%s\n", WINE_IMAGE_FORMAT, path_base(options->root));
	rc = wine_key_add_file(&key, options->starter, err);
	rc = rc == 0 ? wine_key_add_file(&key, pause, err) : rc;
	for (size_t i = 0; rc == 0 && options->programs[i] != NULL; i++)
		rc = wine_key_add_file(&key, options->programs[i], err);
	if (rc == 0 && key.failed)
		rc = error_memory(err);
	if (rc == 0)
		digest_bytes(text_string(&key), key.size, out);
	return rc;
}

static int wine_describe_one(const struct image_description *image, cJSON *array, struct error *err)
{
	cJSON *json = cJSON_CreateObject();

	if (json == NULL || !cJSON_AddItemToArray(array, json) ||
	    cJSON_AddStringToObject(json, "reference", image->reference) == NULL ||
	    cJSON_AddStringToObject(json, "digest", image->digest) == NULL ||
	    cJSON_AddStringToObject(json, "layer", image->layer) == NULL ||
	    cJSON_AddNumberToObject(json, "size", (double)image->size) == NULL)
		return error_memory(err);
	return 0;
}

/* The description is written last: an archive with one is complete. */
static int wine_image_compose(const struct wine_image_options *options, const char *pause,
			      const char *archive, const char *description, struct error *err)
{
	const char *const pause_programs[] = {pause, NULL};
	const char *const pause_command[] = {IMAGES_PROGRAM_DIRECTORY "/pause", NULL};
	const struct image_spec specs[IMAGE_COUNT] = {
		{.repository = WINE_IMAGE_REPOSITORY,
		 .content = wine_image_content,
		 .user = options},
		{
			.repository = IMAGES_PAUSE_REPOSITORY,
			.tag = IMAGES_PAUSE_TAG,
			.programs = pause_programs,
			.command = pause_command,
		},
	};
	struct image_description described[IMAGE_COUNT] = {{0}};
	cJSON *json CLEANUP_JSON = cJSON_CreateArray();
	char *new CLEANUP_FREE = text_format("%s.%d", archive, (int)getpid());
	int rc = new != NULL &&json != NULL ? 0 : error_memory(err);

	rc = rc == 0 ? image_compose(new, specs, IMAGE_COUNT, described, err) : rc;
	for (size_t i = 0; rc == 0 && i < IMAGE_COUNT; i++)
		rc = wine_describe_one(&described[i], json, err);
	if (rc == 0 && rename(new, archive) < 0)
		rc = error_set(err, ERROR_IO, "%s: cannot be put in its place", archive);
	rc = rc == 0 ? json_write_file(description, json, err) : rc;
	for (size_t i = 0; i < IMAGE_COUNT; i++)
		image_description_free(&described[i]);
	return rc;
}

static int wine_read_one(const struct json_at *at, size_t index, struct image_description *out,
			 struct error *err)
{
	struct json_at item = {0};
	const char *reference = "", *digest = "", *layer = "";
	int64_t size = 0;
	int rc = json_element(at, index, JSON_OBJECT, &item, err);

	rc = rc == 0 ? json_need_string(&item, "reference", &reference, err) : rc;
	rc = rc == 0 ? json_need_string(&item, "digest", &digest, err) : rc;
	rc = rc == 0 ? json_need_string(&item, "layer", &layer, err) : rc;
	rc = rc == 0 ? json_need_int(&item, "size", 0, INT64_MAX, &size, err) : rc;
	if (rc < 0)
		return rc;
	(void)snprintf(out->digest, sizeof(out->digest), "%s", digest);
	(void)snprintf(out->layer, sizeof(out->layer), "%s", layer);
	out->size = (uint64_t)size;
	out->reference = strdup(reference);
	return out->reference != NULL ? 0 : error_memory(err);
}

/* ERROR_NOT_FOUND when nothing is cached under the key. */
static int wine_image_read(const char *archive, const char *description, struct images *out,
			   struct error *err)
{
	cJSON *json CLEANUP_JSON = NULL;
	struct images images = {0};
	struct json_at root = {0};
	int rc = 0;

	if (!file_exists(archive) || !file_exists(description))
		return ERROR_NOT_FOUND;
	rc = json_read_file(description, &json, err);
	if (rc < 0)
		return rc;
	root = json_root(json);
	rc = wine_read_one(&root, 0, &images.probe, err);
	rc = rc == 0 ? wine_read_one(&root, 1, &images.pause, err) : rc;
	images.archive = strdup(archive);
	if (rc == 0 && images.archive == NULL)
		rc = error_memory(err);
	if (rc < 0) {
		images_free(&images);
		return error_wrap(err, rc, "%s", description);
	}
	*out = images;
	return 0;
}

/* Archives of programs that have not been used for a day make room. */
static void wine_image_prune(const char *cache)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	time_t now = time(NULL);

	if (file_list(cache, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join(cache, names.items[i]);
		struct stat status = {0};

		if (path != NULL && text_starts_with(names.items[i], "wine-image-") &&
		    stat(path, &status) == 0 && now - status.st_atime > SECONDS_KEPT &&
		    now - status.st_mtime > SECONDS_KEPT)
			(void)unlink(path);
	}
}

int wine_image_prepare(const struct wine_image_options *options, struct images *out,
		       struct error *err)
{
	char *beside CLEANUP_FREE = NULL;
	char *pause CLEANUP_FREE = NULL;
	char *archive CLEANUP_FREE = NULL;
	char *description CLEANUP_FREE = NULL;
	char digest[DIGEST_SIZE] = "";
	int rc = options->program_directory == NULL
			 ? path_beside_program("../libexec/gpucert", &beside, err)
			 : 0;

	if (rc < 0)
		return rc;
	pause = path_join(beside != NULL ? beside : options->program_directory, "pause");
	rc = pause != NULL ? wine_image_key(options, pause, digest, err) : error_memory(err);
	if (rc < 0)
		return rc;
	archive = text_format("%s/wine-image-%.*s.tar", options->cache, KEY_DIGITS,
			      digest + strlen("sha256:"));
	description = archive != NULL ? text_format("%s.json", archive) : NULL;
	if (description == NULL)
		return error_memory(err);
	rc = wine_image_read(archive, description, out, err);
	if (rc != ERROR_NOT_FOUND)
		return rc;
	wine_image_prune(options->cache);
	rc = file_make_directories(options->cache, 0755, err);
	rc = rc == 0 ? wine_image_compose(options, pause, archive, description, err) : rc;
	return rc == 0 ? wine_image_read(archive, description, out, err) : rc;
}
