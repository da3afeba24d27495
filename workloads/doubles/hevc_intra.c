/* SPDX-License-Identifier: MIT */
/* ITU-T H.265: 7.3.8 (slice data), 8.4.4.2 (prediction), 8.6 (scaling and transforms). */
#include "workloads/doubles/hevc_intra.h"

#include "workloads/doubles/hevc_residual.h"

#include <string.h>

/* The bins that have a context: split_cu_flag and split_transform_flag have three. */
enum {
	SPLIT,
	SKIP = 3,
	INTRA,
	PART,
	LUMA_MODE,
	CHROMA_MODE,
	SPLIT_TRANSFORM,
	CBF_LUMA = 11,
	CBF_CHROMA,
	QUALITY,
	CONTEXTS
};
enum { SIDE_MAX = 128 /* of a picture */, SCALE = 40 /* levelScale of the quantiser 0 */ };

struct coder {
	const struct hevc_intra *shape;
	const struct video_planes *frame;
	struct hevc_cabac cabac;
	struct hevc_context contexts[CONTEXTS], residual[HEVC_RESIDUAL_CONTEXTS];
	bool quality_stated; /* in this tree */
	uint8_t decoded[VIDEO_PLANES][SIDE_MAX * SIDE_MAX];
};

/* A block of one plane; coordinates are in its samples. */
struct block {
	unsigned plane, log2, side, x, y;
	int predicted[HEVC_SIDE_MAX * HEVC_SIDE_MAX], levels[HEVC_SIDE_MAX * HEVC_SIDE_MAX];
	bool coded; /* not all levels are 0 */
};

/* For slices B, P and I, whose initType is 2, 1 and 0. */
static void begin_contexts(struct coder *coder)
{
	static const uint8_t values[][CONTEXTS] = {
		{107, 139, 126, 197, 134, 154, 183, 152, 224, 167, 122, 111, 149, 154},
		{107, 139, 126, 197, 149, 154, 154, 152, 124, 138, 94, 111, 149, 154},
		{139, 141, 157, 154, 154, 184, 184, 63, 153, 138, 138, 141, 94, 154},
	};
	const unsigned type = coder->shape->slice_type;
	for (unsigned i = 0; i < CONTEXTS; i++)
		hevc_context_begin(&coder->contexts[i], values[type][i], HEVC_INTRA_QUALITY);
	hevc_residual_begin(coder->residual, type, HEVC_INTRA_QUALITY);
}

static void put_bin(struct coder *coder, unsigned context, bool bin)
{
	hevc_put_bin(&coder->cabac, &coder->contexts[context], bin);
}

/* 8.6.4.2: an entry of the 32 by 32 transform matrix; the table has only a quarter of the angles. */
static int factor(unsigned side, unsigned wave, unsigned at)
{
	static const int8_t quarter[] = {64, 90, 90, 90, 89, 88, 87, 85, 83, 82, 80,
					 78, 75, 73, 70, 67, 64, 61, 57, 54, 50, 46,
					 43, 38, 36, 31, 25, 22, 18, 13, 9,  4,	 0};
	const unsigned angle = wave * (32 / side) * (2 * at + 1) % 128;
	const unsigned half = angle <= 64 ? angle : 128 - angle;
	return half <= 32 ? quarter[half] : -quarter[64 - half];
}

static uint8_t *decoded_at(struct coder *coder, const struct block *block, unsigned x, unsigned y)
{
	return &coder->decoded[block->plane][(block->y + y) * SIDE_MAX + block->x + x];
}

/* The neighbours of a side; if missing, those of the other side, or grey. */
static void find_neighbours(struct coder *coder, const struct block *block, int *left, int *above)
{
	const bool has_left = block->x > 0, has_above = block->y > 0;
	for (unsigned i = 0; i < block->side; i++) {
		left[i] = has_left    ? decoded_at(coder, block, 0, i)[-1]
			  : has_above ? decoded_at(coder, block, 0, 0)[-SIDE_MAX]
				      : 128;
		above[i] = has_above  ? decoded_at(coder, block, i, 0)[-SIDE_MAX]
			   : has_left ? decoded_at(coder, block, 0, 0)[-1]
				      : 128;
	}
}

