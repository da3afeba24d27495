/* SPDX-License-Identifier: MIT */
#include "workloads/vaapi/hevc_headers.h"

#include "workloads/video/unit.h"

enum { VPS = 32, SPS = 33, PPS = 34 };

static struct unit begin(unsigned type)
{
	struct unit unit = {{0}, 0};
	unit_put(&unit, type << 1, 7 + 1); /* forbidden_zero_bit, type, layer 0 */
	unit_put(&unit, 1, 5 + 3);	   /* temporal id 0 */
	return unit;
}

/* 7.3.3: compatible to itself and those above, to Main 10 that is. */
static void put_profile(struct unit *unit, const VAEncSequenceParameterBufferHEVC *sequence)
{
	unit_put(unit, sequence->general_profile_idc, 2 + 1 + 5);
	unit_put(unit, 0x60000000, 32);
	unit_put(unit, 0xB, 4); /* progressive, not interlaced, not packed, frames */
	unit_put(unit, 0, 32);
	unit_put(unit, 0, 43 + 1 - 32);
	unit_put(unit, sequence->general_level_idc, 8);
}

/* A picture and its reference are kept, and none waits for another. */
static void put_buffering(struct unit *unit)
{
	unit_put(unit, 1, 1);
	unit_put_ue(unit, 1);
	unit_put_ue(unit, 0);
	unit_put_ue(unit, 0);
}

static void add_video_set(const VAEncSequenceParameterBufferHEVC *sequence, struct text *out)
{
	struct unit unit = begin(VPS);
	unit_put(&unit, 3, 4 + 2); /* id 0; the base layer is there */
	unit_put(&unit, 1, 6 + 3 + 1);
	unit_put(&unit, 0xFFFF, 16);
	put_profile(&unit, sequence);
	put_buffering(&unit);
	unit_put(&unit, 0, 6);
	unit_put_ue(&unit, 0);
	unit_put(&unit, 0, 1 + 1); /* no timing, no extension */
	unit_end(&unit, out);
}

/* What of the coded size is not shown stands at the right and at the bottom. */
static void put_size(struct unit *unit, const struct video_source *source,
		     const VAEncSequenceParameterBufferHEVC *sequence)
{
	const unsigned right = sequence->pic_width_in_luma_samples - source->width;
	const unsigned bottom = sequence->pic_height_in_luma_samples - source->height;
	unit_put_ue(unit, sequence->pic_width_in_luma_samples);
	unit_put_ue(unit, sequence->pic_height_in_luma_samples);
	unit_put(unit, right + bottom > 0, 1);
	if (right + bottom == 0)
		return;
	unit_put_ue(unit, 0);
	unit_put_ue(unit, right / 2);
	unit_put_ue(unit, 0);
	unit_put_ue(unit, bottom / 2);
}

static void put_tools(struct unit *unit, const VAEncSequenceParameterBufferHEVC *sequence)
{
	const unsigned least = sequence->log2_min_pcm_luma_coding_block_size_minus3;
	unit_put_ue(unit, sequence->log2_min_luma_coding_block_size_minus3);
	unit_put_ue(unit, sequence->log2_diff_max_min_luma_coding_block_size);
	unit_put_ue(unit, sequence->log2_min_transform_block_size_minus2);
	unit_put_ue(unit, sequence->log2_diff_max_min_transform_block_size);
	unit_put_ue(unit, sequence->max_transform_hierarchy_depth_inter);
	unit_put_ue(unit, sequence->max_transform_hierarchy_depth_intra);
	unit_put(unit, sequence->seq_fields.bits.amp_enabled_flag, 1 + 1); /* no scaling lists */
	unit_put(unit, sequence->seq_fields.bits.sample_adaptive_offset_enabled_flag, 1);
	unit_put(unit, sequence->seq_fields.bits.pcm_enabled_flag, 1);
	if (!sequence->seq_fields.bits.pcm_enabled_flag)
		return;
	unit_put(unit, sequence->pcm_sample_bit_depth_luma_minus1, 4);
	unit_put(unit, sequence->pcm_sample_bit_depth_chroma_minus1, 4);
	unit_put_ue(unit, least);
	unit_put_ue(unit, sequence->log2_max_pcm_luma_coding_block_size_minus3 - least);
	unit_put(unit, sequence->seq_fields.bits.pcm_loop_filter_disabled_flag, 1);
}

