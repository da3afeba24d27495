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
	const struct api_driver *list; /* the API that listed the devices; may be NULL */
	const cJSON *devices;	       /* borrowed from the report */
	size_t index;		       /* of the device in use */
	uint64_t timeout_ms;	       /* of one run of the program */
	uint64_t deadline_ns;	       /* of all of them, monotonic */
	struct text stream;	       /* the output of the last run */
	struct video_source source;    /* of `stream` */
};

/* Adds a line of stderr to the messages: `user`. */
void ffmpeg_keep_line(bool is_stderr, const char *line, size_t size, void *user);

/*
 * Runs the program with these arguments, separated by single spaces, to its end. Its stderr goes into
 * `messages`, which may be NULL: a bounded number of lines, cut, without control characters and without
 * the addresses that FFmpeg prints. ERROR_CANCELLED: no time was left. Other errors: it could not be
 * started.
 */
int ffmpeg_run(const struct ffmpeg *ffmpeg, const char *arguments, const void *input, size_t size,
	       struct process_result *result, struct text_list *messages, struct error *err);

/* How a run ended, for a reason: "exited with code 1: Cannot load libcuda.so.1". */
enum { FFMPEG_DESCRIPTION_SIZE = 512 };
void ffmpeg_describe(const struct process_result *result, const struct text_list *messages,
		     char out[FFMPEG_DESCRIPTION_SIZE]);

/* Do the messages say that the program, or the device, lacks what was requested? Anything else that
 * goes wrong is a failure. */
bool ffmpeg_is_absent(const struct text_list *messages);

/* Sets the time limits of one run and, from now on, of all runs together. */
void ffmpeg_set_time(struct ffmpeg *ffmpeg, uint64_t timeout_ms);

/* encode.c: the work on one device. */
int ffmpeg_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err);

/* vulkan_frames.c: adds `vulkan`: whether frames of this seed go to the Vulkan device and back. */
void ffmpeg_transfer(const struct ffmpeg *ffmpeg, uint32_t seed, cJSON *video);
