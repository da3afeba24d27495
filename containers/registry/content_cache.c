/* SPDX-License-Identifier: MIT */
#include "containers/registry/content_cache.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/registry/internal.h"

#include <string.h>
#include <sys/stat.h>
#include <uv.h>

int content_cache_open(const char *directory, const struct image_descriptor *what,
		       struct blob_reader **out, struct error *err)
{
	char *path CLEANUP_FREE = blob_path(directory, what->digest);
	const double now_s = (double)clock_realtime_ns() / 1e9;
	struct file_status status = {0};
	uv_fs_t request = {0};
	if (file_status(path, true, &status, NULL) < 0 ||
	    (what->size != UINT64_MAX && what->size != status.size))
		return error_set(err, ERROR_NOT_FOUND, "not in the cache");
	(void)uv_fs_utime(NULL, &request, path, now_s, now_s, NULL);
	uv_fs_req_cleanup(&request);
	return blob_file_open(path, out, err);
}

int content_cache_begin(const char *path, char **incoming)
{
	char *folder CLEANUP_FREE = path_directory(path);
	char *template CLEANUP_FREE = path_join(folder, CONTENT_INCOMING "XXXXXX");
	uv_fs_t request = {0};
	if (file_make_directories(folder, 0700, NULL) < 0)
		return -1;
	int fd = uv_fs_mkstemp(NULL, &request, template, NULL);
	*incoming = fd >= 0 ? memory_copy(request.path) : NULL;
	uv_fs_req_cleanup(&request);
	return fd;
}

struct kept_blob {
	char *path;
	uint64_t size;
	int64_t used_s; /* since 1970 */
};

struct kept_blobs {
	struct kept_blob *items;
	size_t count;
};

static void kept_blobs_free(struct kept_blobs *blobs)
{
	for (size_t i = 0; i < blobs->count; i++)
		free(blobs->items[i].path);
	free(blobs->items);
}

/* Only regular files; one that has just gone is skipped. */
static void add_file(struct kept_blobs *blobs, const char *folder, const char *name)
{
	char *path CLEANUP_FREE = path_join(folder, name);
	uv_fs_t request = {0};
	bool found = uv_fs_lstat(NULL, &request, path, NULL) == 0 &&
		     (request.statbuf.st_mode & S_IFMT) == S_IFREG;
	const uint64_t size = request.statbuf.st_size;
	const int64_t used_s = (int64_t)request.statbuf.st_mtim.tv_sec;
	uv_fs_req_cleanup(&request);
	if (!found)
		return;
	const size_t digits = strspn(name, "0123456789abcdef");
	if (name[digits] == '\0' && (digits == 64 || digits == 128)) {
		blobs->items = array_grow(blobs->items, blobs->count, sizeof(*blobs->items));
		blobs->items[blobs->count++] = (struct kept_blob){STEAL(path), size, used_s};
	} else if (text_starts_with(name, CONTENT_INCOMING) &&
		   used_s + CONTENT_CACHE_INCOMING_S < clock_realtime_ns() / 1000000000) {
		(void)file_remove_tree(path, NULL);
	}
}

/* By use, then by name, so that two processes remove the same blobs. */
static int compare_use(const void *first, const void *second)
{
	const struct kept_blob *a = first;
	const struct kept_blob *b = second;
	if (a->used_s != b->used_s)
		return a->used_s < b->used_s ? -1 : 1;
	return strcmp(a->path, b->path);
}

int content_cache_prune(const char *directory, uint64_t max, struct content_cache_size *out,
			struct error *err)
{
	static const char *const algorithms[] = {"sha256", "sha512"};
	struct kept_blobs blobs CLEANUP(kept_blobs_free) = {0};
	*out = (struct content_cache_size){0};
	for (size_t i = 0; i < ARRAY_SIZE(algorithms); i++) {
		struct text_list names CLEANUP_TEXT_LIST = {0};
		struct error failure = {0};
		char *folder CLEANUP_FREE = path_join(directory, algorithms[i]);
		int rc = file_list(folder, &names, &failure);
		if (rc < 0 && rc != ERROR_NOT_FOUND)
			return error_copy(err, &failure);
		text_each (name, &names)
			add_file(&blobs, folder, name);
	}
	if (blobs.count == 0)
		return 0;
	qsort(blobs.items, blobs.count, sizeof(*blobs.items), compare_use);
	out->files = blobs.count;
	for (size_t i = 0; i < blobs.count; i++)
		out->bytes += blobs.items[i].size;

	for (size_t i = 0; i < blobs.count && out->bytes > max; i++) {
		const struct kept_blob *blob = &blobs.items[i];
		(void)file_remove_tree(blob->path, NULL);
		/* It stays and counts, for example on Windows while another process reads it. */
		if (file_exists(blob->path))
			continue;
		out->removed++;
		out->removed_bytes += blob->size;
		out->files--;
		out->bytes -= blob->size;
	}
	return 0;
}
