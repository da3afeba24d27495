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

int ffmpeg_words(struct text_list *words, struct error *err, ...)
{
	va_list list;
	int rc = 0;
	va_start(list, err);
	for (const char *word = va_arg(list, const char *); rc == 0 && word != NULL;
	     word = va_arg(list, const char *))
		rc = text_list_add(words, word, err);
	va_end(list);
	return rc;
}

/* "[h264_nvenc @ 0x55d0c0de] ...": where the part begins that differs in each run; NULL without. */
static const char *find_address(const char *line, size_t size)
{
	static const char mark[] = " @ ";
	for (size_t i = 0; size > 0 && line[0] == '[' && i + sizeof(mark) <= size; i++) {
		if (memcmp(line + i, mark, sizeof(mark) - 1) == 0)
			return line + i;
	}
	return NULL;
}

static void keep_line(const char *line, size_t size, struct text_list *messages)
{
	struct text clean CLEANUP_TEXT = {0};
	const size_t length = size < MESSAGE_SIZE_MAX ? size : MESSAGE_SIZE_MAX;
	const char *address = find_address(line, length);
	const char *rest =
		address != NULL ? memchr(address, ']', (size_t)(line + length - address)) : NULL;
	if (rest != NULL)
		text_add_escaped(&clean, line, (size_t)(address - line));
	else
		rest = line;
	text_add_escaped(&clean, rest, (size_t)(line + length - rest));
	if (size > length)
		text_add(&clean, "...");
	(void)text_list_take(messages, text_take(&clean), NULL);
}

static void keep_messages(const struct text *said, struct text_list *messages)
{
	const char *line = text_string(said);
	const char *end = line + said->size;
	while (line < end && messages->count < MESSAGES_MAX) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));
		size_t size = (size_t)((newline != NULL ? newline : end) - line);
		const size_t whole = size;
		while (size > 0 && line[size - 1] == '\r')
			size--;
		if (size > 0)
			keep_line(line, size, messages);
		line += whole + 1;
	}
}

/* What one run may take: its own limit, or what is left of the time for all. 0: nothing. */
static uint64_t limit_ms(const struct ffmpeg *ffmpeg)
{
	const uint64_t now_ns = clock_monotonic_ns();
	if (ffmpeg->deadline_ns == 0)
		return ffmpeg->timeout_ms;
	const uint64_t left_ms =
		now_ns < ffmpeg->deadline_ns ? (ffmpeg->deadline_ns - now_ns) / NS_IN_MS : 0;
	return left_ms < ffmpeg->timeout_ms ? left_ms : ffmpeg->timeout_ms;
}

int ffmpeg_run(const struct ffmpeg *ffmpeg, const struct text_list *words, const struct text *input,
	       struct process_result *result, struct text_list *messages, struct error *err)
{
	const struct process_spec spec = {
		.argv = (const char *const *)words->items,
		.input = input != NULL ? text_string(input) : NULL,
		.input_size = input != NULL ? input->size : 0,
		.capture_max = CAPTURE_MAX,
		.timeout_ms = limit_ms(ffmpeg),
	};
	if (spec.timeout_ms == 0)
		return error_set(err, ERROR_CANCELLED, "no time was left to try it");
	int rc = process_run(&spec, result, err);
	if (rc == 0 && messages != NULL)
		keep_messages(&result->err, messages);
	return rc;
}

void ffmpeg_describe(const struct process_result *result, const struct text_list *messages,
		     char *out, size_t size)
{
	char end[128] = "";
	process_describe(result, end, sizeof(end));
	(void)snprintf(out, size, "%s%s%s", end, messages->count > 0 ? ": " : "",
		       messages->count > 0 ? messages->items[0] : "");
}
