/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by the files of the VA driver (va_double.c). */

#include "workloads/doubles/av1_aom.h"
#include "workloads/doubles/h264_pcm.h"

#include <va/va.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	SIDE = 64,
	FRAME = SIDE * SIDE * 3 / 2,
	BUFFERS = 64,
	SURFACES = 3,
	IMAGE_BUFFER = BUFFERS, /* the id of the image's buffer */
};

struct buffer {
	bool used;
	VABufferType type;
	unsigned size;
	void *data;
};

struct driver;

/* How a codec is described. */
struct va_codec {
	uint32_t (*attribute)(VAConfigAttribType type); /* only for this codec */
	/* Takes a buffer for a sequence, a picture or a slice; false: it is wrong. */
	bool (*take)(struct driver *d, VABufferType type, const void *data);
	/* Called after the last buffer of a picture, before coding; NULL: nothing to do. */
	bool (*end)(struct driver *d);
	bool headers_first; /* all headers of a picture precede it, as `slice_header` */
	/* Appends the picture; NULL: H.264. */
	void (*put)(const struct h264_pcm *writer, const struct video_planes *frame,
		    struct text *stream);
};

extern const struct va_codec va_codec_h264, va_codec_hevc, va_codec_av1;

struct driver {
	struct buffer buffers[BUFFERS];
	uint8_t surfaces[SURFACES][FRAME], image[FRAME];
	const struct va_codec *codec;
	VASurfaceID target, reference;
	VABufferID coded;
	bool sequence, picture, slice, rate;
	bool keeps_rate;
	bool failed;				 /* the picture cannot be coded */
	struct text given, slice_header, stream; /* `given`: the parameter sets */
	VAEncPackedHeaderType header;		 /* type of the next data */
	VACodedBufferSegment segment;
	struct h264_pcm writer;
	/* Of HEVC. */
	VAEncSequenceParameterBufferHEVC hevc_sequence;
	VAEncPictureParameterBufferHEVC hevc_picture;
	VAEncSliceParameterBufferHEVC hevc_slice;
	/* Of AV1. */
	VAEncSequenceParameterBufferAV1 av1_sequence;
	VAEncPictureParameterBufferAV1 av1_picture;
	VAEncTileGroupBufferAV1 av1_group;
	unsigned av1_quality; /* base_q_idx */
	struct av1_aom av1_coder;
};

/* The VA_ENC_PACKED_HEADER_... flags that the driver reports. */
uint32_t va_packed(void);
