/* SPDX-License-Identifier: MIT */
#include "workloads/video/h264.h"

#include <string.h>

enum { NAL_SEQUENCE = 0x67, NAL_PICTURE = 0x68, UNIT_MAX = 32 /* bytes */ };

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
	put_bits(out, 0, length - 1);
	put_bits(out, value + 1, length);
}

static void begin_unit(struct unit *out, unsigned head)
{
	put_bits(out, 1, 32); /* the start code */
	put_bits(out, head, 8);
}

static void add_unit(struct unit *unit, struct text *out)
{
	put_bits(unit, 1, 1);
	text_append(out, (const char *)unit->bytes, (unit->count + 7) / 8);
}

void h264_add_sequence(const struct h264_sequence *sequence, const struct video_source *source,
		       struct text *out)
{
	struct unit unit = {0};
	begin_unit(&unit, NAL_SEQUENCE);
	put_bits(&unit, sequence->profile, 8);
	put_bits(&unit, sequence->constraints, 8);
	put_bits(&unit, sequence->level, 8);
	put_ue(&unit, 0);
	if (sequence->profile == H264_PROFILE_HIGH) {
		put_ue(&unit, 1);      /* 4:2:0 */
		put_ue(&unit, 0);      /* 8 bits of luma */
		put_ue(&unit, 0);      /* and of chroma */
		put_bits(&unit, 0, 2); /* no bypass, no scaling matrix */
	}
	put_ue(&unit, H264_FRAME_NUMBER_BITS - 4);
	put_ue(&unit, 0); /* the order of pictures is told */
	put_ue(&unit, H264_ORDER_BITS - 4);
	put_ue(&unit, 1); /* reference */
	put_bits(&unit, 0, 1);
	put_ue(&unit, source->width / H264_MACROBLOCK - 1);
	put_ue(&unit, source->height / H264_MACROBLOCK - 1);
	put_bits(&unit, 0xC, 4); /* frames only, direct_8x8_inference; no cropping, no VUI */
	add_unit(&unit, out);
}

void h264_add_picture(struct text *out)
{
	struct unit unit = {0};
	begin_unit(&unit, NAL_PICTURE);
	put_ue(&unit, 0);
	put_ue(&unit, 0);
	put_bits(&unit, 0, 2); /* CAVLC */
	put_ue(&unit, 0);
	put_ue(&unit, 0); /* one reference in each list */
	put_ue(&unit, 0);
	put_bits(&unit, 0, 3); /* no weights */
	put_ue(&unit, 0);      /* pic_init_qp_minus26 and the next two are 0 */
	put_ue(&unit, 0);
	put_ue(&unit, 0);
	put_bits(&unit, 4, 3); /* slices say whether they are deblocked */
	add_unit(&unit, out);
}
