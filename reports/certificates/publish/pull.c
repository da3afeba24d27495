/* SPDX-License-Identifier: MIT */
#include "reports/certificates/publish/store.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"

#include <errno.h>
#include <string.h>
#include <uv.h>

/* Pulled files wait here until the whole report is verified. */
#define STAGE ".pulled"

/* Limits a server that keeps sending very slowly; another pull continues the transfer. */
enum { PULL_MS_MAX = 30 * 60 * 1000 };

struct pull {
	struct store *store;
	const char *directory;
	const char *stage; /* the folder STAGE in it */
	const struct publish_options *options;
	uint64_t deadline_ms;
};

static int check_digest(const char *path, const struct image_descriptor *file, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	int rc = digest_file(path, digest, NULL, err);
	return rc < 0 || text_equal(digest, file->digest)
		       ? rc
		       : error_set(err, ERROR_PROTOCOL, "its content has the digest %s, not %s",
				   digest, file->digest);
}

/* Does the file exist? A different file of that name is left unchanged. */
static int look(const struct pull *pull, const struct image_descriptor *file, const char *path,
		bool *there, struct error *err)
{
	struct file_status status = {0};
	*there = file_status(path, false, &status, NULL) == 0;
	if (!*there || (status.kind == FILE_REGULAR && check_digest(path, file, NULL) == 0))
		return 0;
	return error_set(err, ERROR_EXISTS,
			 "%s has another file of that name; pull into another folder",
			 pull->directory);
}

/* No component of a file's path is a link, which could lead out of the folder. */
static int check_way(const char *directory, const char *title, struct error *err)
{
	for (const char *at = strchr(title, '/'); at != NULL; at = strchr(at + 1, '/')) {
		char *parent CLEANUP_FREE =
			text_format("%s/%.*s", directory, (int)(at - title), title);
		struct file_status status = {0};
		if (file_status(parent, false, &status, NULL) == 0 && status.kind != FILE_DIRECTORY)
			return error_set(err, ERROR_EXISTS,
					 "%s is a link or a file; pull into another folder",
					 parent);
	}
	return 0;
}

/* The path of a file; makes its folder. Caller frees *path. */
static int make_folder(const char *directory, const char *title, char **path, struct error *err)
{
	char *made CLEANUP_FREE = path_join(directory, title);
	char *folder CLEANUP_FREE = path_directory(made);
	int rc = check_way(directory, title, err);
	if (rc == 0)
		rc = file_make_directories(folder, 0750, err);
	if (rc == 0)
		*path = STEAL(made);
	return rc;
}

/* Fetches the rest after the first `has` bytes and flushes it to disk. */
static int fetch_rest(const struct pull *pull, const struct image_descriptor *file,
		      const char *partial, uint64_t has, struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	char chunk[65536];
	size_t count = has < file->size;
	uv_fs_t request = {0};
	int fd CLEANUP_FD = uv_fs_open(
		NULL, &request, partial,
		UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_APPEND | UV_FS_O_NOFOLLOW, 0640, NULL);
	uv_fs_req_cleanup(&request);
	int rc = fd < 0 ? error_uv(err, fd, "%s", partial) : 0;
	if (rc == 0 && count > 0)
		pull->store->kind->open(pull->store, file, has, &reader);
	while (rc == 0 && count > 0) {
		rc = reader->read(reader, chunk, sizeof(chunk), &count, err);
		if (rc == 0 && clock_monotonic_ms() > pull->deadline_ms)
			rc = error_set(err, ERROR_TIMEOUT,
				       "the pull takes longer than %d minutes; pull again to "
				       "continue",
				       PULL_MS_MAX / 60000);
		if (rc == 0 && count > file->size - has)
			rc = error_set(err, ERROR_PROTOCOL,
				       "it is longer than the %llu bytes promised",
				       (unsigned long long)file->size);
		if (rc == 0 && !file_write_all(fd, chunk, count))
			rc = error_system(err, errno, "%s", partial);
		has += rc == 0 ? count : 0;
	}
	if (rc < 0)
		return rc;
	rc = uv_fs_fsync(NULL, &request, fd, NULL);
	uv_fs_req_cleanup(&request);
	return rc < 0 ? error_uv(err, rc, "%s", partial) : 0;
}

/* Continues after the bytes that an earlier pull has left. If those were wrong the file is fetched again. */
static int fetch(const struct pull *pull, const struct image_descriptor *file, const char *partial,
		 struct error *err)
{
	struct file_status left = {0};
	struct error failure = {0};
	bool goes_on = file_status(partial, false, &left, NULL) == 0 && left.kind == FILE_REGULAR &&
		       left.size > 0 && left.size <= file->size;
	if (!goes_on)
		(void)file_remove_tree(partial, NULL);
	int rc = fetch_rest(pull, file, partial, goes_on ? left.size : 0, &failure);
	if (rc == 0)
		rc = check_digest(partial, file, &failure);
	if (rc == ERROR_PROTOCOL)
		(void)file_remove_tree(partial, NULL);
	if (rc == ERROR_PROTOCOL && goes_on)
		return fetch(pull, file, partial, err);
	return rc < 0 ? error_copy(err, &failure) : 0;
}

