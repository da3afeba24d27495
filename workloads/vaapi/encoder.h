/* SPDX-License-Identifier: MIT */
#pragma once

/* A stream in the making, as encoder.c and the descriptions of the codecs share it. */

#include "workloads/vaapi/vaapi.h"

enum { INPUT, RECONSTRUCTED, SURFACES = RECONSTRUCTED + 2 };
enum { BUFFERS_MAX = 16 }; /* of one picture, which has at most 11 */
enum {
	QUALITY = 24, /* the quantiser, where no rate is kept */
	INITIAL_QUALITY = 26,
};

/* One stream. */
struct encoder {
	struct vaapi *va;
	const struct video_job *job;
	VADisplay display;
	struct vaapi_way way;
	const struct vaapi_codec *codec;
	unsigned rate_control;	/* VA_RC_... */
	unsigned packed;	/* VA_ENC_PACKED_HEADER_...: what the driver wants to be given */
	unsigned width, height; /* of its surfaces: the stream's, or more */
	VAEncSequenceParameterBufferHEVC hevc_sequence; /* of HEVC, these: what the driver tells */
	VAEncPictureParameterBufferHEVC hevc_picture;
	unsigned tree_block; /* logarithm to the base of 2 */
	bool low_delay_b;
	size_t made; /* of what follows, in this order */
	VAConfigID config;
	VASurfaceID surfaces[SURFACES];
	VAContextID context;
	VAImage image;
	VABufferID coded;
	unsigned coded_size;
	VABufferID buffers[BUFFERS_MAX];
	int buffer_count;
};

/* Where what a picture is decoded to lies: two surfaces take turns. */
VASurfaceID vaapi_reconstructed(const struct encoder *e, unsigned index);

/* vaapi_check() of a function. */
#define CALL(e, err, function, ...)                                                                \
	vaapi_check((e)->job->failure, (e)->va->function((e)->display, __VA_ARGS__), #function, err)

enum { HEADER_SEQUENCE, HEADER_PICTURE, HEADER_SLICE, HEADERS };

/* What a picture is described by. The first describes the stream, too. */
struct vaapi_description {
	union {
		VAEncSequenceParameterBufferH264 h264;
		VAEncSequenceParameterBufferHEVC hevc;
	} sequence; /* of the first alone */
	union {
		VAEncPictureParameterBufferH264 h264;
		VAEncPictureParameterBufferHEVC hevc;
	} picture;
	union {
		VAEncSliceParameterBufferH264 h264;
		VAEncSliceParameterBufferHEVC hevc;
	} slice;
	struct text headers[HEADERS]; /* with start codes; those that are empty are not given */
};

struct vaapi_codec {
	unsigned packed; /* VA_ENC_PACKED_HEADER_...: the headers that it has */
	size_t sequence_size, picture_size, slice_size;
	/* Asks the driver what the codec alone has; sets width and height to no less than the stream's.
	 * ERROR_UNSUPPORTED: it wants what is not described here. ERROR_FORMAT: it tells nonsense. NULL:
	 * nothing to be asked. */
	int (*prepare)(struct encoder *e, struct error *err);
	void (*describe)(const struct encoder *e, unsigned index, struct vaapi_description *out);
};

extern const struct vaapi_codec vaapi_h264; /* h264.c */
extern const struct vaapi_codec vaapi_hevc; /* hevc.c */
