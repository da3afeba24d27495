/* SPDX-License-Identifier: MIT */
#include "containers/wine/image.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/images/tree.h"
#include "containers/wine/node.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEY_DIGITS = 16, SECONDS_KEPT = 24 * 60 * 60 };

/* Raised when the image is made differently from the same files. */
#define WINE_IMAGE_FORMAT "2"

/* The archive's path, whose name is a hash of all of its content. A root never changes: its name
 * stands for its content. */
static int archive_path(const struct wine_image_options *options, const char *pause, char **out,
			struct error *err)
{
	struct text key CLEANUP_TEXT = {0};
	char digest[DIGEST_SIZE] = "";
	text_addf(&key, "%s\n%s\n", WINE_IMAGE_FORMAT, path_base(options->root));
	int rc = wine_digest_add(options->starter, &key, err);
	if (rc == 0)
		rc = wine_digest_add(pause, &key, err);
	for (size_t i = 0; rc == 0 && options->programs[i] != NULL; i++)
		rc = wine_digest_add(options->programs[i], &key, err);
	if (rc == 0)
		rc = wine_dlls_add_digests(options->dlls, &key, err);
	if (rc < 0)
		return rc;
	digest_bytes(text_string(&key), key.size, digest);
	*out = text_format("%s/wine-image-%.*s.tar", options->cache, KEY_DIGITS,
			   digest + strlen("sha256:"));
	return 0;
}

/* ERROR_NOT_FOUND when nothing is cached. */
static int read_cached(const char *archive, const char *digest, struct images *out,
		       struct error *err)
{
	char *line CLEANUP_FREE = NULL;
	if (!file_exists(archive) || !file_exists(digest))
		return ERROR_NOT_FOUND;
	int rc = file_read_line(digest, &line, err);
	if (rc < 0)
		return rc;
	if (strlen(line) != DIGEST_SIZE - 1)
		return error_set(err, ERROR_FORMAT, "%s: not a digest", digest);
	*out = (struct images){.archive = memory_copy(archive)};
	memcpy(out->probe.digest, line, DIGEST_SIZE);
	out->probe.reference = image_reference(WINE_IMAGE_REPOSITORY, line);
	return 0;
}

int wine_image_prepare(const struct wine_image_options *options, struct images *out,
		       struct error *err)
{
	char *pause CLEANUP_FREE = NULL;
	char *archive CLEANUP_FREE = NULL;
	int rc = path_of_helper("pause", &pause, err);
	if (rc == 0)
		rc = archive_path(options, pause, &archive, err);
	if (rc < 0)
		return rc;
	char *digest CLEANUP_FREE = text_format("%s.digest", archive);
	rc = read_cached(archive, digest, out, err);
	if (rc != ERROR_NOT_FOUND)
		return rc;

	/* Archives not used for a day are removed. */
	struct text_list names CLEANUP_TEXT_LIST = {0};
	time_t now = time(NULL);
	(void)file_list(options->cache, &names, NULL);
	text_each (name, &names) {
		char *path CLEANUP_FREE = path_join(options->cache, name);
		struct stat status = {0};
		if (text_starts_with(name, "wine-image-") && stat(path, &status) == 0 &&
		    now - status.st_atime > SECONDS_KEPT && now - status.st_mtime > SECONDS_KEPT)
			(void)unlink(path);
	}

	/* The digest is written last: an archive that has one is complete. */
	const struct image_spec spec = {.repository = WINE_IMAGE_REPOSITORY,
					.content = wine_image_content,
					.user = options};
	struct images images = {0};
	rc = file_make_directories(options->cache, 0755, err);
	if (rc == 0)
		rc = images_compose(archive, &spec, true, NULL, &images, err);
	if (rc == 0)
		rc = file_write_atomic(digest, images.probe.digest, strlen(images.probe.digest),
				       0644, err);
	images_free(&images);
	if (rc == 0)
		rc = read_cached(archive, digest, out, err);
	return rc;
}
