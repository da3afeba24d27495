/* SPDX-License-Identifier: MIT */
/* Describes H.264 for VA-API. */
#include "workloads/vaapi/encoder.h"

#include "base/cleanup.h"

enum { SLICE_P = 0, SLICE_I = 2 };

static VAPictureH264 reconstructed(const struct encoder *e, unsigned index)
{
	return (VAPictureH264){
		.picture_id = vaapi_reconstructed(e, index),
		.frame_idx = index,
		.flags = VA_PICTURE_H264_SHORT_TERM_REFERENCE,
		.TopFieldOrderCnt = h264_order(index),
		.BottomFieldOrderCnt = h264_order(index),
	};
}

/* The picture before is the only reference; the first has none. */
static void fill_references(const struct encoder *e, unsigned index, VAPictureH264 *out,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (VAPictureH264){.picture_id = VA_INVALID_SURFACE,
					 .flags = VA_PICTURE_H264_INVALID};
	if (index > 0)
		out[0] = reconstructed(e, index - 1);
}

static void describe(const struct encoder *e, unsigned index, struct vaapi_description *out)
{
	const struct video_source *source = &e->job->source;
	VAEncPictureParameterBufferH264 *picture = &out->picture.h264;
	VAEncSliceParameterBufferH264 *slice = &out->slice.h264;

	VAEncSequenceParameterBufferH264 *sequence = &out->sequence.h264;
	*sequence = (VAEncSequenceParameterBufferH264){
		.level_idc = (uint8_t)e->way.profile->sequence.level,
		.intra_period = VIDEO_FRAMES,
		.intra_idr_period = VIDEO_FRAMES,
		.ip_period = 1,
		.bits_per_second = e->rate_control == VA_RC_CQP ? 0 : VIDEO_BIT_RATE,
		.max_num_ref_frames = 1,
		.picture_width_in_mbs = (uint16_t)h264_blocks(source->width),
		.picture_height_in_mbs = (uint16_t)h264_blocks(source->height),
		.num_units_in_tick = 1,
		.time_scale = 2 * VIDEO_RATE,
	};
	sequence->seq_fields.bits.chroma_format_idc = 1;
	sequence->seq_fields.bits.frame_mbs_only_flag = 1;
	sequence->seq_fields.bits.direct_8x8_inference_flag = 1;
	sequence->seq_fields.bits.log2_max_frame_num_minus4 = H264_FRAME_NUMBER_BITS - 4;
	sequence->seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = H264_ORDER_BITS - 4;

	*picture = (VAEncPictureParameterBufferH264){
		.CurrPic = reconstructed(e, index),
		.coded_buf = e->coded,
		.frame_num = (uint16_t)index,
		.pic_init_qp = INITIAL_QUALITY,
		.last_picture = index + 1 == VIDEO_FRAMES ? H264_LAST_PICTURE_EOSTREAM : 0,
	};
	picture->CurrPic.flags = 0;
	picture->pic_fields.bits.idr_pic_flag = index == 0;
	picture->pic_fields.bits.reference_pic_flag = 1;
	picture->pic_fields.bits.deblocking_filter_control_present_flag = 1;
	fill_references(e, index, picture->ReferenceFrames, ARRAY_SIZE(picture->ReferenceFrames));

	*slice = (VAEncSliceParameterBufferH264){
		.num_macroblocks = h264_blocks(source->width) * h264_blocks(source->height),
		.macroblock_info = VA_INVALID_ID,
		.slice_type = index == 0 ? SLICE_I : SLICE_P,
		.pic_order_cnt_lsb = (uint16_t)h264_order(index),
		.slice_qp_delta = QUALITY - INITIAL_QUALITY,
	};
	fill_references(e, index, slice->RefPicList0, ARRAY_SIZE(slice->RefPicList0));
	fill_references(e, 0, slice->RefPicList1, ARRAY_SIZE(slice->RefPicList1));

	/* Both parameter sets are one header where the driver accepts no header for pictures. */
	if (index > 0 || !(e->packed & VA_ENC_PACKED_HEADER_SEQUENCE))
		return;
	h264_add_sequence(&e->way.profile->sequence, source, &out->headers[HEADER_SEQUENCE]);
	h264_add_picture(
		&out->headers[(e->packed & VA_ENC_PACKED_HEADER_PICTURE) ? HEADER_PICTURE
									 : HEADER_SEQUENCE]);
}

const struct vaapi_codec vaapi_h264 = {
	.packed = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_PICTURE,
	.quality = QUALITY,
	.sequence_size = sizeof(VAEncSequenceParameterBufferH264),
	.picture_size = sizeof(VAEncPictureParameterBufferH264),
	.slice_size = sizeof(VAEncSliceParameterBufferH264),
	.describe = describe,
};
