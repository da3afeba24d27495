/* SPDX-License-Identifier: MIT */
#include "workloads/vaapi/hevc_headers.h"

void hevc_add_parameter_sets(const struct video_source *source,
			     const VAEncSequenceParameterBufferHEVC *sequence,
			     const VAEncPictureParameterBufferHEVC *picture, struct text *out)
{
	const unsigned block = sequence->log2_min_luma_coding_block_size_minus3 + 3u;
	const unsigned transform = sequence->log2_min_transform_block_size_minus2 + 2u;
	const bool pcm = sequence->seq_fields.bits.pcm_enabled_flag;

	const struct hevc_sets sets = {
		.profile = sequence->general_profile_idc,
		.level = sequence->general_level_idc,
		.width = sequence->pic_width_in_luma_samples,
		.height = sequence->pic_height_in_luma_samples,
		.block = block,
		.tree = block + sequence->log2_diff_max_min_luma_coding_block_size,
		.transform = transform,
		.transform_max = transform + sequence->log2_diff_max_min_transform_block_size,
		.depth_inter = sequence->max_transform_hierarchy_depth_inter,
		.depth_intra = sequence->max_transform_hierarchy_depth_intra,
		.amp = sequence->seq_fields.bits.amp_enabled_flag,
		.sao = sequence->seq_fields.bits.sample_adaptive_offset_enabled_flag,
		.temporal_mvp = sequence->seq_fields.bits.sps_temporal_mvp_enabled_flag,
		.pcm = pcm ? sequence->log2_min_pcm_luma_coding_block_size_minus3 + 3u : 0,
		.pcm_max = sequence->log2_max_pcm_luma_coding_block_size_minus3 + 3u,
		.quality = picture->pic_init_qp,
		.block_quality = picture->pic_fields.bits.cu_qp_delta_enabled_flag,
	};

	hevc_add_sets(&sets, source, out);
}

void hevc_add_slice_header(const VAEncSequenceParameterBufferHEVC *sequence,
			   const VAEncPictureParameterBufferHEVC *picture,
			   const VAEncSliceParameterBufferHEVC *slice, struct text *out)
{
	const bool key = picture->pic_fields.bits.idr_pic_flag;
	const bool temporal_mvp = slice->slice_fields.bits.slice_temporal_mvp_enabled_flag;
	struct unit unit = hevc_unit(picture->nal_unit_type);

	unit_put(&unit, 1, 1); /* the first of the picture */
	if (key)
		unit_put(&unit, 0, 1); /* earlier pictures are shown */
	unit_put_ue(&unit, 0);
	unit_put_ue(&unit, slice->slice_type);
	if (!key) {
		unit_put(&unit, (uint32_t)picture->decoded_curr_pic.pic_order_cnt, HEVC_ORDER_BITS);
		unit_put(&unit, 1, 1); /* the reference set of the sequence */
		if (sequence->seq_fields.bits.sps_temporal_mvp_enabled_flag)
			unit_put(&unit, temporal_mvp, 1);
	}
	if (sequence->seq_fields.bits.sample_adaptive_offset_enabled_flag) {
		unit_put(&unit, slice->slice_fields.bits.slice_sao_luma_flag, 1);
		unit_put(&unit, slice->slice_fields.bits.slice_sao_chroma_flag, 1);
	}
	if (slice->slice_type != HEVC_SLICE_I) {
		/* Lists have their default lengths, and the second has motion differences, too. */
		const bool both = slice->slice_type == HEVC_SLICE_B;
		unit_put(&unit, 0, both ? 1 + 1 : 1);
		if (both && temporal_mvp)
			unit_put(&unit, slice->slice_fields.bits.collocated_from_l0_flag, 1);
		unit_put_ue(&unit, HEVC_MERGE_CANDIDATES - (unsigned)slice->max_num_merge_cand);
	}
	unit_put_se(&unit, slice->slice_qp_delta);
	unit_end(&unit, out);
}
