/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The frames that encoders encode: the same seed always makes the same samples. This file knows no
 * API.
 *
 * A plane of cells, VIDEO_CELL luma samples wide and high, each with a level and a slope that follow
 * from the seed, moves by a few samples in each frame. No frame is flat, none is like its neighbour,
 * and those of two seeds are unlike each other, so that a repeated or prepared frame is detected.
 * Samples have 8 bits and stay within the narrow range of video (Y 16 to 235, U and V 16 to 240),
 * with one U and one V for two by two of Y.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	VIDEO_FRAMES = 12, /* in a stream */
	VIDEO_RATE = 30,   /* frames in a second */
	VIDEO_CELL = 16,
	VIDEO_PLANES = 3,
	VIDEO_STREAM_MAX = 80 * 1024, /* bytes; a longer stream counts as wrong */
};

/* The source of a stream: frames 0 to VIDEO_FRAMES - 1 of a seed. */
struct video_source {
	uint32_t seed;
	unsigned width, height; /* of one of video_sizes[] */
};

struct video_size {
	unsigned width, height;
};

/* The sizes of streams, largest first, ended by one without a width. */
extern const struct video_size video_sizes[];
bool video_has_size(unsigned width, unsigned height);

/* Where the samples of a frame are stored: APIs have gaps between rows. */
enum video_layout {
	VIDEO_I420, /* planes Y, U, V */
	VIDEO_NV12, /* planes Y, and U and V interleaved */
};

struct video_planes {
	uint8_t *data[VIDEO_PLANES];
	size_t pitch[VIDEO_PLANES]; /* bytes from row to row */
};

/* One sample of Y, U or V (plane 0 to 2); x and y count samples of that plane. */
uint8_t video_sample(uint32_t seed, unsigned frame, unsigned plane, unsigned x, unsigned y);

/* Writes a whole frame. */
void video_fill(const struct video_source *source, unsigned frame, enum video_layout layout,
		const struct video_planes *out);

/* The bytes of a frame without gaps, and its planes in one piece of memory. */
size_t video_frame_size(const struct video_source *source);
struct video_planes video_planes_of(const struct video_source *source, enum video_layout layout,
				    uint8_t *memory);

/* Copies a frame without gaps to memory with gaps between its rows. */
void video_copy(const struct video_source *source, const struct video_planes *from,
		const struct video_planes *to);

/* Compares a decoder's planes (I420) with the frame of a source: peak signal-to-noise ratio in dB of
 * each plane, 99 where nothing differs. */
void video_psnr(const struct video_source *source, unsigned frame, const struct video_planes *other,
		double out[VIDEO_PLANES]);

/* Another seed whose frames are unlike those of `source`, below VIDEO_UNLIKE_DB in each plane. */
uint32_t video_other_seed(const struct video_source *source);

#define VIDEO_LIKE_DB	30.0 /* at least, for a frame that was encoded and decoded */
#define VIDEO_UNLIKE_DB 20.0 /* less than this, for a frame of another seed */
