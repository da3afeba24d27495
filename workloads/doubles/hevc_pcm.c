/* SPDX-License-Identifier: MIT */
/* ITU-T H.265: 7.3.8 (slice data), 9.3 (its arithmetic code). */
#include "workloads/doubles/hevc_pcm.h"

#include "workloads/doubles/h264_pcm.h"

/* The bins that have a context here: split_cu_flag has three. */
enum { SPLIT, SKIP = 3, INTRA, PART, MERGE, OFFSET, CONTEXTS };

struct coder {
	struct h264_bits out;
	unsigned low, range, outstanding;
	bool begun;
	unsigned state[CONTEXTS];
	bool likely[CONTEXTS];
};

/* Table 9-52: rangeTabLps. */
static const uint8_t ranges[64][4] = {
	{128, 176, 208, 240}, {128, 167, 197, 227}, {128, 158, 187, 216}, {123, 150, 178, 205},
	{116, 142, 169, 195}, {111, 135, 160, 185}, {105, 128, 152, 175}, {100, 122, 144, 166},
	{95, 116, 137, 158},  {90, 110, 130, 150},  {85, 104, 123, 142},  {81, 99, 117, 135},
	{77, 94, 111, 128},   {73, 89, 105, 122},   {69, 85, 100, 116},	  {66, 80, 95, 110},
	{62, 76, 90, 104},    {59, 72, 86, 99},	    {56, 69, 81, 94},	  {53, 65, 77, 89},
	{51, 62, 73, 85},     {48, 59, 69, 80},	    {46, 56, 66, 76},	  {43, 53, 63, 72},
	{41, 50, 59, 69},     {39, 48, 56, 65},	    {37, 45, 54, 62},	  {35, 43, 51, 59},
	{33, 41, 48, 56},     {32, 39, 46, 53},	    {30, 37, 43, 50},	  {29, 35, 41, 48},
	{27, 33, 39, 45},     {26, 31, 37, 43},	    {24, 30, 35, 41},	  {23, 28, 33, 39},
	{22, 27, 32, 37},     {21, 26, 30, 35},	    {20, 24, 29, 33},	  {19, 23, 27, 31},
	{18, 22, 26, 30},     {17, 21, 25, 28},	    {16, 20, 23, 27},	  {15, 19, 22, 25},
	{14, 18, 21, 24},     {14, 17, 20, 23},	    {13, 16, 19, 22},	  {12, 15, 18, 21},
	{12, 14, 17, 20},     {11, 14, 16, 19},	    {11, 13, 15, 18},	  {10, 12, 15, 17},
	{10, 12, 14, 16},     {9, 11, 13, 15},	    {9, 11, 12, 14},	  {8, 10, 12, 14},
	{8, 9, 11, 13},	      {7, 9, 11, 12},	    {7, 9, 10, 12},	  {7, 8, 10, 11},
	{6, 8, 9, 11},	      {6, 7, 9, 10},	    {6, 7, 8, 9},	  {2, 2, 2, 2},
};

/* Table 9-53: transIdxLps. */
static const uint8_t after_unlikely[64] = {
	0,  0,	1,  2,	2,  4,	4,  5,	6,  7,	8,  9,	9,  11, 11, 12, 13, 13, 15, 15, 16, 16,
	18, 18, 19, 19, 21, 21, 22, 22, 23, 24, 24, 25, 26, 26, 27, 27, 28, 29, 29, 30, 30, 30,
	31, 32, 32, 33, 33, 33, 34, 34, 35, 35, 35, 36, 36, 36, 37, 37, 37, 38, 38, 63,
};

/* 9.3.2.2, of slices B, P and I, whose initType is 2, 1 and 0. */
static void begin_contexts(struct coder *coder, unsigned slice_type, unsigned quality)
{
	static const uint8_t values[][CONTEXTS] = {
		{107, 139, 126, 197, 134, 154, 153, 160},
		{107, 139, 126, 197, 149, 154, 153, 185},
		{139, 141, 157, 154, 154, 184, 153, 200},
	};
	for (unsigned i = 0; i < CONTEXTS; i++) {
		const int value = values[slice_type][i];
		const int slope = (value >> 4) * 5 - 45, offset = ((value & 15) << 3) - 16;
		int state = ((slope * (int)quality) >> 4) + offset;
		state = state < 1 ? 1 : state > 126 ? 126 : state;
		coder->likely[i] = state > 63;
		coder->state[i] = (unsigned)(state > 63 ? state - 64 : 63 - state);
	}
}

