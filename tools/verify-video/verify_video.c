/* SPDX-License-Identifier: MIT */
/* Judges a stream against the frames that it should show. A stream that crashes its decoder or makes it
 * hang ends only this process. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/log.h"
#include "base/members.h"
#include "base/memory.h"
#include "base/options.h"
#include "tools/verify-video/judge.h"
#include "tools/verify-video/sandbox.h"

#include <stdio.h>

enum { STREAM_MAX = 4 << 20, MEMORY_MAX = 512 << 20, SECONDS_MAX = 20 };

static const char *given_codec = "h264";
static int64_t given_seed, given_width = 320, given_height = 240;

static cJSON *numbers(const double *values, size_t count)
{
	cJSON *array = cJSON_CreateArray();
	for (size_t i = 0; i < count; i++)
		array_add(array, cJSON_CreateNumber((double)(long)(values[i] * 100) / 100));
	return array;
}

static int verify(const char *path, struct error *err)
{
	const struct video_source source = {(uint32_t)given_seed, (unsigned)given_width,
					    (unsigned)given_height};
	const struct sandbox_limits limits = {MEMORY_MAX, SECONDS_MAX};
	struct judgement judgement = {0};
	enum video_codec codec = VIDEO_H264;
	char *data CLEANUP_FREE = NULL;
	size_t size = 0;

	if (!video_has_size(source.width, source.height))
		return error_set(err, ERROR_ARGUMENT, "no stream is %u by %u", source.width,
				 source.height);
	int rc = video_codec_find(given_codec, &codec, err);
	if (rc == 0)
		rc = file_read(path, STREAM_MAX, &data, &size, err);
	if (rc == 0)
		rc = sandbox_enter(&limits, err);
	if (rc == 0)
		rc = judge_stream(codec, (const uint8_t *)data, size, &source, &judgement, err);
	if (rc != 0)
		return rc;

	struct members document CLEANUP_MEMBERS = members_new();
	member_string(&document, "schema", "gpucert-verify-video/1");
	member_string(&document, "codec", given_codec);
	member_string(&document, "status", judge_status_names[judgement.status]);
	member_optional(&document, "reason", judgement.reason);
	member_number(&document, "width", judgement.walk.width);
	member_number(&document, "height", judgement.walk.height);
	member_number(&document, "pictures", (double)judgement.walk.pictures);
	member_number(&document, "frames", (double)judgement.frames);
	member_item(&document, "psnr", numbers(judgement.psnr, judgement.frames));
	member_item(&document, "psnrOther", numbers(judgement.psnr_other, judgement.frames));
	char *text CLEANUP_FREE = json_print_compact(document.object);
	if (puts(text) < 0)
		return error_set(err, ERROR_IO, "standard output");
	return 0;
}

static int run(const struct text_list *arguments)
{
	struct error err = {0};
	if (verify(arguments->items[0], &err) == 0)
		return 0;
	log_error("%s", err.text);
	return err.code == ERROR_ARGUMENT ? OPTIONS_EXIT_USAGE : 1;
}

static const struct option_spec options[] = {
	{OPTION_ROW("codec", OPTION_CHOICE, given_codec), .value = "NAME",
	 .help = "The codec of the stream.",
	 .choices = (const char *const[]){"h264", "hevc", "av1", NULL}},
	{OPTION_ROW("seed", OPTION_INT, given_seed), .value = "N",
	 .help = "The seed of the frames.", .max = UINT32_MAX},
	{OPTION_ROW("width", OPTION_INT, given_width), .value = "N",
	 .help = "Of a frame, in pixels: 320, 192 or 64.", .min = 1, .max = 320},
	{OPTION_ROW("height", OPTION_INT, given_height), .value = "N",
	 .help = "Of a frame, in pixels: 240, 128 or 64.", .min = 1, .max = 240},
	{.name = NULL},
};

int main(int argc, char **argv)
{
	static const char *const exit_codes[] = {
		"0",
		"The judgement was printed, whatever it is.",
		"1",
		"There is none: the stream cannot be read, or memory ran out.",
		"2",
		"The command line makes no sense.",
		"a signal",
		"The stream crashed its decoder, or kept it busy for 20 seconds (SIGXCPU).",
		NULL,
	};
	static const struct command_spec command = {
		.name = "verify-video",
		.summary = "Decode an encoded stream and compare it with the original frames",
		.arguments = "FILE",
		.description =
			"Walks over the units of FILE, decodes it with OpenH264, libde265 or dav1d, and compares each frame with "
			"the one that follows from the seed. Prints one JSON document on one line.\n\n"
			"Decoding runs locked up: no files, no processes, no network, half a gigabyte of memory.",
		.options = options,
		.exit_codes = exit_codes,
		.run = run,
	};
	memory_ends_process(1);
	log_set_program("verify-video");
	return options_main(&command, argc, argv);
}
