/* SPDX-License-Identifier: MIT */
#include "workloads/ffmpeg/ffmpeg.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>

enum {
	CAPTURE_MAX = 2 * 1024 * 1024, /* more than the decoded frames */
	MESSAGES_MAX = 8,
	MESSAGE_SIZE_MAX = 200,
	NS_IN_MS = 1000000,
};

int ffmpeg_words(struct text_list *words, const char *const *more, struct error *err)
{
	int rc = 0;
	for (; rc == 0 && *more != NULL; more++)
		rc = text_list_add(words, *more, err);
	return rc;
}

/* Of "[h264_nvenc @ 0x55d0c0de] ..." the address, which differs in each run, is left out. */
static void keep_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct text_list *messages = user;
	struct text clean CLEANUP_TEXT = {0};
	const size_t length = size < MESSAGE_SIZE_MAX ? size : MESSAGE_SIZE_MAX;
	if (!is_stderr || size == 0 || messages->count == MESSAGES_MAX)
		return;
	const char *close = line[0] == '[' ? memchr(line, ']', length) : NULL;
	const char *space = close != NULL ? memchr(line, ' ', (size_t)(close - line)) : NULL;
	const char *rest = space != NULL ? close : line;
	text_add_escaped(&clean, line, space != NULL ? (size_t)(space - line) : 0);
	text_add_escaped(&clean, rest, (size_t)(line + length - rest));
	text_add(&clean, size > length ? "..." : "");
	(void)text_list_take(messages, text_take(&clean), NULL);
}

int ffmpeg_run(const struct ffmpeg *ffmpeg, const struct text_list *words, const struct text *input,
	       struct process_result *result, struct text_list *messages, struct error *err)
{
	const uint64_t now_ns = clock_monotonic_ns(), end_ns = ffmpeg->deadline_ns;
	const uint64_t left_ms = end_ns > now_ns ? (end_ns - now_ns) / NS_IN_MS : 0;
	const struct process_spec spec = {
		.argv = (const char *const *)words->items,
		.input = text_string(input),
		.input_size = input->size,
		.capture_max = CAPTURE_MAX,
		.timeout_ms = left_ms < ffmpeg->timeout_ms ? left_ms : ffmpeg->timeout_ms,
		.on_line = keep_line,
		.user = messages,
	};
	if (spec.timeout_ms == 0)
		return error_set(err, ERROR_CANCELLED, "no time was left to try it");
	return process_run(&spec, result, err);
}

void ffmpeg_describe(const struct process_result *result, const struct text_list *messages,
		     char out[FFMPEG_DESCRIPTION_SIZE])
{
	char end[128] = "";
	process_describe(result, end, sizeof(end));
	(void)snprintf(out, FFMPEG_DESCRIPTION_SIZE, "%s%s%s", end, messages->count > 0 ? ": " : "",
		       messages->count > 0 ? messages->items[0] : "");
}