static int move(const char *from, const char *to, struct error *err)
{
	uv_fs_t request = {0};
	int rc = uv_fs_rename(NULL, &request, from, to, NULL);
	uv_fs_req_cleanup(&request);
	return rc < 0 ? error_uv(err, rc, "%s", to) : 0;
}

static int pull_file(const struct pull *pull, const struct image_descriptor *file, bool *fetched,
		     struct error *err)
{
	char *path CLEANUP_FREE = path_join(pull->directory, file->title);
	char *name CLEANUP_FREE = text_format(".pull-%s", file->digest + strlen("sha256:"));
	char *partial CLEANUP_FREE = path_join(pull->directory, name);
	char *staged CLEANUP_FREE = NULL;
	bool there = false;
	int rc = make_folder(pull->stage, file->title, &staged, err);
	if (rc == 0)
		rc = check_way(pull->directory, file->title, err);
	if (rc == 0)
		rc = look(pull, file, path, &there, err);
	if (rc < 0)
		return rc;
	if (there) {
		/* Files that are already in the folder are verified with the rest. */
		uv_fs_t request = {0};
		rc = file_remove_tree(staged, err);
		if (rc < 0)
			return rc;
		rc = uv_fs_copyfile(NULL, &request, path, staged, UV_FS_COPYFILE_FICLONE, NULL);
		uv_fs_req_cleanup(&request);
		return rc < 0 ? error_uv(err, rc, "%s", staged) : 0;
	}
	if (check_digest(staged, file, NULL) == 0)
		return 0;
	*fetched = true;
	rc = fetch(pull, file, partial, err);
	return rc == 0 ? move(partial, staged, err) : rc;
}

static int place_files(const struct pull *pull, const struct publication *what, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < what->manifest.layer_count; i++) {
		const struct image_descriptor *file = &what->manifest.layers[i];
		char *staged CLEANUP_FREE = path_join(pull->stage, file->title);
		char *path CLEANUP_FREE = NULL;
		bool there = false;
		rc = make_folder(pull->directory, file->title, &path, err);
		if (rc == 0)
			rc = look(pull, file, path, &there, err);
		if (rc == 0 && !there)
			rc = move(staged, path, err);
	}
	return rc == 0 ? file_remove_tree(pull->stage, err) : rc;
}

static int pull_files(const struct pull *pull, const struct publication *what,
		      struct publish_result *out, struct error *err)
{
	int rc = file_expect_private(pull->stage, err);
	for (size_t i = 0; rc == 0 && i < what->manifest.layer_count; i++) {
		const struct image_descriptor *file = &what->manifest.layers[i];
		bool fetched = false;
		if (pull->options->progress != NULL)
			pull->options->progress(i + 1, what->manifest.layer_count, file);
		rc = pull_file(pull, file, &fetched, err);
		out->moved_files += fetched;
		out->moved_bytes += fetched ? file->size : 0;
		if (rc < 0)
			(void)error_wrap(err, rc, "%s", file->title);
	}
	if (rc < 0)
		return rc;

	/* No other file is among them, and they are as the run stored them. */
	struct publication found CLEANUP_PUBLICATION = {0};
	rc = publication_make(pull->stage, NULL, &found, err);
	for (size_t i = 0; rc == 0 && i < what->manifest.layer_count; i++) {
		const char *title = what->manifest.layers[i].title;
		if (publication_find(&found, title) == NULL)
			rc = error_set(err, ERROR_FORMAT, "%s is not of this run", title);
	}
	if (rc == 0)
		return place_files(pull, what, err);
	(void)file_remove_tree(pull->stage, NULL);
	return error_wrap(err, rc, "what was pulled is not to be believed");
}

int report_pull(const char *place, const char *directory, const struct publish_options *options,
		struct publish_result *out, struct error *err)
{
	struct store *store CLEANUP_STORE = NULL;
	struct publication what CLEANUP_PUBLICATION = {0};
	struct text manifest CLEANUP_TEXT = {0};
	char *held CLEANUP_FREE = NULL;
	int lock CLEANUP_FD = -1;
	*out = (struct publish_result){0};
	int rc = store_open(place, false, options, &store, err);
	if (rc == 0)
		rc = store->kind->get_manifest(store, &manifest, err);
	if (rc == 0)
		rc = publication_read(&manifest, &what, err);
	if (rc == 0)
		rc = file_hold_directory(directory, 0750, &lock, &held, err);
	if (rc < 0)
		return rc;
	char *stage CLEANUP_FREE = path_join(held, STAGE);
	publication_describe(&what, out);
	const struct pull pull = {store, held, stage, options, clock_monotonic_ms() + PULL_MS_MAX};
	rc = pull_files(&pull, &what, out, err);
	file_name_held(held, directory, err);
	return rc;
}
