/* SPDX-License-Identifier: MIT */
#pragma once

/* The headers of an HEVC stream (workloads/video/hevc.h, and 7.3.6.1 of ITU-T H.265) from VA-API's
 * buffers. */

#include "workloads/video/hevc.h"

#include <va/va.h>

enum { HEVC_MERGE_CANDIDATES = 5 };

/* Append, each after a start code: the parameter sets (VPS, SPS, PPS, all with id 0), with the shown
 * size of `source`; the header of a slice up to its byte_alignment(). */
void hevc_add_parameter_sets(const struct video_source *source,
			     const VAEncSequenceParameterBufferHEVC *sequence,
			     const VAEncPictureParameterBufferHEVC *picture, struct text *out);
void hevc_add_slice_header(const VAEncSequenceParameterBufferHEVC *sequence,
			   const VAEncPictureParameterBufferHEVC *picture,
			   const VAEncSliceParameterBufferHEVC *slice, struct text *out);