static void begin_code(struct coder *coder)
{
	coder->low = coder->outstanding = 0;
	coder->range = 510;
	coder->begun = false;
}

static void put_bit(struct coder *coder, unsigned bit)
{
	if (coder->begun)
		h264_put_bits(&coder->out, bit, 1);
	coder->begun = true;
	for (; coder->outstanding > 0; coder->outstanding--)
		h264_put_bits(&coder->out, 1 - bit, 1);
}

static void renormalise(struct coder *coder)
{
	for (; coder->range < 256; coder->range <<= 1, coder->low <<= 1) {
		if (coder->low < 256) {
			put_bit(coder, 0);
		} else if (coder->low >= 512) {
			coder->low -= 512;
			put_bit(coder, 1);
		} else {
			coder->low -= 256;
			coder->outstanding++;
		}
	}
}

static void put_bin(struct coder *coder, unsigned context, bool bin)
{
	unsigned *state = &coder->state[context];
	const unsigned unlikely = ranges[*state][coder->range >> 6 & 3];
	coder->range -= unlikely;
	if (bin == coder->likely[context]) {
		*state += *state < 62;
	} else {
		coder->low += coder->range;
		coder->range = unlikely;
		coder->likely[context] ^= *state == 0;
		*state = after_unlikely[*state];
	}
	renormalise(coder);
}

/* A bin after which there may be something else than the code: with one, there is. */
static void put_end(struct coder *coder, bool bin)
{
	coder->range -= 2;
	if (bin) {
		coder->low += coder->range;
		coder->range = 2;
	}
	renormalise(coder);
	if (!bin)
		return;
	put_bit(coder, coder->low >> 9 & 1);
	h264_put_bits(&coder->out, (coder->low >> 7 & 3) | 1, 2);
}

static void put_unit(struct coder *coder, const struct hevc_pcm *shape,
		     const struct video_planes *frame, unsigned x, unsigned y, unsigned log2)
{
	if (shape->slice_type != 2) {
		put_bin(coder, SKIP, false);
		put_bin(coder, INTRA, true);
	}
	if (log2 == shape->block)
		put_bin(coder, PART, true);
	put_end(coder, true);
	h264_put_block(&coder->out, frame, (size_t)1 << log2, x, y);
	begin_code(coder);
}

/* All units have one size, so that a neighbour is split further whenever this one is split. */
static void put_tree(struct coder *coder, const struct hevc_pcm *shape,
		     const struct video_planes *frame, unsigned x, unsigned y, unsigned log2)
{
	const bool split = log2 > shape->pcm;
	const unsigned half = 1u << log2 >> 1;
	const unsigned neighbours = (x > 0 ? 1u : 0) + (y > 0 ? 1u : 0);
	if (log2 > shape->block)
		put_bin(coder, SPLIT + (split ? neighbours : 0), split);
	if (!split)
		put_unit(coder, shape, frame, x, y, log2);
	for (unsigned i = 0; split && i < 4; i++)
		put_tree(coder, shape, frame, x + i % 2 * half, y + i / 2 * half, log2 - 1);
}

static void put_no_offsets(struct coder *coder, bool left, bool above)
{
	if (left)
		put_bin(coder, MERGE, false);
	if (above)
		put_bin(coder, MERGE, false);
	put_bin(coder, OFFSET, false);
	put_bin(coder, OFFSET, false);
}

void hevc_pcm_add(const struct hevc_pcm *shape, const struct video_planes *frame,
		  const struct text *header, struct text *stream)
{
	const unsigned side = 1u << shape->tree;
	struct coder coder = {.out = {{0}, 0, 0}};
	text_append(&coder.out.bytes, header->data + 4, header->size - 4);
	begin_contexts(&coder, shape->slice_type, shape->quality);
	begin_code(&coder);
	for (unsigned y = 0; y < shape->height; y += side) {
		for (unsigned x = 0; x < shape->width; x += side) {
			if (shape->sao)
				put_no_offsets(&coder, x > 0, y > 0);
			put_tree(&coder, shape, frame, x, y, shape->tree);
			put_end(&coder, x + side == shape->width && y + side == shape->height);
		}
	}
	h264_align(&coder.out);
	text_append(stream, header->data, 4);
	h264_add_escaped(coder.out.bytes.data, coder.out.bytes.size, stream);
	text_free(&coder.out.bytes);
}
