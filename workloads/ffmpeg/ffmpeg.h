/* SPDX-License-Identifier: MIT */
#pragma once

/* FFmpeg as its users call it: a program with pipes. Shared by the files of this folder. */

#include "base/error.h"
#include "base/process.h"
#include "base/text.h"
#include "workloads/common/api.h"
#include "workloads/video/video.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ffmpeg {
	char *program;		       /* path */
	const struct api_driver *list; /* told the devices; NULL: none did */
	const cJSON *devices;	       /* borrowed from the report */
	/* Of the device that is worked on: */
	size_t index;
	bool software;
	uint32_t vendor;	    /* 0: not told */
	char node[64];		    /* its render node; "": not told */
	uint64_t timeout_ms;	    /* of one run of the program */
	uint64_t deadline_ns;	    /* of all of them, monotonic */
	struct text stream;	    /* what the last run made */
	struct video_source source; /* of that */
};

/* Adds words to a command line: ffmpeg_words(&words, FFMPEG_WORDS("-gpu", "0"), err). ERROR_MEMORY. */
#define FFMPEG_WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})
int ffmpeg_words(struct text_list *words, const char *const *more, struct error *err);

/*
 * Runs the program to its end. What it says goes into `messages`, a bounded number of lines, cut,
 * without control characters and without the addresses that FFmpeg prints. ERROR_CANCELLED: no time
 * was left. Other errors: it could not be started.
 */
int ffmpeg_run(const struct ffmpeg *ffmpeg, const struct text_list *words, const struct text *input,
	       struct process_result *result, struct text_list *messages, struct error *err);

/* How a run ended, for a reason: "exited with code 1: Cannot load libcuda.so.1". */
enum { FFMPEG_DESCRIPTION_SIZE = 512 };
void ffmpeg_describe(const struct process_result *result, const struct text_list *messages,
		     char out[FFMPEG_DESCRIPTION_SIZE]);

/* encode.c */
extern const struct video_encoder ffmpeg_encoder;

/* decode.c: decodes ffmpeg->stream with `-hwaccel auto`, which falls back to a processor without a
 * word, and adds to `video` what did it: `decoding`. ERROR_MEMORY. */
int ffmpeg_decode(const struct ffmpeg *ffmpeg, cJSON *video, struct error *err);
