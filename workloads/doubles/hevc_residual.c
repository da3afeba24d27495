/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/hevc_residual.h"

#include <stdlib.h>

/* The first context of each bin. */
enum { LAST_X, LAST_Y = 18, GROUP = 36, SIGNIFICANT = 40, GREATER1 = 82, GREATER2 = 106 };
enum { SAMPLES = 16, GREATER1_MAX = 8, RICE_MAX = 4 };

/* Tables 9-37 and following, for slices B, P and I. */
static const uint8_t values[3][HEVC_RESIDUAL_CONTEXTS] = {
	{125, 110, 124, 110, 95,  94,  125, 111, 111, 79,  125, 126, 111, 111, 79,  108,
	 123, 93,  125, 110, 124, 110, 95,  94,	 125, 111, 111, 79,  125, 126, 111, 111,
	 79,  108, 123, 93,  121, 140, 61,  154, 170, 154, 139, 153, 139, 123, 123, 63,
	 124, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136, 153, 154, 166, 183, 140,
	 136, 153, 154, 170, 153, 138, 138, 122, 121, 122, 121, 167, 151, 183, 140, 151,
	 183, 140, 154, 196, 167, 167, 154, 152, 167, 182, 182, 134, 149, 136, 153, 121,
	 136, 122, 169, 208, 166, 167, 154, 152, 167, 182, 107, 167, 91,  107, 107, 167},
	{125, 110, 94,	110, 95,  79,  125, 111, 110, 78,  110, 111, 111, 95,  94,  108,
	 123, 108, 125, 110, 94,  110, 95,  79,	 125, 111, 110, 78,  110, 111, 111, 95,
	 94,  108, 123, 108, 121, 140, 61,  154, 155, 154, 139, 153, 139, 123, 123, 63,
	 153, 166, 183, 140, 136, 153, 154, 166, 183, 140, 136, 153, 154, 166, 183, 140,
	 136, 153, 154, 170, 153, 123, 123, 107, 121, 107, 121, 167, 151, 183, 140, 151,
	 183, 140, 154, 196, 196, 167, 154, 152, 167, 182, 182, 134, 149, 136, 153, 121,
	 136, 137, 169, 194, 166, 167, 154, 167, 137, 182, 107, 167, 91,  122, 107, 167},
	{110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111, 79,  108,
	 123, 63,  110, 110, 124, 125, 140, 153, 125, 127, 140, 109, 111, 143, 127, 111,
	 79,  108, 123, 63,  91,  171, 134, 141, 111, 111, 125, 110, 110, 94,  124, 108,
	 124, 107, 125, 141, 179, 153, 125, 107, 125, 141, 179, 153, 125, 107, 125, 141,
	 179, 153, 125, 140, 139, 182, 182, 152, 136, 152, 136, 153, 136, 139, 111, 136,
	 139, 111, 140, 92,  137, 138, 140, 152, 138, 139, 153, 74,  149, 92,  139, 107,
	 122, 152, 140, 179, 166, 182, 140, 227, 122, 197, 138, 153, 136, 167, 152, 152},
};

struct place {
	unsigned x, y;
};

/* A block while it is coded. */
struct block {
	struct hevc_cabac *cabac;
	struct hevc_context *contexts;
	unsigned log2;
	bool luma;
	const int *levels;
	struct place groups[64], samples[SAMPLES]; /* in their scan */
	bool coded[9][9];			   /* groups; none beyond the edges */
	bool unsure; /* the last flag "greater than 1" of the previous group was 1 */
};

void hevc_residual_begin(struct hevc_context *contexts, unsigned slice_type, unsigned quality)
{
	for (unsigned i = 0; i < HEVC_RESIDUAL_CONTEXTS; i++)
		hevc_context_begin(&contexts[i], values[slice_type][i], quality);
}

static void put_bin(struct block *block, unsigned context, bool bin)
{
	hevc_put_bin(block->cabac, &block->contexts[context], bin);
}