/* 8.4.4.2.5: the mean, blended with the neighbours at the edges of luma. */
static void predict(struct coder *coder, struct block *block)
{
	const unsigned side = block->side;
	int left[HEVC_SIDE_MAX] = {0}, above[HEVC_SIDE_MAX] = {0}, mean = (int)side;
	find_neighbours(coder, block, left, above);
	for (unsigned i = 0; i < side; i++)
		mean += left[i] + above[i];
	mean >>= block->log2 + 1;
	for (unsigned i = 0; i < side * side; i++)
		block->predicted[i] = mean;
	if (block->plane != 0 || side == HEVC_SIDE_MAX)
		return;
	for (unsigned i = 1; i < side; i++) {
		block->predicted[i] = (above[i] + 3 * mean + 2) >> 2;
		block->predicted[i * side] = (left[i] + 3 * mean + 2) >> 2;
	}
	block->predicted[0] = (left[0] + 2 * mean + above[0] + 2) >> 2;
}

/* Samples beyond the frame repeat its edge. */
static int sample_at(const struct coder *coder, const struct block *block, unsigned x, unsigned y)
{
	const unsigned scale = block->plane == 0 ? 1 : 2;
	const unsigned width = coder->shape->shown.width / scale;
	const unsigned height = coder->shape->shown.height / scale;
	x = block->x + x < width ? block->x + x : width - 1;
	y = block->y + y < height ? block->y + y : height - 1;
	return coder->frame->data[block->plane][y * coder->frame->pitch[block->plane] + x];
}

/* The residual, transformed and divided by the quantiser's step. */
static void quantise(const struct coder *coder, struct block *block)
{
	const unsigned side = block->side;
	const int64_t step = (int64_t)64 * SCALE * side;
	int64_t rows[HEVC_SIDE_MAX * HEVC_SIDE_MAX] = {0};
	for (unsigned i = 0; i < side * side; i++) {
		for (unsigned x = 0; x < side; x++)
			rows[i] += (int64_t)factor(side, i % side, x) *
				   (sample_at(coder, block, x, i / side) -
				    block->predicted[i / side * side + x]);
	}
	block->coded = false;
	for (unsigned i = 0; i < side * side; i++) {
		int64_t sum = 0;
		for (unsigned y = 0; y < side; y++)
			sum += factor(side, i / side, y) * rows[y * side + i % side];
		block->levels[i] = (int)((sum + (sum < 0 ? -step : step) / 2) / step);
		block->coded = block->coded || block->levels[i] != 0;
	}
}

/* 8.6.3 and 8.6.4, as a decoder does it. */
static void reconstruct(struct coder *coder, const struct block *block)
{
	const unsigned side = block->side, shift = block->log2 + 3;
	int columns[HEVC_SIDE_MAX * HEVC_SIDE_MAX] = {0};
	for (unsigned i = 0; i < side * side; i++) {
		int sum = 64;
		for (unsigned y = 0; y < side; y++)
			sum += factor(side, y, i / side) *
			       ((block->levels[y * side + i % side] * 16 * SCALE +
				 (1 << shift >> 1)) >>
				shift);
		columns[i] = sum >> 7;
	}
	for (unsigned i = 0; i < side * side; i++) {
		int sum = 1 << 11;
		for (unsigned x = 0; x < side; x++)
			sum += factor(side, x, i % side) * columns[i / side * side + x];
		const int sample = block->predicted[i] + (sum >> 12);
		*decoded_at(coder, block, i % side, i / side) = (uint8_t)(sample < 0	 ? 0
									  : sample > 255 ? 255
											 : sample);
	}
}

