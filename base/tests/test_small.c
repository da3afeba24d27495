/* SPDX-License-Identifier: MIT */
/* The modules of a few lines: clock, digest, index of strings, exception names. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/nt_status.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "base/text.h"
#include "base/text_index.h"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

static void test_monotonic(void)
{
	uint64_t first = clock_monotonic_ns();
	uint64_t second = clock_monotonic_ns();
	CU_ASSERT_TRUE(first > 0 && second >= first);
	CU_ASSERT_TRUE(clock_monotonic_ms() >= second / 1000000U);
	/* After 2026-01-01. */
	CU_ASSERT_TRUE(clock_realtime_ns() > INT64_C(1767225600) * 1000000000);
}

static void test_utc(void)
{
	static const char shape[] = "dddd-dd-ddTdd:dd:dd.dddZ";
	char now[CLOCK_UTC_SIZE] = "";
	CU_ASSERT_PTR_EQUAL(clock_utc(now), now);
	UNIT_INT(strlen(now), strlen(shape));
	for (size_t i = 0; i < strlen(shape); i++) {
		bool digit = now[i] >= '0' && now[i] <= '9';
		CU_ASSERT_TRUE(shape[i] == 'd' ? digit : now[i] == shape[i]);
	}
}

/* FIPS 180-4, examples. */
static void test_digest(void)
{
	static const char empty[] =
		"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	static const char abc[] =
		"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
	static const char million[] =
		"sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";
	char *directory CLEANUP_FREE = NULL;
	char *path CLEANUP_FREE = NULL;
	char *data CLEANUP_FREE = malloc(1000000);
	char digest[DIGEST_SIZE] = "";
	unsigned long long size = 0;
	struct error err = {0};
	digest_bytes("abc", 3, digest);
	UNIT_STRING(digest, abc);
	digest_bytes(NULL, 0, digest);
	UNIT_STRING(digest, empty);
	UNIT_NEED(data != NULL);
	memset(data, 'a', 1000000);
	UNIT_INT(file_make_temporary(unit_temporary(), "gpucert-test-", &directory, NULL), 0);
	path = path_join(directory, "file");
	UNIT_INT(file_write_atomic(path, data, 1000000, 0644, NULL), 0);
	UNIT_INT(digest_file(path, digest, &size, &err), 0);
	UNIT_STRING(digest, million);
	UNIT_INT(size, 1000000);
	UNIT_INT(digest_file(directory, digest, NULL, &err), ERROR_IO);
	UNIT_INT(file_remove_tree(directory, NULL), 0);
	UNIT_INT(digest_file(path, digest, NULL, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "file: ");
}

static void test_exceptions(void)
{
	CU_ASSERT_TRUE(nt_status_is_exception((int)0xC0000005));
	CU_ASSERT_FALSE(nt_status_is_exception((int)0xC000013A)); /* Ctrl-C */
	CU_ASSERT_FALSE(nt_status_is_exception((int)0xE06D7363)); /* of a C++ program's own */
	CU_ASSERT_FALSE(nt_status_is_exception(-1));
	CU_ASSERT_FALSE(nt_status_is_exception(137));
	UNIT_STRING(nt_status_name((int)0xC00000FD), "stack overflow");
	UNIT_STRING(nt_status_name((int)0xC0000FFF), "unhandled exception");
}

static void test_text_index(void)
{
	struct text_index index CLEANUP_TEXT_INDEX = {0};
	struct text_list strings CLEANUP_TEXT_LIST = {0};
	size_t wrong = 0;
	for (size_t i = 0; i < 10000; i++)
		text_list_take(&strings, text_format("/dev/%zu", i));
	for (size_t i = 0; i < 10000; i++)
		wrong += text_index_put(&index, strings.items[i], i) != i;
	for (size_t i = 0; i < 10000; i++)
		wrong += text_index_put(&index, strings.items[i], 10000 + i) != i;
	UNIT_INT(wrong, 0);
	UNIT_INT(index.count, 10000);
	UNIT_INT(text_index_put(&index, "", 7), 7);
}

static void test_memory(void)
{
	int *numbers = memory_allocate(3, sizeof(*numbers));
	char *copy CLEANUP_FREE = memory_copy("render node");
	char *start CLEANUP_FREE = memory_copy_start("render node", 6);
	char *whole CLEANUP_FREE = memory_copy_start("render", 100);

	CU_ASSERT_TRUE(numbers[0] == 0 && numbers[2] == 0);
	numbers[2] = 7;
	numbers = memory_resize(numbers, 1000, sizeof(*numbers));
	UNIT_INT(numbers[2], 7);
	free(numbers);
	UNIT_STRING(copy, "render node");
	UNIT_STRING(start, "render");
	UNIT_STRING(whole, "render");
}

static void test_out_of_memory(void)
{
	CU_ASSERT_PTR_NULL(memory_resize(NULL, SIZE_MAX, 2));
#ifndef _WIN32
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		memory_ends_process(7);
		(void)memory_resize(NULL, SIZE_MAX, 2);
		_exit(0);
	}
	UNIT_INT(waitpid(child, &status, 0), child);
	CU_ASSERT_TRUE(WIFEXITED(status));
	UNIT_INT(WEXITSTATUS(status), 7);
#endif
}

UNIT_MAIN("clock, digest, exceptions", {"memory", test_memory},
	  {"out of memory", test_out_of_memory}, {"monotonic", test_monotonic}, {"UTC", test_utc},
	  {"digest", test_digest}, {"index of strings", test_text_index},
	  {"exceptions", test_exceptions})
