/* SPDX-License-Identifier: MIT */
/* Describes HEVC for VA-API: with the tools and block sizes that the driver reports. */
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

/* Uses common tools where the driver has them, and PCM only where it is required. Drivers before
 * VA-API 1.12 report no tools, and require asymmetric partitions. */
static int choose_tools(struct encoder *e, uint32_t reported, struct error *err)
{
	const bool unknown = reported == VA_ATTRIB_NOT_SUPPORTED;
	const VAConfigAttribValEncHEVCFeatures features = {.value = unknown ? 0 : reported};
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
				 reported);
	sequence->seq_fields.bits.amp_enabled_flag = unknown || features.bits.amp != 0;
	sequence->seq_fields.bits.sample_adaptive_offset_enabled_flag = features.bits.sao != 0;
	sequence->seq_fields.bits.sps_temporal_mvp_enabled_flag = features.bits.temporal_mvp != 0;
	sequence->seq_fields.bits.pcm_enabled_flag = vaapi_is_required(features.bits.pcm);
	e->hevc_picture.pic_fields.bits.cu_qp_delta_enabled_flag =
		vaapi_is_required(features.bits.cu_qp_delta) ||
		(vaapi_keeps_rate(e) && (unknown || features.bits.cu_qp_delta != 0));
	return 0;
}

/* Those of the oldest encoders (Skylake), whose drivers report none. */
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

/* Chooses the largest sizes that the driver has, within the limits of 7.4.3.2.1 of ITU-T H.265;
 * logarithms to base 2. */
static int choose_blocks(struct encoder *e, uint32_t reported, struct error *err)
{
	const VAConfigAttribValEncHEVCBlockSizes sizes =
		reported == VA_ATTRIB_NOT_SUPPORTED
			? oldest
			: (VAConfigAttribValEncHEVCBlockSizes){.value = reported};
	VAEncSequenceParameterBufferHEVC *sequence = &e->hevc_sequence;
	const bool pcm = sequence->seq_fields.bits.pcm_enabled_flag;
	const unsigned tree = sizes.bits.log2_max_coding_tree_block_size_minus3 + 3;
	const unsigned block = sizes.bits.log2_min_luma_coding_block_size_minus3 + 3;
	const unsigned transform = sizes.bits.log2_min_luma_transform_block_size_minus2 + 2;
	const unsigned largest =
		smaller(sizes.bits.log2_max_luma_transform_block_size_minus2 + 2, tree);
	const unsigned pcm_reported = sizes.bits.log2_min_pcm_coding_block_size_minus3 + 3;
	const unsigned pcm_least = pcm_reported > block ? pcm_reported : block;
	const unsigned pcm_most =
		smaller(sizes.bits.log2_max_pcm_coding_block_size_minus3 + 3, smaller(tree, 5));

	if (tree < 4 || block > tree || transform >= block || largest < transform ||
	    (pcm && pcm_most < pcm_least))
		return error_set(err, ERROR_FORMAT,
				 "no HEVC stream has blocks of the sizes that the driver reports: "
				 "VAConfigAttribEncHEVCBlockSizes is 0x%08x",
				 reported);
	sequence->log2_min_luma_coding_block_size_minus3 = (uint8_t)(block - 3);
	sequence->log2_diff_max_min_luma_coding_block_size = (uint8_t)(tree - block);
	sequence->log2_min_transform_block_size_minus2 = (uint8_t)(transform - 2);
	sequence->log2_diff_max_min_transform_block_size = (uint8_t)(largest - transform);
	sequence->max_transform_hierarchy_depth_inter = (uint8_t)smaller(
		sizes.bits.max_max_transform_hierarchy_depth_inter, tree - transform);
	sequence->max_transform_hierarchy_depth_intra = (uint8_t)smaller(
		sizes.bits.max_max_transform_hierarchy_depth_intra, tree - transform);
	if (pcm) {
		sequence->seq_fields.bits.pcm_loop_filter_disabled_flag = 1;
		sequence->pcm_sample_bit_depth_luma_minus1 = 7;
		sequence->pcm_sample_bit_depth_chroma_minus1 = 7;
		sequence->log2_min_pcm_luma_coding_block_size_minus3 = pcm_least - 3;
		sequence->log2_max_pcm_luma_coding_block_size_minus3 = pcm_most - 3;
	}
	e->tree_block = tree;
	e->width = (e->width + (1u << block) - 1) >> block << block;
	e->height = (e->height + (1u << block) - 1) >> block << block;
	return 0;
}

