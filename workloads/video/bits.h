/* SPDX-License-Identifier: MIT */
#pragma once

/* Reading the bits of a header. After the end every bit is zero, and `overrun` is set. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
	const uint8_t *data;
	size_t size;	/* bytes */
	size_t at;	/* bit */
	bool escaped;	/* a NAL unit, in which 00 00 03 stands for 00 00 */
	unsigned zeros; /* zero bytes that were just passed */
	bool overrun;
};

uint32_t bits_read(struct bits *bits, unsigned count); /* at most 32 */
bool bits_flag(struct bits *bits);		       /* one bit */
/* ue(v) and se(v) of H.264 and HEVC. */
uint32_t bits_read_ue(struct bits *bits);
int32_t bits_read_se(struct bits *bits);
void bits_skip(struct bits *bits, unsigned count);
void bits_skip_ue(struct bits *bits, uint32_t count); /* `count` times ue(v) or se(v) */
