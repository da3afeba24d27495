/* SPDX-License-Identifier: MIT */
/* H.264 as Vulkan wants it described: a key frame, then pictures that each refer to the one before. */
#include "workloads/vulkanvideo/vulkanvideo.h"

#include <string.h>

enum {
	QP = 26,
	HEADERS_MAX = 4096, /* bytes of the parameter sets */
};

static StdVideoH264SequenceParameterSet sequence_parameters(const struct vulkanvideo_encoder *e)
{
	const bool baseline = e->profile.codec.number == STD_VIDEO_H264_PROFILE_IDC_BASELINE;
	return (StdVideoH264SequenceParameterSet){
		.flags = {.constraint_set0_flag = baseline,
			  .constraint_set1_flag = baseline,
			  .direct_8x8_inference_flag = 1,
			  .frame_mbs_only_flag = 1},
		.profile_idc = (StdVideoH264ProfileIdc)e->profile.codec.number,
		.level_idc = STD_VIDEO_H264_LEVEL_IDC_3_0,
		.chroma_format_idc = STD_VIDEO_H264_CHROMA_FORMAT_IDC_420,
		.log2_max_frame_num_minus4 = H264_FRAME_NUMBER_BITS - 4,
		.pic_order_cnt_type = STD_VIDEO_H264_POC_TYPE_0,
		.log2_max_pic_order_cnt_lsb_minus4 = H264_ORDER_BITS - 4,
		.max_num_ref_frames = 1,
		.pic_width_in_mbs_minus1 = h264_blocks(e->job->source.width) - 1,
		.pic_height_in_map_units_minus1 = h264_blocks(e->job->source.height) - 1,
	};
}

/* The driver may have put other values into the sets, so its own words are the stream's. */
static int read_headers(struct vulkanvideo_encoder *e, struct error *err)
{
	const VkVideoEncodeH264SessionParametersGetInfoKHR sets = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_GET_INFO_KHR,
		.writeStdSPS = VK_TRUE,
		.writeStdPPS = VK_TRUE,
	};
	const VkVideoEncodeSessionParametersGetInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_SESSION_PARAMETERS_GET_INFO_KHR,
		.pNext = &sets,
		.videoSessionParameters = e->parameters,
	};
	char data[HEADERS_MAX] = {0};
	size_t size = sizeof(data);
	int rc = VULKAN_CALL(e, err, vkGetEncodedVideoSessionParametersKHR, e->device.handle, &info,
			     NULL, &size, data);
	if (rc != 0)
		return rc;
	if (size > sizeof(data))
		return error_set(err, ERROR_REMOTE,
				 "vkGetEncodedVideoSessionParametersKHR tells %zu bytes and had "
				 "room for %zu",
				 size, sizeof(data));
	text_append(&e->headers, data, size);
	return e->headers.failed ? error_memory(err) : 0;
}

int vulkanvideo_h264_parameters(struct vulkanvideo_encoder *e, struct error *err)
{
	const VkVideoEncodeH264CapabilitiesKHR *told = &e->capabilities.codec.h264;
	const StdVideoH264SequenceParameterSet sps = sequence_parameters(e);
	const StdVideoH264PictureParameterSet pps = {
		.flags = {.deblocking_filter_control_present_flag = 1},
	};
	const VkVideoEncodeH264SessionParametersAddInfoKHR sets = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_ADD_INFO_KHR,
		.stdSPSCount = 1,
		.pStdSPSs = &sps,
		.stdPPSCount = 1,
		.pStdPPSs = &pps,
	};
	const VkVideoEncodeH264SessionParametersCreateInfoKHR h264 = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_SESSION_PARAMETERS_CREATE_INFO_KHR,
		.maxStdSPSCount = 1,
		.maxStdPPSCount = 1,
		.pParametersAddInfo = &sets,
	};
	const VkVideoSessionParametersCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_SESSION_PARAMETERS_CREATE_INFO_KHR,
		.pNext = &h264,
		.videoSession = e->session,
	};
	e->constant_qp = (e->capabilities.encode.rateControlModes &
			  VK_VIDEO_ENCODE_RATE_CONTROL_MODE_DISABLED_BIT_KHR) != 0;
	if (e->constant_qp)
		e->qp = QP < told->minQp ? told->minQp : QP > told->maxQp ? told->maxQp : QP;
	int rc = VULKAN_CALL(e, err, vkCreateVideoSessionParametersKHR, e->device.handle, &info,
			     NULL, &e->parameters);
	return rc == 0 ? read_headers(e, err) : rc;
}

/* One picture in the memory of the pictures that are referred to. */
struct slot {
	StdVideoEncodeH264ReferenceInfo picture;
	VkVideoEncodeH264DpbSlotInfoKHR h264;
	VkVideoPictureResourceInfoKHR resource;
	VkVideoReferenceSlotInfoKHR info;
};

static StdVideoH264PictureType picture_type(unsigned index)
{
	return index == 0 ? STD_VIDEO_H264_PICTURE_TYPE_IDR : STD_VIDEO_H264_PICTURE_TYPE_P;
}

static VkVideoPictureResourceInfoKHR resource(const struct vulkanvideo_encoder *e,
					      const struct vulkanvideo_image *image, uint32_t layer)
{
	return (VkVideoPictureResourceInfoKHR){
		.sType = VK_STRUCTURE_TYPE_VIDEO_PICTURE_RESOURCE_INFO_KHR,
		.codedExtent = {e->job->source.width, e->job->source.height},
		.baseArrayLayer = layer,
		.imageViewBinding = image->view,
	};
}

