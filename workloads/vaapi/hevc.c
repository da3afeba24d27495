/* SPDX-License-Identifier: MIT */
/* HEVC as VA-API wants it described: with the tools and sizes of blocks that the driver tells. */
#include "workloads/vaapi/encoder.h"
#include "workloads/vaapi/hevc_headers.h"

#include "base/cleanup.h"

enum {
	PROFILE_MAIN = 1,
	LEVEL = 90, /* 3.0: 720 by 576 at 30 frames a second */
	CODING_I = 1,
	CODING_P = 2,
	CODING_B = 3,
	NO_PICTURE = 0xFF,
};

/* Tools that most encoders have are used where they are there, PCM only where it has to be. Drivers of before VA-API 1.12 tell none, and want asymmetric partitions. */
static int take_features(struct encoder *e, uint32_t told, struct error *err)
{
	const bool silent = told == VA_ATTRIB_NOT_SUPPORTED;
	const bool kept = vaapi_keeps_rate(e);
	const VAConfigAttribValEncHEVCFeatures features = {.value = silent ? 0 : told};
	VAEncSequenceParameterBufferHEVC *sequence = &e->hevc_sequence;
	const unsigned others =
		features.bits.separate_colour_planes | features.bits.scaling_lists |
		features.bits.strong_intra_smoothing | features.bits.dependent_slices |
		features.bits.sign_data_hiding | features.bits.constrained_intra_pred |
		features.bits.transform_skip | features.bits.weighted_prediction |
		features.bits.transquant_bypass | features.bits.deblocking_filter_disable;
	if (vaapi_is_required(others))
		return error_set(err, ERROR_UNSUPPORTED,
				 "the driver requires a tool of HEVC that this probe does not "
				 "describe: VAConfigAttribEncHEVCFeatures is 0x%08x",
				 told);
	sequence->seq_fields.bits.amp_enabled_flag = silent || features.bits.amp != 0;
	sequence->seq_fields.bits.sample_adaptive_offset_enabled_flag = features.bits.sao != 0;
	sequence->seq_fields.bits.sps_temporal_mvp_enabled_flag = features.bits.temporal_mvp != 0;
	sequence->seq_fields.bits.pcm_enabled_flag = vaapi_is_required(features.bits.pcm);
	e->hevc_picture.pic_fields.bits.cu_qp_delta_enabled_flag =
		vaapi_is_required(features.bits.cu_qp_delta) ||
		(kept && (silent || features.bits.cu_qp_delta != 0));
	return 0;
}

static void take_pcm(VAEncSequenceParameterBufferHEVC *sequence, unsigned least, unsigned most)
{
	sequence->seq_fields.bits.pcm_loop_filter_disabled_flag = 1;
	sequence->pcm_sample_bit_depth_luma_minus1 = 7;
	sequence->pcm_sample_bit_depth_chroma_minus1 = 7;
	sequence->log2_min_pcm_luma_coding_block_size_minus3 = least - 3;
	sequence->log2_max_pcm_luma_coding_block_size_minus3 = most - 3;
}

/* Of the oldest encoders (Skylake), whose drivers tell none. */
static const VAConfigAttribValEncHEVCBlockSizes oldest = {
	.bits = {.log2_max_coding_tree_block_size_minus3 = 5 - 3,
		 .log2_min_luma_coding_block_size_minus3 = 4 - 3,
		 .log2_max_luma_transform_block_size_minus2 = 5 - 2,
		 .max_max_transform_hierarchy_depth_inter = 2,
		 .max_max_transform_hierarchy_depth_intra = 2},
};

static unsigned smaller(unsigned left, unsigned right)
{
	return left < right ? left : right;
}

/* The largest of each that the driver has, within what 7.4.3.2.1 of ITU-T H.265 allows; logarithms to
 * the base of 2. */
