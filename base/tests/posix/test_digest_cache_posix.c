/* SPDX-License-Identifier: MIT */
#include "base/digest_cache.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "base/tests/own_directory.h"
#include "base/tests/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char digest[] =
	"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

struct fixture {
	char *directory, *cache, *driver;
	struct file_status status;
};

static void fixture_open(struct fixture *fixture)
{
	*fixture = (struct fixture){0};
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "gpucert-test-", &fixture->directory, NULL),
			      0);
	fixture->cache = text_format("%s/new/digests", fixture->directory);
	fixture->driver = text_format("%s/driver", fixture->directory);
	CU_ASSERT_EQUAL(file_write_atomic(fixture->driver, "one", 3, 0644, NULL), 0);
	CU_ASSERT_EQUAL(file_status(fixture->driver, true, &fixture->status, NULL), 0);
}

static void fixture_close(struct fixture *fixture)
{
	CU_ASSERT_EQUAL(file_remove_tree(fixture->directory, NULL), 0);
	free(fixture->directory);
	free(fixture->cache);
	free(fixture->driver);
}

/* Keeps the driver's digest as if it was read `later_s` from now. */
static void keep(const struct fixture *fixture, int64_t later_s)
{
	struct digest_cache *cache CLEANUP_DIGEST_CACHE = NULL;
	struct file_status now = {0};
	CU_ASSERT_EQUAL_FATAL(digest_cache_open(fixture->cache, &cache, NULL), 0);
	CU_ASSERT_EQUAL(file_status(fixture->driver, true, &now, NULL), 0);
	digest_cache_add(cache, &fixture->status, &now, clock_realtime_ns() + later_s * 1000000000,
			 digest);
}

/* "" when it is not known. */
static void find(const struct fixture *fixture, char out[DIGEST_SIZE])
{
	struct digest_cache *cache CLEANUP_DIGEST_CACHE = NULL;
	struct file_status status = {0};
	CU_ASSERT_EQUAL_FATAL(digest_cache_open(fixture->cache, &cache, NULL), 0);
	CU_ASSERT_EQUAL(file_status(fixture->driver, true, &status, NULL), 0);
	const char *found = digest_cache_find(cache, &status);
	(void)snprintf(out, DIGEST_SIZE, "%s", found != NULL ? found : "");
}

static void expect_found(const struct fixture *fixture, const char *wanted)
{
	char found[DIGEST_SIZE] = "";
	find(fixture, found);
	UNIT_STRING(found, wanted);
}

static void test_unchanged(void)
{
	struct fixture fixture;
	fixture_open(&fixture);
	expect_found(&fixture, "");
	keep(&fixture, 10);
	expect_found(&fixture, digest);
	fixture_close(&fixture);
}

/* A run reads what the run before kept, and adds several. */
static void test_several_more(void)
{
	struct fixture fixture;
	fixture_open(&fixture);
	keep(&fixture, 10);
	struct digest_cache *cache CLEANUP_DIGEST_CACHE = NULL;
	CU_ASSERT_EQUAL_FATAL(digest_cache_open(fixture.cache, &cache, NULL), 0);
	for (uint64_t i = 1; i <= 20; i++) {
		struct file_status other = fixture.status;
		other.inode += i;
		digest_cache_add(cache, &other, &other, clock_realtime_ns() + 10000000000, digest);
		CU_ASSERT_PTR_NOT_NULL(digest_cache_find(cache, &other));
	}
	expect_found(&fixture, digest);
	fixture_close(&fixture);
}

/* Its length is the same, and its mtime is set back. */
static void test_changed(void)
{
	struct fixture fixture;
	fixture_open(&fixture);
	keep(&fixture, 10);
	FILE *file = fopen(fixture.driver, "r+");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(fputs("two", file), 1);
	CU_ASSERT_EQUAL(fclose(file), 0);
	const struct timespec modified = {fixture.status.modified_ns / 1000000000,
					  fixture.status.modified_ns % 1000000000};
	CU_ASSERT_EQUAL(utimensat(AT_FDCWD, fixture.driver,
				  (const struct timespec[]){modified, modified}, 0),
			0);
	expect_found(&fixture, "");
	keep(&fixture, 10); /* it changed since its status was read */
	expect_found(&fixture, "");
	fixture_close(&fixture);
}

static void test_too_fresh(void)
{
	struct fixture fixture;
	fixture_open(&fixture);
	keep(&fixture, 0);
	expect_found(&fixture, "");
	fixture_close(&fixture);
}

static void write_cache(const struct fixture *fixture, size_t size, mode_t mode)
{
	CU_ASSERT_EQUAL(truncate(fixture->cache, (off_t)size), 0);
	CU_ASSERT_EQUAL(chmod(fixture->cache, mode), 0);
}

/* What somebody else may have written is not believed. */
static void test_not_believed(void)
{
	struct fixture fixture;
	struct file_status status = {0};
	char *moved CLEANUP_FREE = NULL;
	fixture_open(&fixture);
	keep(&fixture, 10);
	CU_ASSERT_EQUAL(file_status(fixture.cache, true, &status, NULL), 0);
	write_cache(&fixture, status.size, 0620);
	expect_found(&fixture, "");
	keep(&fixture, 10);
	write_cache(&fixture, status.size - 1, 0600);
	expect_found(&fixture, "");
	keep(&fixture, 10);
	write_cache(&fixture, status.size + 4096 * status.size, 0600);
	expect_found(&fixture, "");
	keep(&fixture, 10);
	moved = text_format("%s/moved", fixture.directory);
	CU_ASSERT_EQUAL(rename(fixture.cache, moved), 0);
	CU_ASSERT_EQUAL(symlink(moved, fixture.cache), 0);
	expect_found(&fixture, "");
	keep(&fixture, 10);
	expect_found(&fixture, digest);
	fixture_close(&fixture);
}

UNIT_MAIN("digest cache", {"an unchanged file is known", test_unchanged},
	  {"several are added to those of a file", test_several_more},
	  {"a changed file is not", test_changed}, {"a fresh file is not kept", test_too_fresh},
	  {"a cache of others is not believed", test_not_believed})
