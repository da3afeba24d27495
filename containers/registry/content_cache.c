/* SPDX-License-Identifier: MIT */
#include "containers/registry/content_cache.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/program.h"

#include <string.h>
#include <uv.h>

/* What goes into the cache while it is read. */
struct cache_writer {
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

static void stop_writing(struct cache_writer *writer)
{
	cleanup_fd_(&writer->fd);
	writer->fd = -1;
}

static int writer_read(struct blob_reader *self, void *out, size_t size, size_t *count,
		       struct error *err)
{
	struct cache_writer *writer = (struct cache_writer *)self;
	int rc = writer->from->read(writer->from, out, size, count, err);
	/* A full disk only means that it is not kept. */
	if (rc == 0 && writer->fd >= 0 && !file_write_all(writer->fd, out, *count))
		stop_writing(writer);
	return rc;
}

static void writer_judged(struct blob_reader *self, bool right)
{
	struct cache_writer *writer = (struct cache_writer *)self;
	uv_fs_t request = {0};
	bool whole = writer->fd >= 0;
	stop_writing(writer);
	if (right && whole &&
	    uv_fs_rename(NULL, &request, writer->temporary, writer->path, NULL) == 0)
		free(STEAL(writer->temporary));
	uv_fs_req_cleanup(&request);
}

static void writer_close(struct blob_reader *self)
{
	struct cache_writer *writer = (struct cache_writer *)self;
	stop_writing(writer);
	if (writer->temporary != NULL)
		blob_file_remove(writer->temporary);
	blob_reader_close(&writer->from);
	free(writer->temporary);
	free(writer->path);
	free(writer);
}

int content_cache_open(const char *directory, const struct image_descriptor *what,
		       struct blob_reader **out, struct error *err)
{
	char *path CLEANUP_FREE = blob_path(directory, what->digest);
	uv_fs_t request = {0};
	if (path == NULL)
		return error_memory(err);
	bool found = uv_fs_stat(NULL, &request, path, NULL) == 0 &&
		     (what->size == UINT64_MAX || request.statbuf.st_size == what->size);
	uv_fs_req_cleanup(&request);
	if (found) {
		const double now_s = (double)clock_realtime_ns() / 1e9;
		(void)uv_fs_utime(NULL, &request, path, now_s, now_s, NULL);
		uv_fs_req_cleanup(&request);
	}
	return found ? blob_file_open(directory, what->digest, true, out, err)
		     : error_set(err, ERROR_NOT_FOUND, "not in the cache");
}

static void start_writing(struct cache_writer *writer)
{
	char *folder CLEANUP_FREE = path_directory(writer->path);
	char *template CLEANUP_FREE =
		folder != NULL ? path_join(folder, CONTENT_INCOMING "XXXXXX") : NULL;
	uv_fs_t request = {0};
	if (template == NULL || file_make_directories(folder, 0700, NULL) < 0)
		return;
	writer->fd = uv_fs_mkstemp(NULL, &request, template, NULL);
	if (writer->fd >= 0)
		writer->temporary = strdup(request.path);
	uv_fs_req_cleanup(&request);
}

struct blob_reader *content_cache_keep(const char *directory, const char *digest,
				       struct blob_reader *reader)
{
	struct cache_writer *writer = calloc(1, sizeof(*writer));
	if (writer == NULL)
		return reader;
	writer->reader = (struct blob_reader){writer_read, writer_close, writer_judged, false};
	writer->fd = -1;
	writer->path = blob_path(directory, digest);
	if (writer->path != NULL)
		start_writing(writer);
	if (writer->temporary != NULL) {
		writer->from = reader;
		return &writer->reader;
	}
	writer_close(&writer->reader);
	return reader;
}