/* 6.5.3: up and to the right. */
static void scan(unsigned side, struct place *out)
{
	for (unsigned diagonal = 0; diagonal < 2 * side - 1; diagonal++) {
		for (unsigned x = 0; x <= diagonal; x++) {
			if (x < side && diagonal - x < side)
				*out++ = (struct place){x, diagonal - x};
		}
	}
}

static int level_at(const struct block *block, unsigned group, unsigned sample)
{
	const unsigned x = block->groups[group].x * 4 + block->samples[sample].x;
	const unsigned y = block->groups[group].y * 4 + block->samples[sample].y;
	return block->levels[(y << block->log2) + x];
}

/* 9.3.4.2.3 */
static void put_last_prefix(struct block *block, unsigned first, unsigned prefix)
{
	const unsigned log2 = block->log2;
	const unsigned offset = block->luma ? 3 * (log2 - 2) + ((log2 - 1) >> 2) : 15;
	const unsigned shift = block->luma ? (log2 + 1) >> 2 : log2 - 2;
	for (unsigned i = 0; i < prefix; i++)
		put_bin(block, first + offset + (i >> shift), true);
	if (prefix < 2 * log2 - 1)
		put_bin(block, first + offset + (prefix >> shift), false);
}

/* Writes the place of the last coefficient: a range for each coordinate, then the offsets in them. */
static void put_last(struct block *block, struct place last)
{
	static const uint8_t begins[] = {0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32};
	const unsigned at[] = {last.x, last.y};
	unsigned ranges[] = {0, 0};
	for (unsigned i = 0; i < 2; i++) {
		while (at[i] >= begins[ranges[i] + 1])
			ranges[i]++;
		put_last_prefix(block, i == 0 ? LAST_X : LAST_Y, ranges[i]);
	}
	for (unsigned i = 0; i < 2; i++) {
		if (ranges[i] > 3)
			hevc_put_bypass(block->cabac, at[i] - begins[ranges[i]],
					(ranges[i] - 2) >> 1);
	}
}

/* 9.3.4.2.5 */
static unsigned significance(const struct block *block, struct place group, struct place sample)
{
	static const uint8_t small[] = {0, 1, 4, 5, 2, 3, 4, 5, 6, 6, 8, 8, 7, 7, 8};
	const bool right = block->coded[group.y][group.x + 1];
	const bool below = block->coded[group.y + 1][group.x];
	const unsigned along = right && !below ? sample.y : sample.x;
	const unsigned sum = sample.x + sample.y;
	unsigned context = right && below   ? 2
			   : right || below ? (along == 0   ? 2u
					       : along == 1 ? 1u
							    : 0u)
					    : (sum == 0	 ? 2u
					       : sum < 3 ? 1u
							 : 0u);
	if (block->log2 == 2)
		context = small[sample.y * 4 + sample.x];
	else if (group.x + group.y + sum == 0)
		context = 0;
	else if (block->luma)
		context += (group.x + group.y > 0 ? 3u : 0u) + (block->log2 == 3 ? 9 : 21);
	else
		context += block->log2 == 3 ? 9 : 12;
	return SIGNIFICANT + (block->luma ? 0u : 27u) + context;
}

/* Writes which samples of a group have a coefficient. `from`: the known last one, or 16; `known`: the
 * group is known to have some. Returns their number, and in `out` the samples in coding order. */
static unsigned put_significance(struct block *block, unsigned group, unsigned from, bool known,
				 unsigned *out)
{
	unsigned count = 0;
	if (from < SAMPLES)
		out[count++] = from;
	for (unsigned i = from; i-- > 0;) {
		const bool is = level_at(block, group, i) != 0;
		/* If the group has some, and no other was found, the last sample needs no flag. */
		if (i > 0 || count > 0 || !known)
			put_bin(block, significance(block, block->groups[group], block->samples[i]),
				is);
		if (is)
			out[count++] = i;
	}
	return count;
}