static int take_blocks(struct encoder *e, uint32_t told, struct error *err)
{
	const VAConfigAttribValEncHEVCBlockSizes sizes =
		told == VA_ATTRIB_NOT_SUPPORTED
			? oldest
			: (VAConfigAttribValEncHEVCBlockSizes){.value = told};
	VAEncSequenceParameterBufferHEVC *sequence = &e->hevc_sequence;
	const bool pcm = sequence->seq_fields.bits.pcm_enabled_flag;
	const unsigned tree = sizes.bits.log2_max_coding_tree_block_size_minus3 + 3;
	const unsigned block = sizes.bits.log2_min_luma_coding_block_size_minus3 + 3;
	const unsigned transform = sizes.bits.log2_min_luma_transform_block_size_minus2 + 2;
	const unsigned largest =
		smaller(sizes.bits.log2_max_luma_transform_block_size_minus2 + 2, tree);
	const unsigned pcm_told = sizes.bits.log2_min_pcm_coding_block_size_minus3 + 3;
	const unsigned pcm_least = pcm_told > block ? pcm_told : block;
	const unsigned pcm_most =
		smaller(sizes.bits.log2_max_pcm_coding_block_size_minus3 + 3, smaller(tree, 5));
	if (tree < 4 || block > tree || transform >= block || largest < transform ||
	    (pcm && pcm_most < pcm_least))
		return error_set(err, ERROR_FORMAT,
				 "no stream of HEVC has blocks of the sizes that the driver tells: "
				 "VAConfigAttribEncHEVCBlockSizes is 0x%08x",
				 told);
	sequence->log2_min_luma_coding_block_size_minus3 = (uint8_t)(block - 3);
	sequence->log2_diff_max_min_luma_coding_block_size = (uint8_t)(tree - block);
	sequence->log2_min_transform_block_size_minus2 = (uint8_t)(transform - 2);
	sequence->log2_diff_max_min_transform_block_size = (uint8_t)(largest - transform);
	sequence->max_transform_hierarchy_depth_inter = (uint8_t)smaller(
		sizes.bits.max_max_transform_hierarchy_depth_inter, tree - transform);
	sequence->max_transform_hierarchy_depth_intra = (uint8_t)smaller(
		sizes.bits.max_max_transform_hierarchy_depth_intra, tree - transform);
	if (pcm)
		take_pcm(sequence, pcm_least, pcm_most);
	e->tree_block = tree;
	e->width = (e->width + (1u << block) - 1) >> block << block;
	e->height = (e->height + (1u << block) - 1) >> block << block;
	return 0;
}

/* A driver of encoders without P pictures (VA_PREDICTION_DIRECTION_BI_NOT_EMPTY: Intel's, in low power)
 * gets B pictures that refer to earlier ones alone. */
static int prepare(struct encoder *e, struct error *err)
{
	VAConfigAttrib told[] = {
		{VAConfigAttribEncHEVCFeatures, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncHEVCBlockSizes, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribPredictionDirection, VA_ATTRIB_NOT_SUPPORTED},
	};
	int rc = CALL(e, err, vaGetConfigAttributes, e->way.profile->profile, e->way.entrypoint,
		      told, ARRAY_SIZE(told));
	if (rc == 0)
		rc = take_features(e, told[0].value, err);
	if (rc == 0)
		rc = take_blocks(e, told[1].value, err);
	e->low_delay_b = told[2].value != VA_ATTRIB_NOT_SUPPORTED &&
			 (told[2].value & VA_PREDICTION_DIRECTION_BI_NOT_EMPTY);
	/* Headers of slices alone would not fit to parameter sets that the driver writes. */
	if (!(e->packed & VA_ENC_PACKED_HEADER_SEQUENCE))
		e->packed = 0;
	return rc;
}

static void describe_sequence(const struct encoder *e, VAEncSequenceParameterBufferHEVC *sequence)
{
	*sequence = e->hevc_sequence;
	sequence->general_profile_idc = PROFILE_MAIN;
	sequence->general_level_idc = LEVEL;
	sequence->intra_period = VIDEO_FRAMES;
	sequence->intra_idr_period = VIDEO_FRAMES;
	sequence->ip_period = 1;
	sequence->bits_per_second = e->rate_control == VA_RC_CQP ? 0 : VIDEO_BIT_RATE;
	sequence->pic_width_in_luma_samples = (uint16_t)e->width;
	sequence->pic_height_in_luma_samples = (uint16_t)e->height;
	sequence->seq_fields.bits.chroma_format_idc = 1;
	sequence->seq_fields.bits.low_delay_seq = e->low_delay_b;
}

static VAPictureHEVC reconstructed(const struct encoder *e, unsigned index)
{
	return (VAPictureHEVC){.picture_id = vaapi_reconstructed(e, index),
			       .pic_order_cnt = (int32_t)index};
}

