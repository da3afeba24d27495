/* SPDX-License-Identifier: MIT */
/* The content cache grows no larger than it may, and what was used least recently goes first. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "containers/registry/content_cache.h"

#include <string.h>
#include <uv.h>

enum { BLOB_SIZE = 1000, BLOBS = 5, DAY_S = 24 * 60 * 60 };

struct place {
	char *directory, *blobs;
	char digests[BLOBS][DIGEST_TEXT_SIZE];
};

static char *blob_of(const struct place *place, size_t i)
{
	return path_join(place->blobs, place->digests[i] + sizeof("sha256"));
}

static void set_age(const char *path, double age_s)
{
	uv_fs_t request = {0};
	const double then_s = (double)clock_realtime_ns() / 1e9 - age_s;
	UNIT_INT(uv_fs_utime(NULL, &request, path, then_s, then_s, NULL), 0);
	uv_fs_req_cleanup(&request);
}

/* Blobs of which the first was used longest ago. */
static void place_make(struct place *out)
{
	char data[BLOB_SIZE] = "";
	UNIT_INT(file_make_temporary(NULL, "gpucert-cache-", &out->directory, NULL), 0);
	out->blobs = path_join(out->directory, "sha256");
	UNIT_INT(file_make_directories(out->blobs, 0700, NULL), 0);
	for (size_t i = 0; i < BLOBS; i++) {
		data[0] = (char)('a' + i);
		digest_bytes(data, sizeof(data), out->digests[i]);
		char *path CLEANUP_FREE = blob_of(out, i);
		UNIT_INT(file_write_atomic(path, data, sizeof(data), 0600, NULL), 0);
		set_age(path, (double)(BLOBS - i) * DAY_S);
	}
}

static void place_free(struct place *place)
{
	UNIT_INT(file_remove_tree(place->directory, NULL), 0);
	free(place->directory);
	free(place->blobs);
}

/* The blobs that are there, as a digit each. */
static void expect_left(const struct place *place, const char *wanted)
{
	struct text left CLEANUP_TEXT = {0};
	for (size_t i = 0; i < BLOBS; i++) {
		char *path CLEANUP_FREE = blob_of(place, i);
		if (file_exists(path))
			text_addf(&left, "%zu", i);
	}
	UNIT_STRING(text_string(&left), wanted);
}

static void prune(const struct place *place, uint64_t max, size_t files, size_t removed)
{
	struct content_cache_size size = {0};
	struct error err = {0};
	UNIT_INT(content_cache_prune(place->directory, max, &size, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(size.files, files);
	UNIT_INT(size.bytes, files * BLOB_SIZE);
	UNIT_INT(size.removed, removed);
	UNIT_INT(size.removed_bytes, removed * BLOB_SIZE);
}

static void test_oldest_first(void)
{
	struct place place CLEANUP(place_free) = {0};
	place_make(&place);
	prune(&place, UINT64_MAX, BLOBS, 0);
	prune(&place, (uint64_t)BLOBS * BLOB_SIZE, BLOBS, 0);
	prune(&place, (uint64_t)3 * BLOB_SIZE + 1, 3, 2);
	expect_left(&place, "234");
	prune(&place, 0, 0, 3);
	expect_left(&place, "");
}

/* What is opened was used. */
static void test_use_counts(void)
{
	struct place place CLEANUP(place_free) = {0};
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	struct error err = {0};
	place_make(&place);
	const struct image_descriptor first = {"", place.digests[0], BLOB_SIZE, NULL};
	UNIT_INT(content_cache_open(place.directory, &first, &reader, &err), 0);
	prune(&place, (uint64_t)2 * BLOB_SIZE, 2, 3);
	expect_left(&place, "04");
}

/* A reader goes on with what another process removes; on Windows it may stay until then. */
static void test_read_while_removed(void)
{
	struct place place CLEANUP(place_free) = {0};
	struct blob_reader *reader CLEANUP_BLOB_READER = NULL;
	struct content_cache_size size = {0};
	struct error err = {0};
	char data[BLOB_SIZE] = "";
	size_t count = 0;
	place_make(&place);
	const struct image_descriptor first = {"", place.digests[0], BLOB_SIZE, NULL};
	UNIT_INT(content_cache_open(place.directory, &first, &reader, &err), 0);
	UNIT_INT(content_cache_prune(place.directory, 0, &size, &err), 0);
	UNIT_INT(size.files + size.removed, BLOBS);
	CU_ASSERT_TRUE(size.removed >= BLOBS - 1);
	UNIT_INT(reader->read(reader, data, sizeof(data), &count, &err), 0);
	UNIT_INT(count, BLOB_SIZE);
	UNIT_INT(data[0], 'a');
	blob_reader_close(&reader);
	UNIT_INT(content_cache_prune(place.directory, 0, &size, &err), 0);
	expect_left(&place, "");
	UNIT_INT(content_cache_open(place.directory, &first, &reader, &err), ERROR_NOT_FOUND);
}

/* What is on its way stays unless its writer must be dead; what is not the cache's is left alone. */
static void test_other_files(void)
{
	struct place place CLEANUP(place_free) = {0};
	place_make(&place);
	char *young CLEANUP_FREE = path_join(place.blobs, CONTENT_INCOMING "aaaaaa");
	char *dead CLEANUP_FREE = path_join(place.blobs, CONTENT_INCOMING "bbbbbb");
	char *other CLEANUP_FREE = path_join(place.blobs, "notes.txt");
	char *folder CLEANUP_FREE = text_format("%s/%064d", place.blobs, 0);
	UNIT_INT(file_write_atomic(young, "x", 1, 0600, NULL), 0);
	UNIT_INT(file_write_atomic(dead, "x", 1, 0600, NULL), 0);
	UNIT_INT(file_write_atomic(other, "x", 1, 0600, NULL), 0);
	UNIT_INT(file_make_directories(folder, 0700, NULL), 0);
	set_age(dead, 2 * DAY_S);
	set_age(other, 9 * DAY_S);
	prune(&place, 0, 0, BLOBS);
	CU_ASSERT_TRUE(file_exists(young));
	CU_ASSERT_FALSE(file_exists(dead));
	CU_ASSERT_TRUE(file_exists(other));
	CU_ASSERT_TRUE(file_is_directory(folder));
}

static void test_nothing_there(void)
{
	struct content_cache_size size = {7, 7, 7, 7};
	struct error err = {0};
	UNIT_INT(content_cache_prune("/nowhere/at/all", 0, &size, &err), 0);
	UNIT_INT(size.files + size.removed, 0);
	struct place place CLEANUP(place_free) = {0};
	place_make(&place);
	UNIT_INT(file_remove_tree(place.directory, NULL), 0);
	UNIT_INT(file_make_directories(place.directory, 0700, NULL), 0);
	UNIT_INT(file_write_atomic(place.blobs, "x", 1, 0600, NULL), 0); /* a file in its place */
	CU_ASSERT_TRUE(content_cache_prune(place.directory, 0, &size, &err) < 0);
	UNIT_CONTAINS(err.text, "sha256");
}

UNIT_MAIN("content cache", {"the oldest first", test_oldest_first}, {"use counts", test_use_counts},
	  {"read while removed", test_read_while_removed}, {"other files", test_other_files},
	  {"nothing there", test_nothing_there})
