/* SPDX-License-Identifier: MIT */
#pragma once

/* The headers of a stream of HEVC (workloads/video/hevc.h, and 7.3.6.1 of ITU-T H.265) that VA-API's
 * buffers describe. */

#include "workloads/video/hevc.h"

#include <va/va.h>

enum { HEVC_MERGE_CANDIDATES = 5 };

/* Append, each behind a start code: the parameter sets (VPS, SPS, PPS, all of id 0), of which `source`
 * tells the size that is shown, and the header of a slice up to its byte_alignment(). */
void hevc_add_parameter_sets(const struct video_source *source,
			     const VAEncSequenceParameterBufferHEVC *sequence,
			     const VAEncPictureParameterBufferHEVC *picture, struct text *out);
void hevc_add_slice_header(const VAEncSequenceParameterBufferHEVC *sequence,
			   const VAEncPictureParameterBufferHEVC *picture,
			   const VAEncSliceParameterBufferHEVC *slice, struct text *out);