static void add_sequence_set(const struct video_source *source,
			     const VAEncSequenceParameterBufferHEVC *sequence, struct text *out)
{
	struct unit unit = begin(SPS);
	unit_put(&unit, 1, 4 + 3 + 1);
	put_profile(&unit, sequence);
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, sequence->seq_fields.bits.chroma_format_idc);
	put_size(&unit, source, sequence);
	unit_put_ue(&unit, 0); /* 8 bits of luma and of chroma */
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, HEVC_ORDER_BITS - 4);
	put_buffering(&unit);
	put_tools(&unit, sequence);
	unit_put_ue(&unit, 1); /* one set of references: the picture before */
	unit_put_ue(&unit, 1);
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, 0);
	unit_put(&unit, 1, 1);
	unit_put(&unit, 0, 1); /* none of long standing */
	unit_put(&unit, sequence->seq_fields.bits.sps_temporal_mvp_enabled_flag, 1);
	unit_put(&unit, 0, 1 + 1 + 1); /* no strong smoothing, no VUI, no extension */
	unit_end(&unit, out);
}

static void add_picture_set(const VAEncPictureParameterBufferHEVC *picture, struct text *out)
{
	struct unit unit = begin(PPS);
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, 0);
	unit_put(&unit, 0, 1 + 1 + 3); /* no dependent slices, no output flag, no more bits */
	unit_put(&unit, 0, 1 + 1);     /* no hidden signs, one table of CABAC */
	unit_put_ue(&unit, 0);	       /* one reference in each list */
	unit_put_ue(&unit, 0);
	unit_put_se(&unit, picture->pic_init_qp - 26);
	unit_put(&unit, 0, 1 + 1); /* blocks predicted and transformed as usual */
	unit_put(&unit, picture->pic_fields.bits.cu_qp_delta_enabled_flag, 1);
	if (picture->pic_fields.bits.cu_qp_delta_enabled_flag)
		unit_put_ue(&unit, picture->diff_cu_qp_delta_depth);
	unit_put_se(&unit, 0);
	unit_put_se(&unit, 0);
	/* No offsets of chroma in slices, weights, bypass, tiles, wavefronts, filter across slices,
	 * control of deblocking, scaling lists, or other lists of references. */
	unit_put(&unit, 0, 1 + 2 + 1 + 2 + 1 + 1 + 1 + 1);
	unit_put_ue(&unit, 0);
	unit_put(&unit, 0, 1 + 1);
	unit_end(&unit, out);
}

void hevc_add_parameter_sets(const struct video_source *source,
			     const VAEncSequenceParameterBufferHEVC *sequence,
			     const VAEncPictureParameterBufferHEVC *picture, struct text *out)
{
	add_video_set(sequence, out);
	add_sequence_set(source, sequence, out);
	add_picture_set(picture, out);
}

/* What a picture refers to: the set of the sequence. */
static void put_references(struct unit *unit, const VAEncSequenceParameterBufferHEVC *sequence,
			   const VAEncPictureParameterBufferHEVC *picture,
			   const VAEncSliceParameterBufferHEVC *slice)
{
	unit_put(unit, (uint32_t)picture->decoded_curr_pic.pic_order_cnt, HEVC_ORDER_BITS);
	unit_put(unit, 1, 1);
	if (sequence->seq_fields.bits.sps_temporal_mvp_enabled_flag)
		unit_put(unit, slice->slice_fields.bits.slice_temporal_mvp_enabled_flag, 1);
}

/* Lists as long as they are by default. */
static void put_lists(struct unit *unit, const VAEncSliceParameterBufferHEVC *slice)
{
	const bool both = slice->slice_type == HEVC_SLICE_B;
	unit_put(unit, 0, both ? 1 + 1 : 1); /* differences of motion in the second, too */
	if (both && slice->slice_fields.bits.slice_temporal_mvp_enabled_flag)
		unit_put(unit, slice->slice_fields.bits.collocated_from_l0_flag, 1);
	unit_put_ue(unit, HEVC_MERGE_CANDIDATES - (unsigned)slice->max_num_merge_cand);
}

void hevc_add_slice_header(const VAEncSequenceParameterBufferHEVC *sequence,
			   const VAEncPictureParameterBufferHEVC *picture,
			   const VAEncSliceParameterBufferHEVC *slice, struct text *out)
{
	const bool key = picture->pic_fields.bits.idr_pic_flag;
	struct unit unit = begin(picture->nal_unit_type);
	unit_put(&unit, 1, 1); /* the first of the picture */
	if (key)
		unit_put(&unit, 0, 1); /* earlier pictures are shown */
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, slice->slice_type);
	if (!key)
		put_references(&unit, sequence, picture, slice);
	if (sequence->seq_fields.bits.sample_adaptive_offset_enabled_flag) {
		unit_put(&unit, slice->slice_fields.bits.slice_sao_luma_flag, 1);
		unit_put(&unit, slice->slice_fields.bits.slice_sao_chroma_flag, 1);
	}
	if (slice->slice_type != HEVC_SLICE_I)
		put_lists(&unit, slice);
	unit_put_se(&unit, slice->slice_qp_delta);
	unit_end(&unit, out);
}
