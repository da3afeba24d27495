/* SPDX-License-Identifier: MIT */
/* ITU-T H.265: 7.3.8 (slice data). */
#include "workloads/doubles/hevc_pcm.h"

#include "workloads/doubles/hevc_cabac.h"

/* The bins that have a context: split_cu_flag has three. */
enum { SPLIT, SKIP = 3, INTRA, PART, MERGE, OFFSET, CONTEXTS };

struct coder {
	struct hevc_cabac cabac;
	struct hevc_context contexts[CONTEXTS];
};

/* For slices B, P and I, whose initType is 2, 1 and 0. */
static void begin_contexts(struct coder *coder, unsigned slice_type, unsigned quality)
{
	static const uint8_t values[][CONTEXTS] = {
		{107, 139, 126, 197, 134, 154, 153, 160},
		{107, 139, 126, 197, 149, 154, 153, 185},
		{139, 141, 157, 154, 154, 184, 153, 200},
	};
	for (unsigned i = 0; i < CONTEXTS; i++)
		hevc_context_begin(&coder->contexts[i], values[slice_type][i], quality);
}

static void put_bin(struct coder *coder, unsigned context, bool bin)
{
	hevc_put_bin(&coder->cabac, &coder->contexts[context], bin);
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
	hevc_put_end(&coder->cabac, true);
	h264_put_block(&coder->cabac.out, frame, (size_t)1 << log2, x, y);
	hevc_cabac_begin(&coder->cabac);
}

/* All units have one size, so a neighbour is always split as deeply as this one. */
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
	struct coder coder = {.cabac = {.low = 0}};
	text_append(&coder.cabac.out.bytes, header->data + 4, header->size - 4);
	begin_contexts(&coder, shape->slice_type, shape->quality);
	hevc_cabac_begin(&coder.cabac);
	for (unsigned y = 0; y < shape->height; y += side) {
		for (unsigned x = 0; x < shape->width; x += side) {
			if (shape->sao)
				put_no_offsets(&coder, x > 0, y > 0);
			put_tree(&coder, shape, frame, x, y, shape->tree);
			hevc_put_end(&coder.cabac,
				     x + side == shape->width && y + side == shape->height);
		}
	}
	h264_align(&coder.cabac.out);
	text_append(stream, header->data, 4);
	h264_add_escaped(coder.cabac.out.bytes.data, coder.cabac.out.bytes.size, stream);
	text_free(&coder.cabac.out.bytes);
}
