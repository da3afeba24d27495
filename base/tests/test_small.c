/* SPDX-License-Identifier: MIT */
/* The modules of a few lines: clock, digest, style. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/file.h"
#include "base/style.h"
#include "base/tests/unit.h"

#include <fcntl.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void test_monotonic(void)
{
	uint64_t first = clock_monotonic_ns();
	uint64_t second = clock_monotonic_ns();

	CU_ASSERT_TRUE(first > 0 && second >= first);
	CU_ASSERT_TRUE(clock_monotonic_ms() >= second / 1000000U);
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
	UNIT_INT(file_make_temporary("/tmp", "gpucert-test-", &directory, NULL), 0);
	path = text_format("%s/file", directory);
	UNIT_INT(file_write_atomic(path, data, 1000000, 0644, NULL), 0);
	UNIT_INT(digest_file(path, digest, &size, &err), 0);
	UNIT_STRING(digest, million);
	UNIT_INT(size, 1000000);
	UNIT_INT(digest_file(directory, digest, NULL, &err), ERROR_IO);
	UNIT_INT(file_remove_tree(directory, NULL), 0);
	UNIT_INT(digest_file(path, digest, NULL, &err), ERROR_NOT_FOUND);
	UNIT_CONTAINS(err.text, "/file: ");
}

static void test_style(void)
{
	struct winsize size = {.ws_col = 123, .ws_row = 40};
	int file = open("/dev/null", O_RDWR | O_CLOEXEC);
	int terminal = -1;
	int other = -1;

	(void)setenv("TERM", "xterm", 1);
	(void)unsetenv("NO_COLOR");
	UNIT_STRING(style(true, STYLE_RED), "\x1b[31m");
	UNIT_STRING(style(true, STYLE_RESET), "\x1b[0m");
	UNIT_STRING(style(false, STYLE_RED), "");
	CU_ASSERT_FALSE(style_enabled(file));
	UNIT_INT(style_columns(file), 80);
	UNIT_NEED(openpty(&other, &terminal, NULL, NULL, &size) == 0);
	CU_ASSERT_TRUE(style_enabled(terminal));
	UNIT_INT(style_columns(terminal), 123);
	(void)setenv("NO_COLOR", "", 1);
	CU_ASSERT_TRUE(style_enabled(terminal));
	(void)setenv("NO_COLOR", "1", 1);
	CU_ASSERT_FALSE(style_enabled(terminal));
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "dumb", 1);
	CU_ASSERT_FALSE(style_enabled(terminal));
	(void)unsetenv("TERM");
	CU_ASSERT_FALSE(style_enabled(terminal));
	(void)close(file);
	(void)close(other);
	(void)close(terminal);
}

UNIT_MAIN("clock, digest, style", {"monotonic", test_monotonic}, {"UTC", test_utc},
	  {"digest", test_digest}, {"style", test_style})
