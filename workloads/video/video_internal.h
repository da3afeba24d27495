/* SPDX-License-Identifier: MIT */
#pragma once

#include "workloads/video/video.h"

/* How one stream came to be. */
struct video_stream {
	struct video_job job;
	enum work_status status;
	char reason[ERROR_TEXT_SIZE]; /* "" with WORK_ENCODED */
	struct call_failure failure;
	struct text data;
	struct video_walk walk;
	uint64_t first_put_ns, first_got_ns, ended_ns; /* monotonic; 0: not reached */
};

/* {"frames": ..., "rate": ..., "encoders": [...], "streams": []}. NULL: out of memory. */
cJSON *video_json(const struct video_offers *offers);

/* An element of `streams`. NULL: out of memory. */
cJSON *video_stream_json(const struct video_stream *stream);