static int prepare(struct encoder *e, struct error *err)
{
	VAConfigAttrib offered[] = {
		{VAConfigAttribEncHEVCFeatures, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribEncHEVCBlockSizes, VA_ATTRIB_NOT_SUPPORTED},
		{VAConfigAttribPredictionDirection, VA_ATTRIB_NOT_SUPPORTED},
	};

	int rc = CALL(e, err, vaGetConfigAttributes, e->way.profile->profile, e->way.entrypoint,
		      offered, ARRAY_SIZE(offered));
	if (rc == 0)
		rc = choose_tools(e, offered[0].value, err);
	if (rc == 0)
		rc = choose_blocks(e, offered[1].value, err);
	/* Encoders without P pictures (Intel's, in low power) get B pictures that refer only to
	 * earlier ones. */
	e->low_delay_b = offered[2].value != VA_ATTRIB_NOT_SUPPORTED &&
			 (offered[2].value & VA_PREDICTION_DIRECTION_BI_NOT_EMPTY);
	/* Slice headers of ours would not match parameter sets that the driver writes. */
	if (!(e->packed & VA_ENC_PACKED_HEADER_SEQUENCE))
		e->packed = 0;
	return rc;
}

static VAPictureHEVC reconstructed(const struct encoder *e, unsigned index)
{
	return (VAPictureHEVC){.picture_id = vaapi_reconstructed(e, index),
			       .pic_order_cnt = (int32_t)index};
}

/* The picture before is the only reference; the first has none. */
static void fill_references(const struct encoder *e, unsigned index, VAPictureHEVC *out,
			    size_t count)
{
	for (size_t i = 0; i < count; i++)
		out[i] = (VAPictureHEVC){.picture_id = VA_INVALID_SURFACE,
					 .flags = VA_PICTURE_HEVC_INVALID};
	if (index > 0)
		out[0] = reconstructed(e, index - 1);
}

static void describe(const struct encoder *e, unsigned index, struct vaapi_description *out)
{
	const bool collocated =
		index > 0 && e->hevc_sequence.seq_fields.bits.sps_temporal_mvp_enabled_flag;
	const bool sao = e->hevc_sequence.seq_fields.bits.sample_adaptive_offset_enabled_flag;
	const unsigned tree = 1u << e->tree_block;
	VAEncPictureParameterBufferHEVC *picture = &out->picture.hevc;
	VAEncSliceParameterBufferHEVC *slice = &out->slice.hevc;

	VAEncSequenceParameterBufferHEVC *sequence = &out->sequence.hevc;
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

	*picture = e->hevc_picture;
	picture->decoded_curr_pic = reconstructed(e, index);
	picture->coded_buf = e->coded;
	picture->collocated_ref_pic_index = collocated ? 0 : NO_PICTURE;
	picture->last_picture = index + 1 == VIDEO_FRAMES ? HEVC_LAST_PICTURE_EOSTREAM : 0;
	picture->pic_init_qp = INITIAL_QUALITY;
	picture->nal_unit_type = index == 0 ? HEVC_IDR_W_RADL : HEVC_TRAIL_R;
	picture->pic_fields.bits.idr_pic_flag = index == 0;
	picture->pic_fields.bits.coding_type = e->low_delay_b ? CODING_B : CODING_P;
	picture->pic_fields.bits.reference_pic_flag = 1;
	fill_references(e, index, picture->reference_frames, ARRAY_SIZE(picture->reference_frames));

	*slice = (VAEncSliceParameterBufferHEVC){
		.num_ctu_in_slice = (e->width + tree - 1) / tree * ((e->height + tree - 1) / tree),
		.slice_type = e->low_delay_b ? HEVC_SLICE_B : HEVC_SLICE_P,
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
	if (index == 0) {
		picture->pic_fields.bits.coding_type = CODING_I;
		slice->slice_type = HEVC_SLICE_I;
	}

	/* All parameter sets are one header. */
	if (index == 0 && (e->packed & VA_ENC_PACKED_HEADER_SEQUENCE))
		hevc_add_parameter_sets(&e->job->source, sequence, picture,
					&out->headers[HEADER_SEQUENCE]);
	if (e->packed & VA_ENC_PACKED_HEADER_SLICE)
		hevc_add_slice_header(sequence, picture, slice, &out->headers[HEADER_SLICE]);
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
