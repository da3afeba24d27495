/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A walk over an encoded stream: its units, its sequence header, and the number of its pictures. It
 * detects early that a stream is empty, cut off, or not a stream; it decodes nothing and proves
 * nothing about what the pictures show.
 *
 * H.264 and HEVC are in the format of Annex B of ITU-T H.264 and H.265 (start codes), AV1 in that of
 * section 5 of its specification (units that state their size).
 */

#include "base/error.h"
#include "workloads/video/frames.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum video_codec { VIDEO_H264, VIDEO_HEVC, VIDEO_AV1, VIDEO_CODECS };

/* "h264", "hevc", "av1" */
extern const char *const video_codec_names[VIDEO_CODECS];

/* ERROR_ARGUMENT: there is no such codec. */
int video_codec_find(const char *name, enum video_codec *codec, struct error *err);

struct video_walk {
	unsigned width, height; /* of a shown picture, by the first sequence header */
	unsigned profile;	/* profile_idc, general_profile_idc, seq_profile */
	unsigned bits;		/* of a luma sample */
	size_t units;		/* NAL units, or OBUs */
	size_t headers;		/* sequence and picture parameter sets, sequence headers */
	size_t pictures;	/* shown */
	size_t keys;  /* pictures among these that need no other (IDR, IRAP, key frames) */
	bool reduced; /* reduced_still_picture_header: each frame is shown and a key */
};

/* In H.264 and HEVC: the place of the next start code (00 00 01) at or after `from`; `size` without
 * one. */
size_t video_start_code(const uint8_t *data, size_t size, size_t from);

/* ERROR_FORMAT, with the place: also a stream without a picture, or without a sequence header before
 * the first. */
int video_walk(enum video_codec codec, const uint8_t *data, size_t size, struct video_walk *walk,
	       struct error *err);

/* The same for a stream that must hold the frames of `source`. ERROR_LIMIT: it has another size, depth
 * or number of pictures. */
int video_walk_frames(enum video_codec codec, const uint8_t *data, size_t size,
		      const struct video_source *source, struct video_walk *walk,
		      struct error *err);
