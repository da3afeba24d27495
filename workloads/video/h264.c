/* SPDX-License-Identifier: MIT */
#include "workloads/video/h264.h"

enum { UNIT_MAX = 32 /* bytes */ };

struct unit {
	uint8_t bytes[UNIT_MAX];
	unsigned count; /* bits */
};

static void put_bits(struct unit *out, unsigned value, unsigned count)
{
	for (unsigned i = count; i-- > 0; out->count++)
		out->bytes[out->count / 8] |= (uint8_t)((value >> i & 1u) << (7 - out->count % 8));
}

static void put_ue(struct unit *out, unsigned value)
{
	unsigned length = 1;
	while ((value + 1) >> length != 0)
		length++;
	put_bits(out, value + 1, 2 * length - 1);
}

void h264_add_sequence(const struct h264_sequence *sequence, const struct video_source *source,
		       struct text *out)
{
	struct unit unit = {{0, 0, 0, 1, 0x67}, 40};
	put_bits(&unit, sequence->profile, 8);
	put_bits(&unit, sequence->constraints, 8);
	put_bits(&unit, sequence->level, 8);
	put_ue(&unit, 0);
	if (sequence->profile == H264_PROFILE_HIGH) {
		put_ue(&unit, 1);      /* 4:2:0 */
		put_bits(&unit, 3, 2); /* 8 bits of luma and of chroma */
		put_bits(&unit, 0, 2); /* no bypass, no scaling matrix */
	}
	put_ue(&unit, H264_FRAME_NUMBER_BITS - 4);
	put_ue(&unit, 0); /* the order of pictures is told */
	put_ue(&unit, H264_ORDER_BITS - 4);
	put_ue(&unit, 1); /* reference */
	put_bits(&unit, 0, 1);
	put_ue(&unit, h264_blocks(source->width) - 1);
	put_ue(&unit, h264_blocks(source->height) - 1);
	/* Frames only, direct_8x8_inference; no cropping, no VUI; the end. */
	put_bits(&unit, 0x19, 5);
	text_append(out, (const char *)unit.bytes, (unit.count + 7) / 8);
}

/* Behind the ids: CAVLC, one group of slices, one reference in each list, no weights, the quantisers as
 * they are by default, and slices say whether they are deblocked. */
void h264_add_picture(struct text *out)
{
	text_append(out, "\0\0\0\1\x68\xCE\x3C\x80", 8);
}
