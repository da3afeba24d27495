/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The headers of a stream of HEVC (ITU-T H.265, 7.3.2.1 to 7.3.2.3 and 7.3.6.1) that VA-API's buffers
 * describe: frames of 4:2:0 and 8 bits, one layer, one slice each; a picture that is no key frame (IDR)
 * refers to the one before, whose order count is one less.
 */

#include "base/text.h"
#include "workloads/video/frames.h"

#include <va/va.h>

enum {
	HEVC_ORDER_BITS = 8,
	HEVC_MERGE_CANDIDATES = 5,
	HEVC_SLICE_B = 0, /* slice_type */
	HEVC_SLICE_P = 1,
	HEVC_SLICE_I = 2,
	HEVC_TRAIL_R = 1, /* nal_unit_type */
	HEVC_IDR_W_RADL = 19,
};

/* Append, each behind a start code: the parameter sets (VPS, SPS, PPS, all of id 0), of which `source`
 * tells the size that is shown, and the header of a slice up to its byte_alignment(). */
void hevc_add_parameter_sets(const struct video_source *source,
			     const VAEncSequenceParameterBufferHEVC *sequence,
			     const VAEncPictureParameterBufferHEVC *picture, struct text *out);
void hevc_add_slice_header(const VAEncSequenceParameterBufferHEVC *sequence,
			   const VAEncPictureParameterBufferHEVC *picture,
			   const VAEncSliceParameterBufferHEVC *slice, struct text *out);
