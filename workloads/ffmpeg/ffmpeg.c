/* SPDX-License-Identifier: MIT */
#include "workloads/ffmpeg/ffmpeg.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CAPTURE_MAX = 2 * 1024 * 1024, /* more than the decoded frames */
	MESSAGES_MAX = 8,
	MESSAGE_SIZE_MAX = 200,
	VERSION_TIMEOUT_MS = 10000,
	RUNS_TIMED_OUT = 3, /* all runs together may take as long as this many */
	NS_IN_MS = 1000000,
};

static const struct api_driver *const lists[] = {FFMPEG_LISTS};

void ffmpeg_keep_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct text_list *messages = user;
	struct text clean CLEANUP_TEXT = {0};
	const size_t length = size < MESSAGE_SIZE_MAX ? size : MESSAGE_SIZE_MAX;

	if (!is_stderr || size == 0 || messages->count == MESSAGES_MAX)
		return;
	/* The address in "[h264_nvenc @ 0x55d0c0de] ..." differs in each run and is left out. */
	const char *close = line[0] == '[' ? memchr(line, ']', length) : NULL;
	const char *space = close != NULL ? memchr(line, ' ', (size_t)(close - line)) : NULL;
	const char *rest = space != NULL ? close : line;
	text_add_escaped(&clean, line, space != NULL ? (size_t)(space - line) : 0);
	text_add_escaped(&clean, rest, (size_t)(line + length - rest));
	text_add(&clean, size > length ? "..." : "");
	text_list_take(messages, text_take(&clean));
}

int ffmpeg_run(const struct ffmpeg *ffmpeg, const char *arguments, const void *input, size_t size,
	       struct process_result *result, struct text_list *messages, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	const uint64_t now_ns = clock_monotonic_ns(), end_ns = ffmpeg->deadline_ns;
	const uint64_t left_ms = end_ns > now_ns ? (end_ns - now_ns) / NS_IN_MS : 0;

	text_list_add(&words, ffmpeg->program);
	text_list_split(&words, arguments, ' ');
	if (left_ms == 0)
		return error_set(err, ERROR_CANCELLED, "no time was left to try it");
	const struct process_spec spec = {
		.argv = (const char *const *)words.items,
		.input = input,
		.input_size = size,
		.capture_max = CAPTURE_MAX,
		.timeout_ms = left_ms < ffmpeg->timeout_ms ? left_ms : ffmpeg->timeout_ms,
		.on_line = messages != NULL ? ffmpeg_keep_line : NULL,
		.user = messages,
	};
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

void ffmpeg_set_time(struct ffmpeg *ffmpeg, uint64_t timeout_ms)
{
	ffmpeg->timeout_ms = timeout_ms;
	ffmpeg->deadline_ns = clock_monotonic_ns() + RUNS_TIMED_OUT * timeout_ms * NS_IN_MS;
}

/* "ffmpeg version 5.1.9-0+deb12u1 Copyright ...". Also shows that the program runs at all. */
static int read_version(struct ffmpeg *ffmpeg, struct api_report *report, struct error *err)
{
	static const char begin[] = "ffmpeg version ";
	struct text_list messages CLEANUP_TEXT_LIST = {0};
	struct process_result result = {0};
	struct error reason = {0};
	char how[FFMPEG_DESCRIPTION_SIZE] = "it does not say that it is ffmpeg";

	int rc = ffmpeg_run(ffmpeg, "-version", NULL, 0, &result, &messages, &reason);
	if (rc != 0)
		return error_set(err, ERROR_UNAVAILABLE, "%s", reason.text);
	const char *output = text_string(&result.out);
	const bool ran = result.end == PROCESS_EXITED && result.code == 0;
	if (!ran)
		ffmpeg_describe(&result, &messages, how);
	if (ran && text_starts_with(output, begin))
		(void)snprintf(report->version, sizeof(report->version), "%.*s",
			       (int)strcspn(output + sizeof(begin) - 1, " \r\n"),
			       output + sizeof(begin) - 1);
	else
		rc = error_set(err, ERROR_UNAVAILABLE, "%s -version: %s", ffmpeg->program, how);
	process_result_free(&result);
	return rc;
}

static int ffmpeg_open(struct api_report *report, void *session, struct error *err)
{
	static const char *const places[] = {"/usr/local/bin/ffmpeg", "/usr/bin/ffmpeg"};
	static const char processor[] =
		"{\"index\": 0, \"name\": \"processor\", \"type\": \"cpu\", \"software\": true}";
	struct ffmpeg *ffmpeg = session;
	ffmpeg_set_time(ffmpeg, VERSION_TIMEOUT_MS);

	/* Look next to the probe, where the probe image has the program, and in the usual places. PATH,
	 * which a plugin's answer could set, is not searched. */
	int rc = path_beside_program(API_LIBRARY("ffmpeg.exe", "ffmpeg"), &ffmpeg->program, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; !file_exists(ffmpeg->program); i++) {
		if (i == ARRAY_SIZE(places))
			return error_set(
				err, ERROR_NOT_FOUND,
				"there is no ffmpeg: put one beside the probes "
				"(libexec/gpucert), or use an image that has one in /usr/bin");
		free(ffmpeg->program);
		ffmpeg->program = memory_copy(places[i]);
	}
	(void)snprintf(report->path, sizeof(report->path), "%s", ffmpeg->program);
	rc = read_version(ffmpeg, report, err);
	ffmpeg->devices = report->devices;
	if (rc != 0)
		return rc;

	/* FFmpeg lists no devices: another API does. */
	for (size_t i = 0; i < ARRAY_SIZE(lists) && ffmpeg->list == NULL; i++) {
		struct api_report other CLEANUP_API_REPORT = {0};
		void *listing = NULL;
		api_open(lists[i], &other, &listing);
		if (cJSON_GetArraySize(other.devices) > 0) {
			cJSON *empty = report->devices;
			report->devices = other.devices;
			other.devices = empty;
			ffmpeg->list = lists[i];
		}
		api_close(lists[i], listing);
	}
	/* Where no API of a GPU reports a device, the processor is one. */
	if (ffmpeg->list == NULL)
		api_report_device(report, cJSON_Parse(processor));
	ffmpeg->devices = report->devices;
	return 0;
}

static void ffmpeg_close(void *session)
{
	struct ffmpeg *ffmpeg = session;

	text_free(&ffmpeg->stream);
	free(ffmpeg->program);
}

const struct api_driver ffmpeg_api = {
	.name = "ffmpeg",
	.library = "ffmpeg",
	.summary = "Encode video with FFmpeg as its users do and report what happened",
	.description =
		"Runs an ffmpeg program with moving frames on its standard input and tries its H.264 encoders, those in hardware "
		"first, up to one whose stream is whole. Each try is reported with its exit code and messages. The stream is in the "
		"document, for verify-video. Other frames go to the Vulkan device and back, and are compared.",
	.session_size = sizeof(struct ffmpeg),
	.open = ffmpeg_open,
	.work = ffmpeg_work,
	.close = ffmpeg_close,
};
