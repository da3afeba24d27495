/* SPDX-License-Identifier: MIT */
#include "containers/cri/container_log.h"

#include "base/cleanup.h"
#include "base/tests/unit.h"

#include <string.h>

#define TIME "2026-11-20T10:15:02.123456789Z "

static struct container_log parsed(const char *data, size_t size, size_t max)
{
	struct container_log log = {0};
	container_log_begin(&log, max);
	container_log_feed(&log, data, size);
	container_log_end(&log);
	return log;
}

static void test_streams_are_told_apart(void)
{
	static const char data[] = TIME "stdout F one\n" TIME "stderr F two\n" TIME "stdout F \n";
	struct container_log log = parsed(data, sizeof(data) - 1, 1024);
	CU_ASSERT_STRING_EQUAL(text_string(&log.out.content), "one\n\n");
	CU_ASSERT_STRING_EQUAL(text_string(&log.err.content), "two\n");
	CU_ASSERT_EQUAL(log.malformed, 0);
	container_log_free(&log);
}

static void test_partial_lines_are_joined(void)
{
	static const char data[] = TIME "stdout P {\"a\":\n" TIME "stderr P warn\n" TIME
					"stdout P:tag  1,\n" TIME "stdout F \"b\":2}\n" TIME
					"stderr F ing\n" TIME "stdout P end without newline\n";
	struct container_log log = parsed(data, sizeof(data) - 1, 1024);
	CU_ASSERT_STRING_EQUAL(text_string(&log.out.content),
			       "{\"a\": 1,\"b\":2}\nend without newline");
	CU_ASSERT_STRING_EQUAL(text_string(&log.err.content), "warning\n");
	container_log_free(&log);
}

static void test_malformed_records_are_reported(void)
{
	static const struct {
		const char *record;
		const char *why;
	} cases[] = {
		{"\n", "no timestamp"},
		{"yesterday stdout F x\n", "no timestamp"},
		{TIME "\n", "no stream"},
		{TIME "stdin F x\n", "stream is neither stdout nor stderr"},
		{TIME "stdout x\n", "no tags"},
		{TIME "stdout Q x\n", "first tag is neither F nor P"},
		{TIME "stdout  x\n", "first tag is neither F nor P"},
		{TIME "stdout F torn", "last record has no end"},
	};
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct text data CLEANUP_TEXT = {0};
		struct container_log log = {0};
		text_addf(&data, "%sstdout F before\n%s", TIME, cases[i].record);
		log = parsed(data.data, data.size, 1024);
		CU_ASSERT_EQUAL(log.malformed, 1);
		CU_ASSERT_EQUAL(log.malformed_line, 2);
		CU_ASSERT_STRING_EQUAL(log.malformed_why, cases[i].why);
		CU_ASSERT_STRING_EQUAL(text_string(&log.out.content), "before\n");
		container_log_free(&log);
	}
}

static void test_a_malformed_record_costs_itself_only(void)
{
	static const char data[] = TIME "stdout F a\nrubbish\n" TIME "stdout F b\nrubbish\n";
	struct container_log log = parsed(data, sizeof(data) - 1, 1024);
	CU_ASSERT_STRING_EQUAL(text_string(&log.out.content), "a\nb\n");
	CU_ASSERT_EQUAL(log.malformed, 2);
	CU_ASSERT_EQUAL(log.malformed_line, 2);
	container_log_free(&log);
}

static void test_content_is_bytes(void)
{
	static const char data[] = TIME "stdout F a\0b\xff\r\n";
	struct container_log log = parsed(data, sizeof(data) - 1, 1024);
	CU_ASSERT_EQUAL(log.out.content.size, 6);
	CU_ASSERT_EQUAL(memcmp(log.out.content.data, "a\0b\xff\r\n", 6), 0);
	container_log_free(&log);
}

/* Lines of eight bytes with their number, far more than the limit: the first and last half are
 * kept. */
static void test_long_streams_keep_head_and_tail(void)
{
	struct text data CLEANUP_TEXT = {0};
	struct container_log log = {0};
	for (unsigned i = 0; i < 10000; i++)
		text_addf(&data, "%sstdout F %07u\n", TIME, i);
	log = parsed(data.data, data.size, 32);
	CU_ASSERT_STRING_EQUAL(text_string(&log.out.content),
			       "0000000\n0000001\n0009998\n0009999\n");
	CU_ASSERT_TRUE(log.out.content.capacity <= 256);
	container_log_free(&log);
}

static void test_an_endless_record_is_bounded(void)
{
	static char chunk[65536];
	struct container_log log = {0};
	memset(chunk, 'x', sizeof(chunk));
	container_log_begin(&log, 1024);
	for (unsigned i = 0; i < 100; i++)
		container_log_feed(&log, chunk, sizeof(chunk));
	CU_ASSERT_TRUE(log.pending.capacity <= (size_t)2 * CONTAINER_LOG_RECORD_MAX);
	container_log_feed(&log, "\n" TIME "stdout F after\n",
			   strlen("\n" TIME "stdout F after\n"));
	container_log_end(&log);
	CU_ASSERT_EQUAL(log.malformed, 1);
	CU_ASSERT_STRING_EQUAL(log.malformed_why, "record is too long");
	CU_ASSERT_STRING_EQUAL(text_string(&log.out.content), "after\n");
	container_log_free(&log);
}

static void test_a_missing_file_is_named(void)
{
	struct container_log log = {0};
	struct error err = {0};
	CU_ASSERT_EQUAL(container_log_read(&log, "/nonexistent/0.log", 1024, &err),
			ERROR_NOT_FOUND);
	CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "/nonexistent/0.log"));
	container_log_free(&log);
}

UNIT_MAIN("container log", {"streams are told apart", test_streams_are_told_apart},
	  {"partial lines are joined", test_partial_lines_are_joined},
	  {"malformed records are reported", test_malformed_records_are_reported},
	  {"a malformed record costs itself only", test_a_malformed_record_costs_itself_only},
	  {"content is bytes", test_content_is_bytes},
	  {"long streams keep head and tail", test_long_streams_keep_head_and_tail},
	  {"an endless record is bounded", test_an_endless_record_is_bounded},
	  {"a missing file is named", test_a_missing_file_is_named})
