/* SPDX-License-Identifier: MIT */
#include "containers/registry/content_cache.h"

#include "base/file.h"
#include "base/path.h"
#include "base/program.h"

#include <string.h>
#include <uv.h>

/* Either what is read from the cache, or what goes into it. */
struct cache_reader {
	struct blob_reader reader;
	struct blob_reader *from;
	char *path, *temporary;
	int fd; /* of `temporary` */
};

char *content_cache_directory(void)
{
	static const struct {
		const char *variable, *below;
	} places[] = {
		{"XDG_CACHE_HOME", "gpucert"},
		{"LOCALAPPDATA", "gpucert"},
		{"HOME", ".cache/gpucert"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		const char *parent = program_variable(places[i].variable);
		if (parent != NULL && path_is_absolute(parent))
			return path_join(parent, places[i].below);
	}
	return NULL;
}

static void remove_file(const char *path)
{
	uv_fs_t request = {0};
	(void)uv_fs_unlink(NULL, &request, path, NULL);
	uv_fs_req_cleanup(&request);
}

static int cache_read(struct blob_reader *self, void *out, size_t size, size_t *count,
		      struct error *err)
{
	struct cache_reader *cache = (struct cache_reader *)self;
	int rc = cache->from->read(cache->from, out, size, count, err);
	/* A full disk only means that it is not kept. */
	if (rc == 0 && cache->fd >= 0 && !file_write_all(cache->fd, out, *count))
		cleanup_fd_(&cache->fd);
	return rc;
}

static void cache_judged(struct blob_reader *self, bool right)
{
	struct cache_reader *cache = (struct cache_reader *)self;
	uv_fs_t request = {0};
	bool whole = cache->fd >= 0;
	cleanup_fd_(&cache->fd);
	cache->fd = -1;
	if (cache->temporary == NULL && !right)
		remove_file(cache->path);
	if (!right || !whole || cache->temporary == NULL ||
	    uv_fs_rename(NULL, &request, cache->temporary, cache->path, NULL) < 0)
		return;
	free(STEAL(cache->temporary));
	uv_fs_req_cleanup(&request);
}

static void cache_close(struct blob_reader *self)
{
	struct cache_reader *cache = (struct cache_reader *)self;
	cleanup_fd_(&cache->fd);
	if (cache->temporary != NULL)
		remove_file(cache->temporary);
	blob_reader_close(&cache->from);
	free(cache->temporary);
	free(cache->path);
	free(cache);
}

static struct cache_reader *cache_reader_new(const char *directory, const char *digest)
{
	struct cache_reader *cache = calloc(1, sizeof(*cache));
	if (cache == NULL)
		return NULL;
	cache->reader =
		(struct blob_reader){cache_read, cache_close, cache_judged, .is_copy = true};
	cache->fd = -1;
	cache->path = text_format("%s/%.6s/%s", directory, digest, digest + sizeof("sha256"));
	return cache;
}

static bool has_size(const char *path, uint64_t size)
{
	uv_fs_t request = {0};
	bool found = uv_fs_stat(NULL, &request, path, NULL) == 0 &&
		     (size == UINT64_MAX || request.statbuf.st_size == size);
	uv_fs_req_cleanup(&request);
	return found;
}

int content_cache_open(const char *directory, const struct image_descriptor *what,
		       struct blob_reader **out, struct error *err)
{
	struct cache_reader *cache = cache_reader_new(directory, what->digest);
	struct blob_reader *reader CLEANUP_BLOB_READER = cache != NULL ? &cache->reader : NULL;
	if (cache == NULL || cache->path == NULL)
		return error_memory(err);
	if (!has_size(cache->path, what->size))
		return error_set(err, ERROR_NOT_FOUND, "not in the cache");
	int rc = blob_file_open(directory, what->digest, &cache->from, err);
	if (rc == 0)
		*out = STEAL(reader);
	return rc;
}

static void start_writing(struct cache_reader *cache)
{
	char *folder CLEANUP_FREE = path_directory(cache->path);
	char *template CLEANUP_FREE = folder != NULL ? path_join(folder, ".incoming-XXXXXX") : NULL;
	uv_fs_t request = {0};
	if (template == NULL || file_make_directories(folder, 0700, NULL) < 0)
		return;
	cache->fd = uv_fs_mkstemp(NULL, &request, template, NULL);
	if (cache->fd >= 0)
		cache->temporary = strdup(request.path);
	uv_fs_req_cleanup(&request);
}

struct blob_reader *content_cache_keep(const char *directory, const char *digest,
				       struct blob_reader *reader)
{
	struct cache_reader *cache = cache_reader_new(directory, digest);
	if (cache != NULL && cache->path != NULL)
		start_writing(cache);
	if (cache == NULL || cache->temporary == NULL) {
		if (cache != NULL)
			cache_close(&cache->reader);
		return reader;
	}
	cache->from = reader;
	cache->reader.is_copy = false;
	return &cache->reader;
}
