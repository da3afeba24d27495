/* SPDX-License-Identifier: MIT */
#pragma once

/* A stream while it is encoded, shared by encoder.c and the descriptions of the codecs. */

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
	unsigned packed;	/* VA_ENC_PACKED_HEADER_...: the headers that the driver expects */
	unsigned width, height; /* of its surfaces: the stream's, or more */
	VAEncSequenceParameterBufferHEVC hevc_sequence; /* HEVC only: what the driver chooses */
	VAEncPictureParameterBufferHEVC hevc_picture;
	unsigned tree_block; /* logarithm to base 2 */
	bool low_delay_b;
	struct av1_sequence av1_sequence; /* AV1 only */
	struct av1_frame av1_frame;	  /* common to all frames */
	unsigned av1_size_bytes;	  /* the length of a unit's size field */
	unsigned made; /* the last of the following, which are made in this order: MADE_... */
	VAConfigID config;
	VASurfaceID surfaces[SURFACES];
	VAContextID context;
	VAImage image;
	VABufferID coded;
	unsigned coded_size;
	VABufferID buffers[BUFFERS_MAX];
	int buffer_count;
};

/* Does the encoder choose quantisers to keep a rate? */
static inline bool vaapi_keeps_rate(const struct encoder *e)
{
	return (e->rate_control & (VA_RC_CBR | VA_RC_VBR)) != 0;
}

/* VA_FEATURE_...; drivers also report SUPPORTED and REQUIRED together. */
static inline bool vaapi_is_required(unsigned feature)
{
	return (feature & VA_FEATURE_REQUIRED) != 0;
}

/* The surface of a decoded picture: two alternate. */
VASurfaceID vaapi_reconstructed(const struct encoder *e, unsigned index);

/* vaapi_check() of a function. */
#define CALL(e, err, function, ...)                                                                \
	vaapi_check((e)->job->failure, (e)->va->function((e)->display, __VA_ARGS__), #function, err)

enum { HEADER_SEQUENCE, HEADER_PICTURE, HEADER_SLICE, HEADERS };

/* The description of a picture. That of the first describes the stream, too. */
struct vaapi_description {
	union {
		VAEncSequenceParameterBufferH264 h264;
		VAEncSequenceParameterBufferHEVC hevc;
		VAEncSequenceParameterBufferAV1 av1;
	} sequence; /* only of the first */
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
	struct text headers[HEADERS]; /* as a stream has them; empty ones are not passed on */
};

struct vaapi_codec {
	unsigned packed;    /* VA_ENC_PACKED_HEADER_...: the headers that it supports */
	bool fixed_quality; /* preferred to a rate where the driver has both */
	unsigned quality;   /* the first quantiser where a rate is kept */
	size_t sequence_size, picture_size, slice_size;
	/* Asks the driver for what only this codec has; sets width and height to at least the stream's.
	 * ERROR_UNSUPPORTED: it requires what is not described here. ERROR_FORMAT: it reports nonsense.
	 * May be NULL. */
	int (*prepare)(struct encoder *e, struct error *err);
	void (*describe)(const struct encoder *e, unsigned index, struct vaapi_description *out);
	/* Appends what precedes a picture in the stream and is missing in `coded`. May be NULL. */
	void (*begin)(const VACodedBufferSegment *coded, struct text *stream);
};

extern const struct vaapi_codec vaapi_h264; /* h264.c */
extern const struct vaapi_codec vaapi_hevc; /* hevc.c */
extern const struct vaapi_codec vaapi_av1;  /* av1.c */
