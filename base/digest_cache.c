/* SPDX-License-Identifier: MIT */
#include "base/digest_cache.h"

#include "base/array.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/path.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { RECORDS_MAX = 4096 };

static const int64_t settled_ns = INT64_C(3000000000);

/* As in the file, of a fixed size: one write adds one. */
struct record {
	char magic[8];
	uint64_t device, inode, size;
	int64_t modified_ns, changed_ns;
	char digest[DIGEST_SIZE];
	char end; /* '\n': missing from a torn record */
};

static const char magic[8] = "digest1";

struct digest_cache {
	char *path;
	struct record *records;
	size_t count;
};

static bool is_same(const struct record *record, const struct file_status *file)
{
	return record->inode == file->inode && record->device == file->device &&
	       record->size == file->size && record->modified_ns == file->modified_ns &&
	       record->changed_ns == file->changed_ns;
}

static void add_record(struct digest_cache *cache, const struct record *record)
{
	cache->records = array_grow(cache->records, cache->count, sizeof(*record));
	cache->records[cache->count++] = *record;
}

/* False: the file does not exist, cannot be trusted, or is full, and starts anew. */
static bool read_records(struct digest_cache *cache)
{
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;
	if (!file_is_private(cache->path) ||
	    file_read_regular(cache->path, false, RECORDS_MAX * sizeof(struct record), &data, &size,
			      NULL) < 0 ||
	    size % sizeof(struct record) != 0)
		return false;
	for (size_t at = 0; at < size; at += sizeof(struct record)) {
		struct record record;
		memcpy(&record, data + at, sizeof(record));
		if (memcmp(record.magic, magic, sizeof(magic)) != 0 || record.end != '\n' ||
		    memchr(record.digest, '\0', DIGEST_SIZE) != record.digest + DIGEST_SIZE - 1)
			return false;
		add_record(cache, &record);
	}
	return cache->count < RECORDS_MAX;
}

int digest_cache_open(const char *path, struct digest_cache **out, struct error *err)
{
	struct digest_cache *cache CLEANUP_DIGEST_CACHE = memory_allocate(1, sizeof(*cache));
	char *folder CLEANUP_FREE = path_directory(path);
	cache->path = memory_copy(path);
	int rc = file_make_directories(folder, 0700, err);
	if (rc < 0)
		return rc;
	if (!read_records(cache)) {
		cache->count = 0;
		rc = file_write_atomic(path, "", 0, 0600, err);
	}
	if (rc == 0)
		*out = STEAL(cache);
	return rc;
}

void digest_cache_free(struct digest_cache **cache)
{
	if (*cache != NULL) {
		free((*cache)->records);
		free((*cache)->path);
	}
	free(*cache);
	*cache = NULL;
}

int digest_cache_copy(const struct digest_cache *cache, const char *path, struct error *err)
{
	return file_write_atomic(path, cache->count != 0 ? (const void *)cache->records : "",
				 cache->count * sizeof(struct record), 0600, err);
}

const char *digest_cache_find(const struct digest_cache *cache, const struct file_status *file)
{
	/* The newest first: a file that changed keeps its inode. */
	for (size_t i = cache->count; i-- > 0;) {
		if (is_same(&cache->records[i], file))
			return cache->records[i].digest;
	}
	return NULL;
}

void digest_cache_add(struct digest_cache *cache, const struct file_status *before,
		      const struct file_status *now, int64_t read_ns, const char *digest)
{
	struct record record = {.device = before->device,
				.inode = before->inode,
				.size = before->size,
				.modified_ns = before->modified_ns,
				.changed_ns = before->changed_ns,
				.end = '\n'};
	if (strlen(digest) != DIGEST_SIZE - 1 || before->changed_ns >= read_ns - settled_ns ||
	    !is_same(&record, now) || cache->count == RECORDS_MAX)
		return;
	memcpy(record.magic, magic, sizeof(magic));
	memcpy(record.digest, digest, DIGEST_SIZE);
	add_record(cache, &record);

	/* One write a record: several processes may append. */
	uv_fs_t request CLEANUP(uv_fs_req_cleanup) = {0};
	int fd CLEANUP_FD = uv_fs_open(
		NULL, &request, cache->path,
		UV_FS_O_WRONLY | UV_FS_O_CREAT | UV_FS_O_APPEND | UV_FS_O_NOFOLLOW, 0600, NULL);
	if (fd >= 0)
		(void)file_write_all(fd, &record, sizeof(record));
}

int digest_cache_read(struct digest_cache *cache, const char *path, digest_cache_identify *identify,
		      const void *user, char digest[DIGEST_SIZE], struct error *err)
{
	struct file_status before = {0};
	struct file_status now = {0};
	const int64_t read_ns = clock_realtime_ns();
	if (cache == NULL || !identify(user, &before))
		return digest_file(path, digest, NULL, err);
	const char *known = digest_cache_find(cache, &before);
	if (known != NULL) {
		memcpy(digest, known, DIGEST_SIZE);
		return 0;
	}
	int rc = digest_file(path, digest, NULL, err);
	if (rc == 0 && identify(user, &now))
		digest_cache_add(cache, &before, &now, read_ns, digest);
	return rc;
}

static bool identify_path(const void *path, struct file_status *out)
{
	return file_status(path, true, out, NULL) == 0;
}

int digest_cache_file(struct digest_cache *cache, const char *path, char digest[DIGEST_SIZE],
		      struct error *err)
{
	return digest_cache_read(cache, path, identify_path, path, digest, err);
}
