/* SPDX-License-Identifier: MIT */
#include "workloads/tests/judge_stream.h"

#include "base/tests/unit.h"
#include "workloads/tests/expect.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/process.h"
#include "base/text.h"

#define PROGRAM GPUCERT_BINARY_DIR "/libexec/gpucert/verify-video"

/* Of text that the probe wrote. */
static void decode(const char *base64, struct text *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned group = 0, bits = 0;
	for (; *base64 != '\0' && *base64 != '='; base64++) {
		const char *digit = strchr(digits, *base64);
		CU_ASSERT_PTR_NOT_NULL_FATAL(digit);
		group = (group << 6 | (unsigned)(digit - digits)) & 0xFFFFu;
		bits += 6;
		if (bits < 8)
			continue;
		bits -= 8;
		const char byte = (char)(group >> bits);
		text_append(out, &byte, 1);
	}
}

static char *number_at(const cJSON *document, const char *pointer)
{
	return text_format("%.0f", cJSON_GetNumberValue(json_pointer(document, pointer)));
}

cJSON *judge_stream(const cJSON *document, const char *other)
{
	char *directory CLEANUP_FREE = NULL, *path CLEANUP_FREE = NULL;
	char *seed CLEANUP_FREE = number_at(document, "/work/seed");
	char *width CLEANUP_FREE = number_at(document, "/work/video/streams/0/width");
	char *height CLEANUP_FREE = number_at(document, "/work/video/streams/0/height");
	struct text stream CLEANUP_TEXT = {0};
	struct process_result result = {0};
	cJSON *judgement = NULL;
	decode(string_at(document, "/work/video/streams/0/stream"), &stream);
	CU_ASSERT_EQUAL_FATAL(file_make_temporary(NULL, "stream-", &directory, NULL), 0);
	path = text_format("%s/stream", directory);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(path, stream.data, stream.size, 0600, NULL), 0);
	const char *const argv[] = {
		PROGRAM,
		"--codec",
		string_at(document, "/work/video/streams/0/codec"),
		"--seed",
		other != NULL ? other : seed,
		"--width",
		width,
		"--height",
		height,
		path,
		NULL,
	};
	const struct process_spec spec = {.argv = argv, .timeout_ms = 300000};
	CU_ASSERT_EQUAL_FATAL(process_run(&spec, &result, NULL), 0);
	CU_ASSERT_EQUAL(json_parse(text_string(&result.out), result.out.size, &judgement, NULL), 0);
	process_result_free(&result);
	(void)file_remove_tree(directory, NULL);
	return judgement;
}

void expect_judgement(const cJSON *document, const char *status, const char *reason)
{
	cJSON *judgement CLEANUP_JSON = judge_stream(document, NULL);
	expect_string(document, "/work/status", "encoded");
	expect_bool(document, "/work/verified", false);
	expect_string(judgement, "/status", status);
	if (reason != NULL)
		UNIT_CONTAINS(string_at(judgement, "/reason"), reason);
}