static void code(struct coder *coder, struct block *block, unsigned plane, unsigned log2,
		 unsigned x, unsigned y)
{
	*block = (struct block){.plane = plane, .log2 = log2, .side = 1u << log2, .x = x, .y = y};
	predict(coder, block);
	quantise(coder, block);
	reconstruct(coder, block);
}

/* 7.3.8.8 and 7.3.8.10: one transform unit. */
static void put_transforms(struct coder *coder, const struct block *blocks, unsigned log2)
{
	bool any = false;
	if (coder->shape->depth > 0)
		put_bin(coder, SPLIT_TRANSFORM + 5 - log2, false);
	put_bin(coder, CBF_CHROMA, blocks[1].coded);
	put_bin(coder, CBF_CHROMA, blocks[2].coded);
	put_bin(coder, CBF_LUMA, blocks[0].coded);
	for (unsigned i = 0; i < VIDEO_PLANES; i++)
		any = any || blocks[i].coded;
	if (any && !coder->quality_stated)
		put_bin(coder, QUALITY, false);
	coder->quality_stated = coder->quality_stated || any;
	for (unsigned i = 0; i < VIDEO_PLANES; i++) {
		if (blocks[i].coded)
			hevc_residual_put(&coder->cabac, coder->residual, blocks[i].log2, i == 0,
					  blocks[i].levels);
	}
}

static void put_unit(struct coder *coder, unsigned x, unsigned y, unsigned log2)
{
	static struct block blocks[VIDEO_PLANES];
	code(coder, &blocks[0], 0, log2, x, y);
	code(coder, &blocks[1], 1, log2 - 1, x / 2, y / 2);
	code(coder, &blocks[2], 2, log2 - 1, x / 2, y / 2);
	if (coder->shape->slice_type != 2) {
		put_bin(coder, SKIP, false);
		put_bin(coder, INTRA, true);
	}
	put_bin(coder, PART, true);
	put_bin(coder, LUMA_MODE, true); /* the second of the most probable modes: the mean */
	hevc_put_bypass(&coder->cabac, 2, 2);
	put_bin(coder, CHROMA_MODE, false); /* as luma */
	put_transforms(coder, blocks, log2);
}

/* All units have one size, so a neighbour is always split as deeply as this one. */
static void put_tree(struct coder *coder, unsigned x, unsigned y, unsigned log2)
{
	const unsigned half = 1u << log2 >> 1;
	if (log2 == coder->shape->block) {
		put_unit(coder, x, y, log2);
		return;
	}
	put_bin(coder, SPLIT + (x > 0 ? 1u : 0) + (y > 0 ? 1u : 0), true);
	for (unsigned i = 0; i < 4; i++)
		put_tree(coder, x + i % 2 * half, y + i / 2 * half, log2 - 1);
}

void hevc_intra_add(const struct hevc_intra *shape, const struct video_planes *frame,
		    const struct text *header, struct text *stream)
{
	static struct coder coder;
	const unsigned side = 1u << shape->tree;
	memset(&coder, 0, sizeof(coder));
	coder.shape = shape;
	coder.frame = frame;
	text_append(&coder.cabac.out.bytes, header->data + 4, header->size - 4);
	begin_contexts(&coder);
	hevc_cabac_begin(&coder.cabac);
	for (unsigned y = 0; y < shape->height; y += side) {
		for (unsigned x = 0; x < shape->width; x += side) {
			coder.quality_stated = false;
			put_tree(&coder, x, y, shape->tree);
			hevc_put_end(&coder.cabac,
				     x + side == shape->width && y + side == shape->height);
		}
	}
	h264_align(&coder.cabac.out);
	text_append(stream, header->data, 4);
	h264_add_escaped(coder.cabac.out.bytes.data, coder.cabac.out.bytes.size, stream);
	text_free(&coder.cabac.out.bytes);
}
