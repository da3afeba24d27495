/* SPDX-License-Identifier: MIT */
#include "workloads/video/h264.h"

#include "workloads/video/unit.h"

void h264_add_sequence(const struct h264_sequence *sequence, const struct video_source *source,
		       struct text *out)
{
	struct unit unit = {{0x67}, 8};

	unit_put(&unit, sequence->profile, 8);
	unit_put(&unit, sequence->constraints, 8);
	unit_put(&unit, sequence->level, 8);
	unit_put_ue(&unit, 0);
	if (sequence->profile == H264_PROFILE_HIGH) {
		unit_put_ue(&unit, 1); /* 4:2:0 */
		unit_put(&unit, 3, 2); /* 8 bits of luma and of chroma */
		unit_put(&unit, 0, 2); /* no bypass, no scaling matrix */
	}
	unit_put_ue(&unit, H264_FRAME_NUMBER_BITS - 4);
	unit_put_ue(&unit, 0); /* pic_order_cnt_type: each slice states its order count */
	unit_put_ue(&unit, H264_ORDER_BITS - 4);
	unit_put_ue(&unit, 1); /* reference */
	unit_put(&unit, 0, 1);
	unit_put_ue(&unit, h264_blocks(source->width) - 1);
	unit_put_ue(&unit, h264_blocks(source->height) - 1);
	unit_put(&unit, 0xC, 4); /* frames only, direct_8x8_inference; no cropping, no VUI */
	unit_end(&unit, out);
}

/* After the ids: CAVLC, one group of slices, one reference in each list, no weights, default
 * quantisers, and slices state whether they are deblocked. */
void h264_add_picture(struct text *out)
{
	text_append(out, "\0\0\0\1\x68\xCE\x3C\x80", 8);
}