static void fill_slot(const struct vulkanvideo_encoder *e, unsigned index, struct slot *out)
{
	const uint32_t layer = index % VULKANVIDEO_SLOTS;
	*out = (struct slot){
		.picture = {.primary_pic_type = picture_type(index),
			    .FrameNum = index,
			    .PicOrderCnt = h264_order(index)},
		.h264 = {.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_DPB_SLOT_INFO_KHR,
			 .pStdReferenceInfo = &out->picture},
		.resource = resource(e, &e->references, layer),
		.info = {.sType = VK_STRUCTURE_TYPE_VIDEO_REFERENCE_SLOT_INFO_KHR,
			 .pNext = &out->h264,
			 .slotIndex = (int32_t)layer,
			 .pPictureResource = &out->resource},
	};
}

/* The session's rate control is set with the first picture and told with each later one. */
static void begin_coding(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index,
			 const VkVideoReferenceSlotInfoKHR *slots)
{
	const VkVideoEncodeRateControlInfoKHR rate = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_RATE_CONTROL_INFO_KHR,
		.rateControlMode = VK_VIDEO_ENCODE_RATE_CONTROL_MODE_DISABLED_BIT_KHR,
	};
	const VkVideoBeginCodingInfoKHR begin = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_BEGIN_CODING_INFO_KHR,
		.pNext = e->constant_qp && index != 0 ? &rate : NULL,
		.videoSession = e->session,
		.videoSessionParameters = e->parameters,
		.referenceSlotCount = index == 0 ? 1 : VULKANVIDEO_SLOTS,
		.pReferenceSlots = slots,
	};
	const VkVideoCodingControlInfoKHR control = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_CODING_CONTROL_INFO_KHR,
		.pNext = e->constant_qp ? &rate : NULL,
		.flags =
			VK_VIDEO_CODING_CONTROL_RESET_BIT_KHR |
			(e->constant_qp ? VK_VIDEO_CODING_CONTROL_ENCODE_RATE_CONTROL_BIT_KHR : 0u),
	};
	e->vkCmdBeginVideoCodingKHR(commands, &begin);
	if (index == 0)
		e->vkCmdControlVideoCodingKHR(commands, &control);
}

/* `codec`: VkVideoEncodeH264PictureInfoKHR. */
static void record_encode(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index,
			  const void *codec)
{
	struct slot now = {0}, before = {0};
	fill_slot(e, index, &now);
	fill_slot(e, index == 0 ? 1 : index - 1, &before); /* of none, it is not looked at */
	VkVideoReferenceSlotInfoKHR bound[VULKANVIDEO_SLOTS] = {now.info, before.info};
	bound[0].slotIndex = -1; /* it becomes one by being coded */
	const VkVideoEncodeInfoKHR encode = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_INFO_KHR,
		.pNext = codec,
		.dstBuffer = e->coded.buffer,
		.dstBufferRange = e->coded_size,
		.srcPictureResource = resource(e, &e->input, 0),
		.pSetupReferenceSlot = &now.info,
		.referenceSlotCount = index != 0,
		.pReferenceSlots = &before.info,
	};
	const VkVideoEndCodingInfoKHR end = {.sType = VK_STRUCTURE_TYPE_VIDEO_END_CODING_INFO_KHR};
	begin_coding(e, commands, index, bound);
	e->vkCmdBeginQuery(commands, e->feedback, 0, 0);
	e->vkCmdEncodeVideoKHR(commands, &encode);
	e->vkCmdEndQuery(commands, e->feedback, 0);
	e->vkCmdEndVideoCodingKHR(commands, &end);
}

void vulkanvideo_h264_record(struct vulkanvideo_encoder *e, VkCommandBuffer commands,
			     unsigned index)
{
	StdVideoEncodeH264ReferenceListsInfo lists = {0};
	memset(lists.RefPicList0, STD_VIDEO_H264_NO_REFERENCE_PICTURE, sizeof(lists.RefPicList0));
	memset(lists.RefPicList1, STD_VIDEO_H264_NO_REFERENCE_PICTURE, sizeof(lists.RefPicList1));
	if (index != 0)
		lists.RefPicList0[0] = (uint8_t)((index - 1) % VULKANVIDEO_SLOTS);
	const StdVideoEncodeH264PictureInfo picture = {
		.flags = {.IdrPicFlag = index == 0, .is_reference = 1},
		.primary_pic_type = picture_type(index),
		.frame_num = index,
		.PicOrderCnt = h264_order(index),
		.pRefLists = &lists,
	};
	const StdVideoEncodeH264SliceHeader header = {
		.slice_type =
			index == 0 ? STD_VIDEO_H264_SLICE_TYPE_I : STD_VIDEO_H264_SLICE_TYPE_P,
	};
	const VkVideoEncodeH264NaluSliceInfoKHR slice = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_NALU_SLICE_INFO_KHR,
		.constantQp = e->qp,
		.pStdSliceHeader = &header,
	};
	const VkVideoEncodeH264PictureInfoKHR codec = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_H264_PICTURE_INFO_KHR,
		.naluSliceEntryCount = 1,
		.pNaluSliceEntries = &slice,
		.pStdPictureInfo = &picture,
	};
	record_encode(e, commands, index, &codec);
}
