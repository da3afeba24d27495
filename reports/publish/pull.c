/* SPDX-License-Identifier: MIT */
#include "reports/publish/store.h"

#include "base/digest.h"
#include "base/file.h"
#include "base/path.h"

#include <errno.h>
#include <string.h>
#include <uv.h>

struct pull {
	struct store *store;
	const char *directory;
	const struct publish_options *options;
};

static int check_digest(const char *path, const struct image_descriptor *file, struct error *err)
{
	char digest[DIGEST_SIZE] = "";
	int rc = digest_file(path, digest, NULL, err);
	return rc < 0 || strcmp(digest, file->digest) == 0
		       ? rc
		       : error_set(err, ERROR_PROTOCOL, "its content has the digest %s, not %s",
				   digest, file->digest);
}

/* Is it there? What is there and is something else stays. */
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

/* The folder of a file, below which no link leads elsewhere. */
static int make_folder(const struct pull *pull, const char *title, const char *path,
		       struct error *err)
{
	char *folder CLEANUP_FREE = path_directory(path);
	for (const char *at = strchr(title, '/'); at != NULL; at = strchr(at + 1, '/')) {
		char *parent CLEANUP_FREE =
			text_format("%s/%.*s", pull->directory, (int)(at - title), title);
		struct file_status status = {0};
		if (parent == NULL)
			return error_memory(err);
		if (file_status(parent, false, &status, NULL) == 0 && status.kind != FILE_DIRECTORY)
			return error_set(err, ERROR_EXISTS,
					 "%s is a link or a file; pull into another folder",
					 parent);
	}
	return folder != NULL ? file_make_directories(folder, 0750, err) : error_memory(err);
}

static int open_partial(const char *path, int *fd, struct error *err)
{
	uv_fs_t request = {0};
	int rc = uv_fs_open(NULL, &request, path,
			    UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_APPEND | UV_FS_O_NOFOLLOW,
			    0640, NULL);
	uv_fs_req_cleanup(&request);
	*fd = rc;
	return rc < 0 ? error_uv(err, rc, "%s", path) : 0;
}

/* Reads what is missing behind the first `has` bytes and flushes it to disk. */
static int fetch_rest(const struct pull *pull, const struct image_descriptor *file,
		      const char *partial, uint64_t has, struct error *err)
{
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	int fd CLEANUP_FD = -1;
	char chunk[65536];
	size_t count = has < file->size;
	uv_fs_t request = {0};
	int rc = open_partial(partial, &fd, err);
	if (rc == 0 && count > 0)
		rc = pull->store->kind->open(pull->store, file, has, &reader, err);
	while (rc == 0 && count > 0) {
		rc = reader->read(reader, chunk, sizeof(chunk), &count, err);
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

/* Goes on behind what an earlier pull has left. When that was wrong it is fetched anew. */
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

static int pull_file(const struct pull *pull, const struct image_descriptor *file, bool *fetched,
		     struct error *err)
{
	char *path CLEANUP_FREE = path_join(pull->directory, file->title);
	char *name CLEANUP_FREE = text_format(".pull-%s", file->digest + strlen("sha256:"));
	char *partial CLEANUP_FREE = name != NULL ? path_join(pull->directory, name) : NULL;
	uv_fs_t request = {0};
	bool there = false;
	if (path == NULL || partial == NULL)
		return error_memory(err);
	int rc = make_folder(pull, file->title, path, err);
	if (rc == 0)
		rc = look(pull, file, path, &there, err);
	*fetched = rc == 0 && !there;
	if (*fetched)
		rc = fetch(pull, file, partial, err);
	if (rc < 0 || there)
		return rc;
	rc = uv_fs_rename(NULL, &request, partial, path, NULL);
	uv_fs_req_cleanup(&request);
	return rc < 0 ? error_uv(err, rc, "%s", path) : 0;
}

/* Nobody else's file came along, and the run stored what is there. */
static int check_pulled(const char *directory, const struct publication *what, struct error *err)
{
	struct publication found CLEANUP_PUBLICATION = {0};
	int rc = publication_make(directory, NULL, &found, err);
	for (size_t i = 0; rc == 0 && i < what->manifest.layer_count; i++) {
		const char *title = what->manifest.layers[i].title;
		if (publication_find(&found, title) == NULL)
			rc = error_set(err, ERROR_FORMAT, "%s is not of this run", title);
	}
	return rc < 0 ? error_wrap(err, rc, "what was pulled is not to be believed") : 0;
}

static int pull_files(const struct pull *pull, const struct publication *what,
		      struct publish_result *out, struct error *err)
{
	int rc = 0;
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
	return rc == 0 ? check_pulled(pull->directory, what, err) : rc;
}

int report_pull(const char *place, const char *directory, const struct publish_options *options,
		struct publish_result *out, struct error *err)
{
	struct store *store CLEANUP_STORE = NULL;
	struct publication what CLEANUP_PUBLICATION = {0};
	struct text manifest CLEANUP_TEXT = {0};
	int lock CLEANUP_FD = -1;
	*out = (struct publish_result){0};
	int rc = store_open(place, false, options, &store, err);
	if (rc == 0)
		rc = store->kind->get_manifest(store, &manifest, err);
	if (rc == 0)
		rc = publication_read(&manifest, &what, err);
	if (rc == 0)
		rc = file_make_directories(directory, 0750, err);
	if (rc == 0)
		rc = file_lock_directory(directory, &lock, err);
	if (rc < 0)
		return rc;
	publication_tell(&what, out);
	const struct pull pull = {store, directory, options};
	return pull_files(&pull, &what, out, err);
}
