/* SPDX-License-Identifier: MIT */
/* Describes H.264 for Vulkan. */
#include "workloads/vulkanvideo/vulkanvideo.h"

#include "workloads/video/h264.h"

#include <string.h>

static int make_parameters(struct vulkanvideo_encoder *e, struct error *err)
{
	const bool baseline = e->profile.codec.values[0] == STD_VIDEO_H264_PROFILE_IDC_BASELINE;
	const StdVideoH264SequenceParameterSet sps = {
		.flags = {.constraint_set0_flag = baseline,
			  .constraint_set1_flag = baseline,
			  .direct_8x8_inference_flag = 1,
			  .frame_mbs_only_flag = 1},
		.profile_idc = (StdVideoH264ProfileIdc)e->profile.codec.values[0],
		.level_idc = STD_VIDEO_H264_LEVEL_IDC_3_0,
		.chroma_format_idc = STD_VIDEO_H264_CHROMA_FORMAT_IDC_420,
		.log2_max_frame_num_minus4 = H264_FRAME_NUMBER_BITS - 4,
		.pic_order_cnt_type = STD_VIDEO_H264_POC_TYPE_0,
		.log2_max_pic_order_cnt_lsb_minus4 = H264_ORDER_BITS - 4,
		.max_num_ref_frames = 1,
		.pic_width_in_mbs_minus1 = h264_blocks(e->job->source.width) - 1,
		.pic_height_in_map_units_minus1 = h264_blocks(e->job->source.height) - 1,
	};
	const StdVideoH264PictureParameterSet pps = {
		.flags = {.deblocking_filter_control_present_flag = 1},
	};
	const struct vulkanvideo_sets sets = {H264 + SETS, NULL, {{1, &sps}, {1, &pps}}};
	const struct vulkanvideo_parameters parameters = {
		H264 + PARAMETERS, NULL, {.h264 = {{1, 1}, &sets}}};
	const struct vulkanvideo_numbers headers = {H264_HEADERS, NULL, {VK_TRUE, VK_TRUE}};

	return vulkanvideo_create_parameters(e, &parameters, &headers, err);
}

static StdVideoEncodeH264ReferenceInfo reference(unsigned index)
{
	return (StdVideoEncodeH264ReferenceInfo){
		.primary_pic_type = index == 0 ? STD_VIDEO_H264_PICTURE_TYPE_IDR
					       : STD_VIDEO_H264_PICTURE_TYPE_P,
		.FrameNum = index,
		.PicOrderCnt = h264_order(index)};
}

static void record(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index)
{
	const StdVideoEncodeH264ReferenceInfo now = reference(index), before = reference(index - 1);
	StdVideoEncodeH264ReferenceListsInfo lists = {0};

	memset(lists.RefPicList0, STD_VIDEO_H264_NO_REFERENCE_PICTURE, sizeof(lists.RefPicList0));
	memset(lists.RefPicList1, STD_VIDEO_H264_NO_REFERENCE_PICTURE, sizeof(lists.RefPicList1));
	if (index != 0)
		lists.RefPicList0[0] = (index - 1) % VULKANVIDEO_SLOTS;
	const StdVideoEncodeH264PictureInfo picture = {
		.flags = {.IdrPicFlag = index == 0, .is_reference = 1},
		.primary_pic_type = now.primary_pic_type,
		.frame_num = index,
		.PicOrderCnt = h264_order(index),
		.pRefLists = &lists,
	};
	const StdVideoEncodeH264SliceHeader header = {
		.slice_type =
			index == 0 ? STD_VIDEO_H264_SLICE_TYPE_I : STD_VIDEO_H264_SLICE_TYPE_P,
	};
	const struct vulkanvideo_slice slice = {H264 + SLICE, NULL, e->qp, &header};
	const struct vulkanvideo_picture codec = {H264 + PICTURE, NULL,	    1,
						  &slice,	  &picture, VK_FALSE};
	vulkanvideo_record(e, commands, index, &codec, &now, &before);
}

const struct vulkanvideo_coder vulkanvideo_h264 = {make_parameters, record};
