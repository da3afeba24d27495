/* SPDX-License-Identifier: MIT */
/* How H.264 must be described. */
#include "workloads/doubles/vulkan_double_video.h"

#include "workloads/doubles/settings.h"

static bool offers(uint32_t profile, bool ten_bit)
{
	return !ten_bit &&
	       (profile == STD_VIDEO_H264_PROFILE_IDC_HIGH ||
		(!setting_has("high") && profile == STD_VIDEO_H264_PROFILE_IDC_BASELINE));
}

static void report_capabilities(uint32_t *values)
{
	values[1] = STD_VIDEO_H264_LEVEL_IDC_4_0;
	values[2] = 1;				  /* slice */
	values[3] = setting_has("intra") ? 0 : 1; /* earlier pictures that a P picture refers to */
	values[8] = QP_LEAST;
	values[9] = QP_MOST;
}

static void put_sequence(const StdVideoH264SequenceParameterSet *sps, unsigned number_bits,
			 struct text *out)
{
	static const unsigned levels[] = {10, 11, 12, 13, 20, 21, 22, 30, 31, 32, 40};
	struct h264_bits bits = {0};
	h264_put_bits(&bits, (unsigned)sps->profile_idc, 8);
	h264_put_bits(&bits, sps->flags.constraint_set0_flag, 1);
	h264_put_bits(&bits, sps->flags.constraint_set1_flag, 1);
	h264_put_bits(&bits, 0, 6);
	h264_put_bits(&bits, levels[(unsigned)sps->level_idc % 11], 8);
	h264_put_ue(&bits, sps->seq_parameter_set_id);
	if (sps->profile_idc == STD_VIDEO_H264_PROFILE_IDC_HIGH) {
		h264_put_ue(&bits, (unsigned)sps->chroma_format_idc);
		h264_put_ue(&bits, sps->bit_depth_luma_minus8);
		h264_put_ue(&bits, sps->bit_depth_chroma_minus8);
		h264_put_bits(&bits, 0, 2);
	}
	h264_put_ue(&bits, number_bits - 4);
	h264_put_ue(&bits, (unsigned)sps->pic_order_cnt_type);
	if (sps->pic_order_cnt_type == STD_VIDEO_H264_POC_TYPE_0)
		h264_put_ue(&bits, sps->log2_max_pic_order_cnt_lsb_minus4);
	h264_put_ue(&bits, sps->max_num_ref_frames);
	h264_put_bits(&bits, 0, 1);
	h264_put_ue(&bits, sps->pic_width_in_mbs_minus1);
	h264_put_ue(&bits, sps->pic_height_in_map_units_minus1);
	h264_put_bits(&bits, sps->flags.frame_mbs_only_flag, 1);
	h264_put_bits(&bits, sps->flags.direct_8x8_inference_flag, 1);
	h264_put_bits(&bits, 0, 2); /* no cropping, no VUI */
	h264_end_unit(&bits, H264_SPS, out);
}

static void put_picture_set(const StdVideoH264PictureParameterSet *pps, struct text *out)
{
	struct h264_bits bits = {0};
	h264_put_ue(&bits, pps->pic_parameter_set_id);
	h264_put_ue(&bits, pps->seq_parameter_set_id);
	h264_put_bits(&bits, pps->flags.entropy_coding_mode_flag, 1);
	h264_put_bits(&bits, 0, 1);
	h264_put_ue(&bits, 0);
	h264_put_ue(&bits, pps->num_ref_idx_l0_default_active_minus1);
	h264_put_ue(&bits, pps->num_ref_idx_l1_default_active_minus1);
	h264_put_bits(&bits, 0, 3);
	h264_put_ue(&bits, 0);
	h264_put_ue(&bits, 0);
	h264_put_ue(&bits, 0);
	h264_put_bits(&bits, pps->flags.deblocking_filter_control_present_flag, 1);
	h264_put_bits(&bits, 0, 2);
	h264_end_unit(&bits, H264_PPS, out);
}

