/* SPDX-License-Identifier: MIT */
#pragma once

/* The arithmetic code of HEVC (ITU-T H.265, 9.3), as doubles of encoders write it. */

#include "workloads/doubles/h264_pcm.h"

#include <stdbool.h>
#include <stdint.h>

struct hevc_context {
	unsigned state;
	bool likely;
};

struct hevc_cabac {
	struct h264_bits out;
	unsigned low, range, outstanding;
	bool begun;
};

/* 9.3.2.2: from the value in its table, and SliceQpY. */
void hevc_context_begin(struct hevc_context *context, unsigned value, unsigned quality);
void hevc_cabac_begin(struct hevc_cabac *cabac);
void hevc_put_bin(struct hevc_cabac *cabac, struct hevc_context *context, bool bin);
/* Writes bypass bins (of equal probability), the highest first. */
void hevc_put_bypass(struct hevc_cabac *cabac, unsigned value, unsigned count);
/* Writes a terminating bin: 1 ends the arithmetic code. */
void hevc_put_end(struct hevc_cabac *cabac, bool bin);
