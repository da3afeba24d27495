/* SPDX-License-Identifier: MIT */
#include "base/digests.h"

#include "base/cleanup.h"
#include "base/digester.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"

#include <string.h>

struct fixture {
	uv_loop_t loop;
	struct digests *digests;
	char *directory;
};

static void fixture_open(struct fixture *fixture)
{
	*fixture = (struct fixture){0};
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&fixture->loop), 0);
	fixture->digests = digests_new(&fixture->loop, NULL);
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "gpucert-test-", &fixture->directory, NULL),
			      0);
}

static void fixture_close(struct fixture *fixture)
{
	digests_free(fixture->digests);
	CU_ASSERT_EQUAL(uv_loop_close(&fixture->loop), 0);
	CU_ASSERT_EQUAL(file_remove_tree(fixture->directory, NULL), 0);
	free(fixture->directory);
}

static void write_file(const struct fixture *fixture, const char *name, const char *text)
{
	char *path CLEANUP_FREE = path_join(fixture->directory, name);
	char *folder CLEANUP_FREE = path_directory(path);
	CU_ASSERT_EQUAL(file_make_directories(folder, 0755, NULL), 0);
	CU_ASSERT_EQUAL(file_write_atomic(path, text, strlen(text), 0644, NULL), 0);
}

static void test_files(void)
{
	struct fixture fixture;
	const struct digest_job *job = NULL;
	const struct digest_job *again = NULL;
	char wanted[DIGEST_SIZE] = "";
	char *path CLEANUP_FREE = NULL;
	char *other CLEANUP_FREE = NULL;
	fixture_open(&fixture);
	write_file(&fixture, "one", "the driver");
	path = path_join(fixture.directory, "one");
	other = text_format("%s/./one", fixture.directory);
	CU_ASSERT_EQUAL_FATAL(digests_add(fixture.digests, path, &job, NULL), 0);
	CU_ASSERT_EQUAL(digests_add(fixture.digests, other, &again, NULL), 0);
	CU_ASSERT_PTR_EQUAL(job, again); /* one file is read once */
	digests_wait(fixture.digests);
	digest_bytes("the driver", strlen("the driver"), wanted);
	UNIT_STRING(digest_result(job), wanted);
	CU_ASSERT_EQUAL(digests_add(fixture.digests, fixture.directory, &job, NULL), ERROR_FORMAT);
	CU_ASSERT_EQUAL(digests_add(fixture.digests, "/nonexistent/x", &job, NULL),
			ERROR_NOT_FOUND);
	fixture_close(&fixture);
}

/* The digest over a folder and a file, under the names "driver" and "library". */
static bool digest_both(const char *directory, char out[DIGEST_SIZE])
{
	struct digest_set set CLEANUP(digest_set_free) = {0};
	char *file CLEANUP_FREE = path_join(directory, "library");
	char *folder CLEANUP_FREE = path_join(directory, "driver");
	struct digests *digests = NULL;
	uv_loop_t loop;
	bool complete = false;
	CU_ASSERT_EQUAL(uv_loop_init(&loop), 0);
	digests = digests_new(&loop, NULL);
	CU_ASSERT_EQUAL(digest_set_add(&set, digests, "library", file, NULL), 0);
	CU_ASSERT_EQUAL(digest_set_add(&set, digests, "driver", folder, NULL), 0);
	CU_ASSERT_FALSE(digest_set_result(&set, out)); /* not yet: nothing was read */
	digests_wait(digests);
	complete = digest_set_result(&set, out);
	digests_free(digests);
	CU_ASSERT_EQUAL(uv_loop_close(&loop), 0);
	return complete;
}

static void test_sets(void)
{
	struct fixture fixture;
	char first[DIGEST_SIZE] = "";
	char second[DIGEST_SIZE] = "";
	char *removed CLEANUP_FREE = NULL;
	fixture_open(&fixture);
	write_file(&fixture, "library", "one");
	write_file(&fixture, "driver/a/x.bin", "two");
	write_file(&fixture, "driver/y.bin", "three");
	CU_ASSERT_TRUE(digest_both(fixture.directory, first));
	CU_ASSERT_TRUE(digest_both(fixture.directory, second));
	UNIT_STRING(first, second);
	write_file(&fixture, "driver/a/x.bin", "twO");
	CU_ASSERT_TRUE(digest_both(fixture.directory, second));
	CU_ASSERT_STRING_NOT_EQUAL(first, second);
	write_file(&fixture, "driver/a/x.bin", "two");
	write_file(&fixture, "driver/z.bin", "");
	CU_ASSERT_TRUE(digest_both(fixture.directory, second));
	CU_ASSERT_STRING_NOT_EQUAL(first, second);
	removed = path_join(fixture.directory, "library");
	CU_ASSERT_EQUAL(file_remove_tree(removed, NULL), 0);
	CU_ASSERT_FALSE(digest_both(fixture.directory, second));
	fixture_close(&fixture);
}

/* What was begun and is not waited for does not hold anybody up, and leaves nothing. */
static void test_giving_up(void)
{
	struct fixture fixture;
	const struct digest_job *job = NULL;
	fixture_open(&fixture);
	for (int i = 0; i < 50; i++) {
		char *name CLEANUP_FREE = text_format("file%d", i);
		char *path CLEANUP_FREE = path_join(fixture.directory, name);
		write_file(&fixture, name, name);
		CU_ASSERT_EQUAL(digests_add(fixture.digests, path, &job, NULL), 0);
	}
	fixture_close(&fixture);
}

static void expect_digest(const char *bytes, const char *wanted)
{
	struct digester *digester CLEANUP_DIGESTER = NULL;
	char digest[DIGEST_TEXT_SIZE] = "";
	CU_ASSERT_EQUAL_FATAL(digester_new(wanted, &digester, NULL), 0);
	digester_add(digester, bytes, 1);
	digester_add(digester, bytes + 1, strlen(bytes) - 1);
	digester_end(digester, digest);
	UNIT_STRING(digest, wanted);
}

/* The examples of FIPS 180-4 for "abc". */
static void test_pieces(void)
{
	struct digester *digester = NULL;
	expect_digest("abc",
		      "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	expect_digest("abc",
		      "sha512:ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
		      "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f");
	CU_ASSERT_EQUAL(digester_new("sha256:ba78", &digester, NULL), ERROR_ARGUMENT);
	CU_ASSERT_EQUAL(digester_new("md5:900150983cd24fb0d6963f7d28e17f72", &digester, NULL),
			ERROR_ARGUMENT);
	CU_ASSERT_FALSE(digest_is_valid(
		"sha256:BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"));
}

UNIT_MAIN("digests", {"pieces", test_pieces}, {"files", test_files},
	  {"sets of files and folders", test_sets}, {"giving up", test_giving_up})