static const char *take_parameters(struct parameters *parameters, const void *codec)
{
	const struct vulkanvideo_sets *sets =
		((const struct vulkanvideo_parameters *)codec)->of.h264.sets;
	if (sets == NULL || sets->sType != H264 + SETS || sets->of[0].count != 1 ||
	    sets->of[1].count != 1)
		return "more or fewer parameter sets than one of each";
	const StdVideoH264SequenceParameterSet *sps = sets->of[0].sets;
	const StdVideoH264PictureParameterSet *pps = sets->of[1].sets;
	if (pps->flags.entropy_coding_mode_flag ||
	    !pps->flags.deblocking_filter_control_present_flag ||
	    sps->pic_order_cnt_type != STD_VIDEO_H264_POC_TYPE_0)
		return "parameter sets that it codes no slices for";
	parameters->number_bits =
		sps->log2_max_frame_num_minus4 + 4u + (setting_has("override") ? 3 : 0);
	parameters->order_bits = sps->log2_max_pic_order_cnt_lsb_minus4 + 4u;
	put_sequence(sps, parameters->number_bits, &parameters->headers);
	put_picture_set(pps, &parameters->headers);
	return NULL;
}

/* Checks numbers by 7.4.3 and 8.2.1 of H.264. */
static const char *check_numbers(const struct session *session, const VkVideoEncodeInfoKHR *info,
				 const StdVideoEncodeH264PictureInfo *std)
{
	const struct vulkanvideo_slot *own = info->pSetupReferenceSlot->pNext;
	const StdVideoEncodeH264ReferenceInfo *described = own->reference;
	if (described->FrameNum != std->frame_num || described->PicOrderCnt != std->PicOrderCnt)
		return "a slot that tells other numbers than its picture";
	if (std->flags.IdrPicFlag)
		return std->frame_num == 0 && std->PicOrderCnt == 0 ? NULL
								    : "a key frame that is none";
	const struct coded *from = &session->slots[info->pReferenceSlots[0].slotIndex];
	return std->frame_num == (from->number + 1) % 16 && std->PicOrderCnt > from->order
		       ? NULL
		       : "wrong numbers of a picture";
}

static const char *take_picture(struct double_picture *picture, const VkVideoEncodeInfoKHR *info)
{
	struct session *session = picture->session;
	const struct vulkanvideo_picture *h264 = info->pNext;
	const StdVideoEncodeH264PictureInfo *std = h264->picture;
	const StdVideoEncodeH264SliceHeader *header = h264->slices[0].header;
	const bool key = std->flags.IdrPicFlag;
	const unsigned listed = std->pRefLists->RefPicList0[0];
	const char *wrong = double_check_slots(
		session, info, key,
		listed == STD_VIDEO_H264_NO_REFERENCE_PICTURE ? -1 : (int)listed);
	if (wrong == NULL)
		wrong = check_numbers(session, info, std);
	if (wrong != NULL)
		return wrong;
	if (h264->count != 1 || h264->slices[0].sType != H264 + SLICE || header == NULL ||
	    header->slice_type != (key ? STD_VIDEO_H264_SLICE_TYPE_I : STD_VIDEO_H264_SLICE_TYPE_P))
		return "another slice than the picture has";
	if (!double_is_qp(session, h264->slices[0].qp, QP_LEAST, QP_MOST))
		return "a quantiser that the rate control does not allow";
	picture->slice = (struct h264_slice){!key, std->frame_num, (unsigned)std->PicOrderCnt};
	session->slots[info->pSetupReferenceSlot->slotIndex] =
		(struct coded){true, std->frame_num, std->PicOrderCnt};
	return NULL;
}

const struct double_codec double_h264 = {
	.extension = "VK_KHR_video_encode_h264",
	.operation = 0x10000,
	.capabilities = H264 + CAPABILITIES,
	.parameters = H264 + PARAMETERS,
	.headers = H264_HEADERS,
	.picture = H264 + PICTURE,
	.slot = H264 + SLOT,
	.sets = 2,
	.offers = offers,
	.report_capabilities = report_capabilities,
	.take_parameters = take_parameters,
	.take_picture = take_picture,
};
