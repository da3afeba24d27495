/* SPDX-License-Identifier: MIT */
/* A picture of H.264 as VA-API describes it, and its parameter sets for drivers that want to be given
 * them. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"
#include "workloads/video/h264.h"

#include <stddef.h>
#include <string.h>

enum {
	LEVEL = 30,   /* 720 by 576 at 25 frames a second */
	QUALITY = 24, /* the quantiser, where no rate is kept */
	SLICE_P = 0,
	SLICE_I = 2,
};

static struct h264_sequence choose_sequence(VAProfile profile)
{
	static const struct {
		VAProfile profile;
		struct h264_sequence sequence;
	} rows[] = {
		{VAProfileH264ConstrainedBaseline, {H264_PROFILE_BASELINE, 0xC0, LEVEL}},
		{VAProfileH264Main, {H264_PROFILE_MAIN, 0x40, LEVEL}},
		{VAProfileH264High, {H264_PROFILE_HIGH, 0, LEVEL}},
	};
	size_t i = 0;
	while (i + 1 < ARRAY_SIZE(rows) && rows[i].profile != profile)
		i++;
	return rows[i].sequence;
}

static int add_packed(struct vaapi_encoder *e, VAEncPackedHeaderType type,
		      const struct text *header, struct error *err)
{
	const VAEncPackedHeaderParameterBuffer parameter = {
		.type = type,
		.bit_length = 8 * (unsigned)header->size,
		.has_emulation_bytes = 0,
	};
	if (header->failed)
		return error_memory(err);
	int rc = vaapi_add_buffer(e, VAEncPackedHeaderParameterBufferType, &parameter,
				  sizeof(parameter), err);
	if (rc == 0)
		rc = vaapi_add_buffer(e, VAEncPackedHeaderDataBufferType, header->data,
				      header->size, err);
	return rc;
}

/* Both in one where the driver takes no header of its own for pictures. */
static int add_headers(struct vaapi_encoder *e, struct error *err)
{
	struct text sps CLEANUP_TEXT = {0}, pps CLEANUP_TEXT = {0};
	const struct h264_sequence sequence = choose_sequence(e->way.profile);
	const bool apart = (e->packed & VA_ENC_PACKED_HEADER_PICTURE) != 0;
	if ((e->packed & VA_ENC_PACKED_HEADER_SEQUENCE) == 0)
		return 0;
	h264_add_sequence(&sequence, &e->job->source, &sps);
	h264_add_picture(apart ? &pps : &sps);
	int rc = add_packed(e, VAEncPackedHeaderSequence, &sps, err);
	if (rc == 0 && apart)
		rc = add_packed(e, VAEncPackedHeaderPicture, &pps, err);
	return rc;
}

static int add_sequence(struct vaapi_encoder *e, struct error *err)
{
	VAEncSequenceParameterBufferH264 sequence = {
		.level_idc = LEVEL,
		.intra_period = VIDEO_FRAMES,
		.intra_idr_period = VIDEO_FRAMES,
		.ip_period = 1,
		.bits_per_second = e->rate_control == VA_RC_CQP ? 0 : VIDEO_BIT_RATE,
		.max_num_ref_frames = 1,
		.picture_width_in_mbs = (uint16_t)(e->job->source.width / H264_MACROBLOCK),
		.picture_height_in_mbs = (uint16_t)(e->job->source.height / H264_MACROBLOCK),
		.num_units_in_tick = 1,
		.time_scale = 2 * VIDEO_RATE,
	};
	sequence.seq_fields.bits.chroma_format_idc = 1;
	sequence.seq_fields.bits.frame_mbs_only_flag = 1;
	sequence.seq_fields.bits.direct_8x8_inference_flag = 1;
	sequence.seq_fields.bits.log2_max_frame_num_minus4 = H264_FRAME_NUMBER_BITS - 4;
	sequence.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = H264_ORDER_BITS - 4;
	return vaapi_add_buffer(e, VAEncSequenceParameterBufferType, &sequence, sizeof(sequence),
				err);
}

