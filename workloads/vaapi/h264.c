/* SPDX-License-Identifier: MIT */
/* A picture of H.264 as VA-API describes it, and its parameter sets for drivers that want to be given
 * them: ITU-T H.264, 7.3.2.1.1 and 7.3.2.2. */
#include "workloads/vaapi/vaapi.h"

#include "base/cleanup.h"

#include <stddef.h>
#include <string.h>

enum {
	MACROBLOCK = 16,
	LEVEL = 30, /* 720 by 576 at 25 frames a second */
	FRAME_NUMBER_BITS = 8,
	ORDER_BITS = 8,
	QUALITY = 24, /* the quantiser, where no rate is kept */
	SLICE_P = 0,
	SLICE_I = 2,
	NAL_SPS = 0x67,
	NAL_PPS = 0x68,
	HIGH = 100,
	HEADERS_MAX = 64, /* bytes */
};

struct bit_writer {
	uint8_t bytes[HEADERS_MAX];
	unsigned count; /* bits */
};

static void put_bits(struct bit_writer *out, unsigned value, unsigned count)
{
	for (unsigned i = count; i-- > 0; out->count++)
		out->bytes[out->count / 8] |= (uint8_t)((value >> i & 1u) << (7 - out->count % 8));
}

static void put_ue(struct bit_writer *out, unsigned value)
{
	unsigned length = 1;
	while ((value + 1) >> length != 0)
		length++;
	put_bits(out, 0, length - 1);
	put_bits(out, value + 1, length);
}

static void begin_unit(struct bit_writer *out, unsigned head)
{
	put_bits(out, 1, 32); /* the start code */
	put_bits(out, head, 8);
}

static void end_unit(struct bit_writer *out)
{
	put_bits(out, 1, 1);
	out->count = (out->count + 7) / 8 * 8;
}

static void put_sps(const struct vaapi_encoder *e, struct bit_writer *out)
{
	static const struct {
		VAProfile profile;
		unsigned number, constraints;
	} profiles[] = {
		{VAProfileH264ConstrainedBaseline, 66, 0xC0},
		{VAProfileH264Main, 77, 0x40},
		{VAProfileH264High, HIGH, 0},
	};
	const struct video_source *source = &e->job->source;
	size_t i = 0;
	while (i + 1 < ARRAY_SIZE(profiles) && profiles[i].profile != e->way.profile)
		i++;
	begin_unit(out, NAL_SPS);
	put_bits(out, profiles[i].number, 8);
	put_bits(out, profiles[i].constraints, 8);
	put_bits(out, LEVEL, 8);
	put_ue(out, 0);
	if (profiles[i].number == HIGH) {
		put_ue(out, 1);	     /* 4:2:0 */
		put_ue(out, 0);	     /* 8 bits of luma */
		put_ue(out, 0);	     /* and of chroma */
		put_bits(out, 0, 2); /* no bypass, no scaling matrix */
	}
	put_ue(out, FRAME_NUMBER_BITS - 4);
	put_ue(out, 0); /* the order of pictures is told */
	put_ue(out, ORDER_BITS - 4);
	put_ue(out, 1); /* reference */
	put_bits(out, 0, 1);
	put_ue(out, source->width / MACROBLOCK - 1);
	put_ue(out, source->height / MACROBLOCK - 1);
	put_bits(out, 0xC, 4); /* frames only, direct_8x8_inference; no cropping, no VUI */
	end_unit(out);
}

static void put_pps(struct bit_writer *out)
{
	begin_unit(out, NAL_PPS);
	put_ue(out, 0);
	put_ue(out, 0);
	put_bits(out, 0, 2); /* CAVLC */
	put_ue(out, 0);
	put_ue(out, 0); /* one reference in each list */
	put_ue(out, 0);
	put_bits(out, 0, 3); /* no weights */
	put_ue(out, 0);	     /* pic_init_qp_minus26 and the next two are 0 */
	put_ue(out, 0);
	put_ue(out, 0);
	put_bits(out, 4, 3); /* slices say whether they are deblocked */
	end_unit(out);
}

static int add_packed(struct vaapi_encoder *e, VAEncPackedHeaderType type,
		      const struct bit_writer *header, struct error *err)
{
	const VAEncPackedHeaderParameterBuffer parameter = {
		.type = type,
		.bit_length = header->count,
		.has_emulation_bytes = 0,
	};
	int rc = vaapi_add_buffer(e, VAEncPackedHeaderParameterBufferType, &parameter,
				  sizeof(parameter), err);
	if (rc == 0)
		rc = vaapi_add_buffer(e, VAEncPackedHeaderDataBufferType, header->bytes,
				      header->count / 8, err);
	return rc;
}

/* Both in one where the driver takes no header of its own for pictures. */
static int add_headers(struct vaapi_encoder *e, struct error *err)
{
	struct bit_writer sps = {0}, pps = {0};
	const bool apart = (e->packed & VA_ENC_PACKED_HEADER_PICTURE) != 0;
	if ((e->packed & VA_ENC_PACKED_HEADER_SEQUENCE) == 0)
		return 0;
	put_sps(e, &sps);
	put_pps(apart ? &pps : &sps);
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
		.picture_width_in_mbs = (uint16_t)(e->job->source.width / MACROBLOCK),
		.picture_height_in_mbs = (uint16_t)(e->job->source.height / MACROBLOCK),
		.num_units_in_tick = 1,
		.time_scale = 2 * VIDEO_RATE,
	};
	sequence.seq_fields.bits.chroma_format_idc = 1;
	sequence.seq_fields.bits.frame_mbs_only_flag = 1;
	sequence.seq_fields.bits.direct_8x8_inference_flag = 1;
	sequence.seq_fields.bits.log2_max_frame_num_minus4 = FRAME_NUMBER_BITS - 4;
	sequence.seq_fields.bits.log2_max_pic_order_cnt_lsb_minus4 = ORDER_BITS - 4;
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
		.num_macroblocks = source->width / MACROBLOCK * (source->height / MACROBLOCK),
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
