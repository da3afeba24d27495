/* SPDX-License-Identifier: MIT */
#pragma once

/* The coefficients of a block of HEVC (ITU-T H.265, 7.3.8.11), in diagonal scans. */

#include "workloads/doubles/hevc_cabac.h"

enum { HEVC_SIDE_MAX = 32, HEVC_RESIDUAL_CONTEXTS = 18 + 18 + 4 + 42 + 24 + 6 };

/* `slice_type` is that of the slice whose data begins. */
void hevc_residual_begin(struct hevc_context *contexts, unsigned slice_type, unsigned quality);

/* `levels`: those of a block of 1 << log2 samples a side, row by row, not all 0. */
void hevc_residual_put(struct hevc_cabac *cabac, struct hevc_context *contexts, unsigned log2,
		       bool luma, const int *levels);
