/* SPDX-License-Identifier: MIT */
#pragma once

/* The symbols of an AV1 tile (section 8.2 of its specification), as doubles of encoders write them. */

#include "base/text.h"

#include <stdint.h>

enum { AV1_SYMBOLS_MAX = 14 };

/* Cumulative probabilities of symbols, times 32768, then the number of uses. */
typedef uint16_t av1_cdf[AV1_SYMBOLS_MAX + 1];

/* A tile under construction, one bit a byte, so that a carry can propagate back. */
struct av1_symbols {
	struct text bits;
	uint32_t low, range;
};

void av1_symbols_begin(struct av1_symbols *symbols);
/* Writes one of `count` symbols, which becomes more likely. */
void av1_put_symbol(struct av1_symbols *symbols, uint16_t *cdf, unsigned count, unsigned symbol);
/* Writes `count` bits, the highest first. */
void av1_put_literal(struct av1_symbols *symbols, unsigned value, unsigned count);
/* Appends the tile and frees the rest. */
void av1_symbols_end(struct av1_symbols *symbols, struct text *out);
