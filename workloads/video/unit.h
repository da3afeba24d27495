/* SPDX-License-Identifier: MIT */
#pragma once

/* Writing the unit of a header: bits first, then what they are in a stream. unit_put_ue(), unit_put_se() and
 * unit_end() are for NAL units, of H.264 or HEVC. */

#include "base/text.h"

#include <stdint.h>

enum { UNIT_MAX = 128 /* bytes; bits behind them are lost */ };

struct unit {
	uint8_t bytes[UNIT_MAX];
	unsigned bits;
};

void unit_put(struct unit *unit, uint32_t value, unsigned count); /* at most 32 */
void unit_put_ue(struct unit *unit, uint32_t value);		  /* ue(v): below 2^31 */
void unit_put_se(struct unit *unit, int32_t value); /* se(v): between -2^30 and 2^30 */

/* Ends it (a one, and zeros up to a whole byte) and appends it behind a start code of four bytes, so that
 * there is none inside. */
void unit_end(struct unit *unit, struct text *out);
