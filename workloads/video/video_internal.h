/* SPDX-License-Identifier: MIT */
#pragma once

#include "workloads/video/video.h"

/* One stream and how it was encoded. */
struct video_stream {
	struct video_job job;
	enum work_status status;
	char reason[ERROR_TEXT_SIZE]; /* "" with WORK_ENCODED */
	struct call_failure failure;
	struct text_list messages;
	int exit_code;
	struct text data;
	struct video_walk walk;
	uint64_t first_put_ns, first_got_ns, ended_ns; /* monotonic; 0: not reached */
};

/* {"frames": ..., "rate": ..., "encoders": [...], "streams": []}; for encoders with `tries`
 * "encoders" is empty, and there is "attempts": []. */
cJSON *video_json(const struct video_offers *offers, bool tries);

/* An element of `streams`. */
cJSON *video_stream_json(const struct video_stream *stream);

/* An element of `attempts`. */
cJSON *video_attempt_json(const struct video_stream *stream);
