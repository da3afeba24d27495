/* SPDX-License-Identifier: MIT */
#pragma once

/* Writing a header: its bits first, then the unit that holds them in a stream. unit_put_ue(),
 * unit_put_se() and unit_end() are for NAL units of H.264 or HEVC. */

#include "base/text.h"

#include <stdint.h>

enum { UNIT_MAX = 128 /* bytes; further bits are lost */ };

struct unit {
	uint8_t bytes[UNIT_MAX];
	unsigned bits;
};

void unit_put(struct unit *unit, uint32_t value, unsigned count); /* at most 32 */
void unit_put_ue(struct unit *unit, uint32_t value);		  /* ue(v): below 2^31 */
void unit_put_se(struct unit *unit, int32_t value); /* se(v): between -2^30 and 2^30 */

/* Ends the unit (a one, and zeros up to a whole byte) and appends it after a start code of four
 * bytes, escaped so that no start code appears inside. */
void unit_end(struct unit *unit, struct text *out);