/* A parameter behind its type. */
static int add_other(struct vaapi_encoder *e, VAEncMiscParameterType type, const void *parameter,
		     size_t size, struct error *err)
{
	uint8_t bytes[256] = {0};
	const size_t head = offsetof(VAEncMiscParameterBuffer, data);
	memcpy(bytes, &type, sizeof(type));
	memcpy(bytes + head, parameter, size);
	return vaapi_add_buffer(e, VAEncMiscParameterBufferType, bytes, head + size, err);
}

static int add_rate(struct vaapi_encoder *e, struct error *err)
{
	const VAEncMiscParameterRateControl rate = {
		.bits_per_second = VIDEO_BIT_RATE,
		.target_percentage = 100,
		.window_size = 1000,
		.initial_qp = QUALITY,
	};
	const VAEncMiscParameterFrameRate frames = {.framerate = VIDEO_RATE};
	if (e->rate_control != VA_RC_CBR && e->rate_control != VA_RC_VBR)
		return 0;
	int rc = add_other(e, VAEncMiscParameterTypeRateControl, &rate, sizeof(rate), err);
	if (rc == 0)
		rc = add_other(e, VAEncMiscParameterTypeFrameRate, &frames, sizeof(frames), err);
	return rc;
}

static VAPictureH264 no_picture(void)
{
	return (VAPictureH264){.picture_id = VA_INVALID_SURFACE, .flags = VA_PICTURE_H264_INVALID};
}

/* What a coded picture looks like when it is decoded: the two surfaces take turns. */
static VAPictureH264 reconstructed(const struct vaapi_encoder *e, unsigned index)
{
	return (VAPictureH264){
		.picture_id = e->surfaces[VAAPI_RECONSTRUCTED + index % 2],
		.frame_idx = index,
		.flags = VA_PICTURE_H264_SHORT_TERM_REFERENCE,
		.TopFieldOrderCnt = 2 * (int32_t)index,
		.BottomFieldOrderCnt = 2 * (int32_t)index,
	};
}

static int add_picture(struct vaapi_encoder *e, unsigned index, struct error *err)
{
	VAEncPictureParameterBufferH264 picture = {
		.CurrPic = reconstructed(e, index),
		.coded_buf = e->coded,
		.frame_num = (uint16_t)index,
		.pic_init_qp = 26,
		.last_picture = index + 1 == VIDEO_FRAMES ? H264_LAST_PICTURE_EOSTREAM : 0,
	};
	for (size_t i = 0; i < ARRAY_SIZE(picture.ReferenceFrames); i++)
		picture.ReferenceFrames[i] =
			i == 0 && index > 0 ? reconstructed(e, index - 1) : no_picture();
	picture.CurrPic.flags = 0;
	picture.pic_fields.bits.idr_pic_flag = index == 0;
	picture.pic_fields.bits.reference_pic_flag = 1;
	picture.pic_fields.bits.deblocking_filter_control_present_flag = 1;
	return vaapi_add_buffer(e, VAEncPictureParameterBufferType, &picture, sizeof(picture), err);
}

static int add_slice(struct vaapi_encoder *e, unsigned index, struct error *err)
{
	const struct video_source *source = &e->job->source;
	VAEncSliceParameterBufferH264 slice = {
		.num_macroblocks =
			source->width / H264_MACROBLOCK * (source->height / H264_MACROBLOCK),
		.macroblock_info = VA_INVALID_ID,
		.slice_type = index == 0 ? SLICE_I : SLICE_P,
		.pic_order_cnt_lsb = (uint16_t)(2 * index),
		.slice_qp_delta = QUALITY - 26,
	};
	for (size_t i = 0; i < ARRAY_SIZE(slice.RefPicList0); i++) {
		slice.RefPicList0[i] =
			i == 0 && index > 0 ? reconstructed(e, index - 1) : no_picture();
		slice.RefPicList1[i] = no_picture();
	}
	return vaapi_add_buffer(e, VAEncSliceParameterBufferType, &slice, sizeof(slice), err);
}

int vaapi_h264_describe(struct vaapi_encoder *e, unsigned index, struct error *err)
{
	int rc = 0;
	if (index == 0) {
		rc = add_sequence(e, err);
		if (rc == 0)
			rc = add_rate(e, err);
	}
	if (rc == 0)
		rc = add_picture(e, index, err);
	if (rc == 0 && index == 0)
		rc = add_headers(e, err);
	return rc == 0 ? add_slice(e, index, err) : rc;
}