/* The pictures that one refers to: the one before, or none of an earlier one. */
static void fill_references(const struct encoder *e, unsigned index, VAPictureHEVC *out,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (VAPictureHEVC){.picture_id = VA_INVALID_SURFACE,
					 .flags = VA_PICTURE_HEVC_INVALID};
	if (index > 0)
		out[0] = reconstructed(e, index - 1);
}

static void describe_picture(const struct encoder *e, unsigned index, bool collocated,
			     VAEncPictureParameterBufferHEVC *picture)
{
	*picture = e->hevc_picture;
	picture->decoded_curr_pic = reconstructed(e, index);
	picture->coded_buf = e->coded;
	picture->collocated_ref_pic_index = collocated ? 0 : NO_PICTURE;
	picture->last_picture = index + 1 == VIDEO_FRAMES ? HEVC_LAST_PICTURE_EOSTREAM : 0;
	picture->pic_init_qp = INITIAL_QUALITY;
	picture->nal_unit_type = index == 0 ? HEVC_IDR_W_RADL : HEVC_TRAIL_R;
	picture->pic_fields.bits.idr_pic_flag = index == 0;
	picture->pic_fields.bits.coding_type = index == 0	? CODING_I
					       : e->low_delay_b ? CODING_B
								: CODING_P;
	picture->pic_fields.bits.reference_pic_flag = 1;
	fill_references(e, index, picture->reference_frames, ARRAY_SIZE(picture->reference_frames));
}

static void describe_slice(const struct encoder *e, unsigned index, bool collocated,
			   VAEncSliceParameterBufferHEVC *slice)
{
	const bool sao = e->hevc_sequence.seq_fields.bits.sample_adaptive_offset_enabled_flag;
	const unsigned tree = 1u << e->tree_block;
	*slice = (VAEncSliceParameterBufferHEVC){
		.num_ctu_in_slice = (e->width + tree - 1) / tree * ((e->height + tree - 1) / tree),
		.slice_type = index == 0       ? HEVC_SLICE_I
			      : e->low_delay_b ? HEVC_SLICE_B
					       : HEVC_SLICE_P,
		.max_num_merge_cand = HEVC_MERGE_CANDIDATES,
		.slice_qp_delta = QUALITY - INITIAL_QUALITY,
	};
	fill_references(e, index, slice->ref_pic_list0, ARRAY_SIZE(slice->ref_pic_list0));
	fill_references(e, e->low_delay_b ? index : 0, slice->ref_pic_list1,
			ARRAY_SIZE(slice->ref_pic_list1));
	slice->slice_fields.bits.last_slice_of_pic_flag = 1;
	slice->slice_fields.bits.slice_temporal_mvp_enabled_flag = collocated;
	slice->slice_fields.bits.collocated_from_l0_flag = collocated;
	slice->slice_fields.bits.slice_sao_luma_flag = sao;
	slice->slice_fields.bits.slice_sao_chroma_flag = sao;
}

/* All parameter sets are one header. */
static void describe(const struct encoder *e, unsigned index, struct vaapi_description *out)
{
	const bool collocated =
		index > 0 && e->hevc_sequence.seq_fields.bits.sps_temporal_mvp_enabled_flag;
	describe_sequence(e, &out->sequence.hevc);
	describe_picture(e, index, collocated, &out->picture.hevc);
	describe_slice(e, index, collocated, &out->slice.hevc);
	if (index == 0 && (e->packed & VA_ENC_PACKED_HEADER_SEQUENCE))
		hevc_add_parameter_sets(&e->job->source, &out->sequence.hevc, &out->picture.hevc,
					&out->headers[HEADER_SEQUENCE]);
	if (e->packed & VA_ENC_PACKED_HEADER_SLICE)
		hevc_add_slice_header(&out->sequence.hevc, &out->picture.hevc, &out->slice.hevc,
				      &out->headers[HEADER_SLICE]);
}

const struct vaapi_codec vaapi_hevc = {
	.packed = VA_ENC_PACKED_HEADER_SEQUENCE | VA_ENC_PACKED_HEADER_SLICE,
	.quality = QUALITY,
	.sequence_size = sizeof(VAEncSequenceParameterBufferHEVC),
	.picture_size = sizeof(VAEncPictureParameterBufferHEVC),
	.slice_size = sizeof(VAEncSliceParameterBufferHEVC),
	.prepare = prepare,
	.describe = describe,
};