/* 9.3.3.11 */
static void put_remaining(struct block *block, unsigned value, unsigned rice)
{
	unsigned length = rice;
	if (value < 3u << rice) {
		hevc_put_bypass(block->cabac, (2u << (value >> rice)) - 2, (value >> rice) + 1);
		hevc_put_bypass(block->cabac, value, rice);
		return;
	}
	value -= 3u << rice;
	for (; value >= 1u << length; length++)
		value -= 1u << length;
	hevc_put_bypass(block->cabac, (1u << (4 + length - rice)) - 2, 4 + length - rice);
	hevc_put_bypass(block->cabac, value, length);
}

/* Writes the flags "greater than 1" of the first eight, and "greater than 2" of the first greater
 * one. Returns the index of that, or `count`. */
static unsigned put_greater(struct block *block, unsigned group, const int *levels, unsigned count)
{
	const unsigned set = (group > 0 && block->luma ? 2u : 0u) + (block->unsure ? 1u : 0u);
	unsigned greater = count, context = 1;
	for (unsigned i = 0; i < count && i < GREATER1_MAX; i++) {
		const bool is = abs(levels[i]) > 1;
		put_bin(block, GREATER1 + (block->luma ? 0u : 16u) + 4 * set + context, is);
		if (is && greater == count)
			greater = i;
		if (is)
			context = 0;
		else if (context > 0 && context < 3)
			context++;
	}
	block->unsure = context == 0;
	if (greater < count)
		put_bin(block, GREATER2 + (block->luma ? 0u : 4u) + set, abs(levels[greater]) > 2);
	return greater;
}

static void put_levels(struct block *block, unsigned group, const unsigned *places, unsigned count)
{
	int levels[SAMPLES] = {0};
	unsigned rice = 0;
	for (unsigned i = 0; i < count; i++)
		levels[i] = level_at(block, group, places[i]);
	const unsigned greater = put_greater(block, group, levels, count);
	for (unsigned i = 0; i < count; i++)
		hevc_put_bypass(block->cabac, levels[i] < 0, 1);
	for (unsigned i = 0; i < count; i++) {
		const unsigned level = (unsigned)abs(levels[i]);
		const unsigned known = i >= GREATER1_MAX ? 1
				       : i <= greater	 ? (i == greater ? 3 : 2)
							 : 2;
		if (level < known)
			continue;
		put_remaining(block, level - known, rice);
		if (level > 3u << rice && rice < RICE_MAX)
			rice++;
	}
}

static void put_group(struct block *block, unsigned group, unsigned from, bool first)
{
	const struct place at = block->groups[group];
	unsigned places[SAMPLES] = {0};
	bool some = first || group == 0;
	for (unsigned i = 0; i < SAMPLES; i++)
		some = some || level_at(block, group, i) != 0;
	if (!first && group > 0) {
		const bool near = block->coded[at.y][at.x + 1] || block->coded[at.y + 1][at.x];
		put_bin(block, GROUP + (near ? 1u : 0u) + (block->luma ? 0u : 2u), some);
	}
	block->coded[at.y][at.x] = some;
	if (!some)
		return;
	const unsigned count = put_significance(block, group, from, !first && group > 0, places);
	if (count > 0)
		put_levels(block, group, places, count);
}

void hevc_residual_put(struct hevc_cabac *cabac, struct hevc_context *contexts, unsigned log2,
		       bool luma, const int *levels)
{
	struct block block = {cabac, contexts, log2, luma, levels, .unsure = false};
	unsigned group = (1u << (2 * log2 - 4)) - 1, sample = SAMPLES - 1;
	scan(1u << (log2 - 2), block.groups);
	scan(4, block.samples);
	while (level_at(&block, group, sample) == 0) {
		group -= sample == 0;
		sample = (sample + SAMPLES - 1) % SAMPLES;
	}
	put_last(&block, (struct place){block.groups[group].x * 4 + block.samples[sample].x,
					block.groups[group].y * 4 + block.samples[sample].y});
	put_group(&block, group, sample, true);
	while (group-- > 0)
		put_group(&block, group, SAMPLES, false);
}
