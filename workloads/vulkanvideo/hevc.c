/* SPDX-License-Identifier: MIT */
/* Describes HEVC for Vulkan: with trees and transforms of the sizes that the driver reports. */
#include "workloads/vulkanvideo/vulkanvideo.h"

#include <string.h>

enum {
	TREES = 5, /* indices of values[]: ctbSizes, from 16 by 16, and transformBlockSizes, from 4 by 4 */
	TRANSFORMS,
	ORDER_BITS = 8, /* of slice_pic_order_cnt_lsb */
};

/* The picture before. */
static const StdVideoH265ShortTermRefPicSet references = {
	.num_negative_pics = 1,
	.used_by_curr_pic_s0_flag = 1,
};

static int make_parameters(struct vulkanvideo_encoder *e, struct error *err)
{
	/* The largest sizes that the driver has, as logarithms to base 2 (ITU-T H.265, 7.4.3.2.1). */
	const uint32_t trees = e->capabilities.codec.values[TREES];
	const uint32_t transforms = e->capabilities.codec.values[TRANSFORMS];
	const uint8_t tree = trees & 4 ? 6 : trees & 2 ? 5 : 4;
	const uint8_t least = transforms & 1 ? 2 : 3, block = least + 1;
	const uint8_t reported = transforms & 8 ? 5 : transforms & 4 ? 4 : 3;
	const uint8_t largest = reported < tree ? reported : tree;
	if ((transforms & 3) == 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the driver has no transforms of 4 by 4 or 8 by 8: "
				 "transformBlockSizes is 0x%x",
				 transforms);

	const StdVideoH265ProfileTierLevel profile = {
		.flags = {.general_progressive_source_flag = 1,
			  .general_frame_only_constraint_flag = 1},
		.general_profile_idc = (StdVideoH265ProfileIdc)e->profile.codec.values[0],
		.general_level_idc = STD_VIDEO_H265_LEVEL_IDC_3_0,
	};
	const StdVideoH265DecPicBufMgr buffering = {.max_dec_pic_buffering_minus1 = {1}};
	const StdVideoH265VideoParameterSet vps = {
		.flags = {.vps_temporal_id_nesting_flag = 1},
		.pDecPicBufMgr = &buffering,
		.pProfileTierLevel = &profile,
	};
	const StdVideoH265PictureParameterSet pps = {
		.flags = {.cu_qp_delta_enabled_flag = !e->constant_qp},
	};
	const StdVideoH265SequenceParameterSet sps = {
		.flags = {.sps_temporal_id_nesting_flag = 1},
		.chroma_format_idc = STD_VIDEO_H265_CHROMA_FORMAT_IDC_420,
		.pic_width_in_luma_samples = e->job->source.width,
		.pic_height_in_luma_samples = e->job->source.height,
		.log2_max_pic_order_cnt_lsb_minus4 = ORDER_BITS - 4,
		.log2_min_luma_coding_block_size_minus3 = block - 3,
		.log2_diff_max_min_luma_coding_block_size = tree - block,
		.log2_min_luma_transform_block_size_minus2 = least - 2,
		.log2_diff_max_min_luma_transform_block_size = largest - least,
		.max_transform_hierarchy_depth_inter = tree - least,
		.max_transform_hierarchy_depth_intra = tree - least,
		.num_short_term_ref_pic_sets = 1,
		.pProfileTierLevel = &profile,
		.pDecPicBufMgr = &buffering,
		.pShortTermRefPicSet = &references,
	};
	const struct vulkanvideo_sets sets = {HEVC + SETS, NULL, {{1, &vps}, {1, &sps}, {1, &pps}}};
	const struct vulkanvideo_parameters parameters = {
		HEVC + PARAMETERS, NULL, {.hevc = {{1, 1, 1}, &sets}}};
	const struct vulkanvideo_numbers headers = {
		HEVC_HEADERS, NULL, {VK_TRUE, VK_TRUE, VK_TRUE}};
	return vulkanvideo_create_parameters(e, &parameters, &headers, err);
}

static StdVideoEncodeH265ReferenceInfo reference(unsigned index)
{
	return (StdVideoEncodeH265ReferenceInfo){
		.pic_type = index == 0 ? STD_VIDEO_H265_PICTURE_TYPE_IDR
				       : STD_VIDEO_H265_PICTURE_TYPE_P,
		.PicOrderCntVal = (int32_t)index};
}

static void record(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index)
{
	const StdVideoEncodeH265ReferenceInfo now = reference(index), before = reference(index - 1);
	StdVideoEncodeH265ReferenceListsInfo lists = {0};

	memset(lists.RefPicList0, STD_VIDEO_H265_NO_REFERENCE_PICTURE, sizeof(lists.RefPicList0));
	memset(lists.RefPicList1, STD_VIDEO_H265_NO_REFERENCE_PICTURE, sizeof(lists.RefPicList1));
	if (index != 0)
		lists.RefPicList0[0] = (index - 1) % VULKANVIDEO_SLOTS;
	const StdVideoEncodeH265PictureInfo picture = {
		.flags = {.is_reference = 1,
			  .IrapPicFlag = index == 0,
			  .pic_output_flag = 1,
			  .short_term_ref_pic_set_sps_flag = index != 0},
		.pic_type = now.pic_type,
		.PicOrderCntVal = (int32_t)index,
		.pRefLists = &lists,
	};
	const StdVideoEncodeH265SliceSegmentHeader header = {
		.flags = {.first_slice_segment_in_pic_flag = 1},
		.slice_type =
			index == 0 ? STD_VIDEO_H265_SLICE_TYPE_I : STD_VIDEO_H265_SLICE_TYPE_P,
		.MaxNumMergeCand = 5,
	};
	const struct vulkanvideo_slice slice = {HEVC + SLICE, NULL, e->qp, &header};
	const struct vulkanvideo_picture codec = {HEVC + PICTURE, NULL,	    1,
						  &slice,	  &picture, VK_FALSE};
	vulkanvideo_record(e, commands, index, &codec, &now, &before);
}

const struct vulkanvideo_coder vulkanvideo_hevc = {make_parameters, record};
