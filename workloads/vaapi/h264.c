/* SPDX-License-Identifier: MIT */
/* A picture of H.264 as VA-API describes it, and its parameter sets for drivers that want to be given
 * them. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

#include <stddef.h>
#include <string.h>

enum {
	QUALITY = 24, /* the quantiser, where no rate is kept */
	INITIAL_QUALITY = 26,
	SLICE_P = 0,
	SLICE_I = 2,
};

/* Makes a buffer of the picture that is about to be rendered. */
static int add_buffer(struct vaapi_encoder *e, VABufferType type, const void *data, size_t size,
		      struct error *err)
{
	int rc = VAAPI_CALL(e, err, vaCreateBuffer, e->context, type, (unsigned)size, 1,
			    (void *)(uintptr_t)data, &e->buffers[e->buffer_count]);
	e->buffer_count += rc == 0;
	return rc;
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
	int rc = add_buffer(e, VAEncPackedHeaderParameterBufferType, &parameter, sizeof(parameter),
			    err);
	return rc == 0 ? add_buffer(e, VAEncPackedHeaderDataBufferType, header->data, header->size,
				    err)
		       : rc;
}

/* Both in one where the driver takes no header of its own for pictures. */
static int add_headers(struct vaapi_encoder *e, struct error *err)
{
	struct text sps CLEANUP_TEXT = {0}, pps CLEANUP_TEXT = {0};
	const bool apart = (e->packed & VA_ENC_PACKED_HEADER_PICTURE) != 0;
	if ((e->packed & VA_ENC_PACKED_HEADER_SEQUENCE) == 0)
		return 0;
	h264_add_sequence(&e->way.profile->sequence, &e->job->source, &sps);
	h264_add_picture(apart ? &pps : &sps);
	int rc = add_packed(e, VAEncPackedHeaderSequence, &sps, err);
	return rc == 0 && apart ? add_packed(e, VAEncPackedHeaderPicture, &pps, err) : rc;
}

static int add_sequence(struct vaapi_encoder *e, struct error *err)
{
	VAEncSequenceParameterBufferH264 sequence = {
		.level_idc = (uint8_t)e->way.profile->sequence.level,
		.intra_period = VIDEO_FRAMES,
		.intra_idr_period = VIDEO_FRAMES,
		.ip_period = 1,
		.bits_per_second = e->rate_control == VA_RC_CQP ? 0 : VIDEO_BIT_RATE,
		.max_num_ref_frames = 1,
		.picture_width_in_mbs = (uint16_t)h264_blocks(e->job->source.width),
		.picture_height_in_mbs = (uint16_t)h264_blocks(e->job->source.height),
		.num_units_in_tick = 1,
		.time_scale = 2 * VIDEO_RATE,
	};
	sequence.seq_fields.bits.chroma_format_idc = 1;
	sequence.seq_fields.bits.frame_mbs_only_flag = 1;
	sequence.seq_fields.bits.direct_8x8_inference_flag = 1;
	sequence.seq_fields.bits.log2_max_frame_num_minus4 = H264_FRAME_NUMBER_BITS - 4;
	sequence.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = H264_ORDER_BITS - 4;
	return add_buffer(e, VAEncSequenceParameterBufferType, &sequence, sizeof(sequence), err);
}

/* A parameter behind its type. */
static int add_other(struct vaapi_encoder *e, VAEncMiscParameterType type, const void *parameter,
		     size_t size, struct error *err)
{
	uint8_t bytes[256] = {0};
	const size_t head = offsetof(VAEncMiscParameterBuffer, data);
	memcpy(bytes, &type, sizeof(type));
	memcpy(bytes + head, parameter, size);
	return add_buffer(e, VAEncMiscParameterBufferType, bytes, head + size, err);
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
	return rc == 0 ? add_other(e, VAEncMiscParameterTypeFrameRate, &frames, sizeof(frames), err)
		       : rc;
}

/* What a coded picture looks like when it is decoded: the two surfaces take turns. */
static VAPictureH264 reconstructed(const struct vaapi_encoder *e, unsigned index)
{
	return (VAPictureH264){
		.picture_id = e->surfaces[VAAPI_RECONSTRUCTED + index % 2],
		.frame_idx = index,
		.flags = VA_PICTURE_H264_SHORT_TERM_REFERENCE,
		.TopFieldOrderCnt = h264_order(index),
		.BottomFieldOrderCnt = h264_order(index),
	};
}

/* The pictures that one refers to: the one before, or none of an earlier one. */
static void fill_references(const struct vaapi_encoder *e, unsigned index, VAPictureH264 *out,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (VAPictureH264){.picture_id = VA_INVALID_SURFACE,
					 .flags = VA_PICTURE_H264_INVALID};
	if (index > 0)
		out[0] = reconstructed(e, index - 1);
}

static int add_picture(struct vaapi_encoder *e, unsigned index, struct error *err)
{
	VAEncPictureParameterBufferH264 picture = {
		.CurrPic = reconstructed(e, index),
		.coded_buf = e->coded,
		.frame_num = (uint16_t)index,
		.pic_init_qp = INITIAL_QUALITY,
		.last_picture = index + 1 == VIDEO_FRAMES ? H264_LAST_PICTURE_EOSTREAM : 0,
	};
	fill_references(e, index, picture.ReferenceFrames, ARRAY_SIZE(picture.ReferenceFrames));
	picture.CurrPic.flags = 0;
	picture.pic_fields.bits.idr_pic_flag = index == 0;
	picture.pic_fields.bits.reference_pic_flag = 1;
	picture.pic_fields.bits.deblocking_filter_control_present_flag = 1;
	return add_buffer(e, VAEncPictureParameterBufferType, &picture, sizeof(picture), err);
}

static int add_slice(struct vaapi_encoder *e, unsigned index, struct error *err)
{
	VAEncSliceParameterBufferH264 slice = {
		.num_macroblocks =
			h264_blocks(e->job->source.width) * h264_blocks(e->job->source.height),
		.macroblock_info = VA_INVALID_ID,
		.slice_type = index == 0 ? SLICE_I : SLICE_P,
		.pic_order_cnt_lsb = (uint16_t)h264_order(index),
		.slice_qp_delta = QUALITY - INITIAL_QUALITY,
	};
	fill_references(e, index, slice.RefPicList0, ARRAY_SIZE(slice.RefPicList0));
	fill_references(e, 0, slice.RefPicList1, ARRAY_SIZE(slice.RefPicList1));
	return add_buffer(e, VAEncSliceParameterBufferType, &slice, sizeof(slice), err);
}

int vaapi_h264_describe(struct vaapi_encoder *e, unsigned index, struct error *err)
{
	int rc = index == 0 ? add_sequence(e, err) : 0;
	if (rc == 0 && index == 0)
		rc = add_rate(e, err);
	if (rc == 0)
		rc = add_picture(e, index, err);
	if (rc == 0 && index == 0)
		rc = add_headers(e, err);
	return rc == 0 ? add_slice(e, index, err) : rc;
}
