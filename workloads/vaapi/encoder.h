/* SPDX-License-Identifier: MIT */
#pragma once

/* A stream in the making, as encoder.c and the descriptions of the codecs share it. */

#include "workloads/vaapi/vaapi.h"
#include "workloads/video/av1.h"

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
	struct av1_sequence av1_sequence; /* of AV1, these */
	struct av1_frame av1_frame;	  /* what its frames have in common */
	unsigned av1_size_bytes;	  /* that the size of a unit is written with */
	size_t made;			  /* of what follows, in this order */
	VAConfigID config;
	VASurfaceID surfaces[SURFACES];
	VAContextID context;
	VAImage image;
	VABufferID coded;
	unsigned coded_size;
	VABufferID buffers[BUFFERS_MAX];
	int buffer_count;
};

/* Does the encoder choose quantisers by a rate? */
static inline bool vaapi_keeps_rate(const struct encoder *e)
{
	return (e->rate_control & (VA_RC_CBR | VA_RC_VBR)) != 0;
}

/* VA_FEATURE_...; drivers tell SUPPORTED and REQUIRED in one, too. */
static inline bool vaapi_is_required(unsigned told)
{
	return (told & VA_FEATURE_REQUIRED) != 0;
}

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
		VAEncSequenceParameterBufferAV1 av1;
	} sequence; /* of the first alone */
	union {
		VAEncPictureParameterBufferH264 h264;
		VAEncPictureParameterBufferHEVC hevc;
		VAEncPictureParameterBufferAV1 av1;
	} picture;
	union {
		VAEncSliceParameterBufferH264 h264;
		VAEncSliceParameterBufferHEVC hevc;
		VAEncTileGroupBufferAV1 av1;
	} slice;
	struct text headers[HEADERS]; /* as a stream has them; those that are empty are not given */
};

struct vaapi_codec {
	unsigned packed;    /* VA_ENC_PACKED_HEADER_...: the headers that it has */
	bool fixed_quality; /* rather than a rate, where there is both */
	unsigned quality;   /* the first quantiser where a rate is kept */
	size_t sequence_size, picture_size, slice_size;
	/* Asks the driver what the codec alone has; sets width and height to no less than the stream's.
	 * ERROR_UNSUPPORTED: it wants what is not described here. ERROR_FORMAT: it tells nonsense. NULL:
	 * nothing to be asked. */
	int (*prepare)(struct encoder *e, struct error *err);
	void (*describe)(const struct encoder *e, unsigned index, struct vaapi_description *out);
	/* Appends what stands in front of a picture, and not in `coded`. NULL: nothing does. */
	void (*begin)(const VACodedBufferSegment *coded, struct text *stream);
};

extern const struct vaapi_codec vaapi_h264; /* h264.c */
extern const struct vaapi_codec vaapi_hevc; /* hevc.c */
extern const struct vaapi_codec vaapi_av1;  /* av1.c */
