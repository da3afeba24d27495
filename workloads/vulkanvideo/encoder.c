/* SPDX-License-Identifier: MIT */
/* One stream of H.264, as Vulkan wants it described: each frame is copied to the device, coded, and waited
 * for before the next. */
#include "workloads/vulkanvideo/vulkanvideo.h"

#include <string.h>

enum {
	WAIT_NS = 10 * 1000 * 1000, /* for a picture, before the loop looks at its time limit */
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

int vulkanvideo_make_parameters(struct vulkanvideo_encoder *e, struct error *err)
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

static void record_h264(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index)
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

/* What the driver tells of a picture, in the order of the flags, and behind it whether that is so. */
struct feedback {
	uint32_t offset, bytes;
	int32_t status; /* VkQueryResultStatusKHR */
};

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct vulkanvideo_encoder *e = encoder;
	e->v = session;
	e->vk = e->v->vk;
	e->job = job;
	return vulkanvideo_session_open(e, err);
}

static void record_barrier(struct vulkanvideo_encoder *e, VkCommandBuffer commands,
			   const struct vulkanvideo_image *image, VkImageLayout from,
			   VkImageLayout to)
{
	const VkImageMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
		.oldLayout = from,
		.newLayout = to,
		.srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED,
		.image = image->image,
		.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, VK_REMAINING_ARRAY_LAYERS},
	};
	e->device.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
				       VK_PIPELINE_STAGE_ALL_COMMANDS_BIT, 0, 0, NULL, 0, NULL, 1,
				       &barrier);
}

static void record_upload(struct vulkanvideo_encoder *e, VkCommandBuffer commands)
{
	const uint32_t width = e->job->source.width, height = e->job->source.height;
	const VkBufferImageCopy planes[] = {
		{.imageSubresource = {VK_IMAGE_ASPECT_PLANE_0_BIT, 0, 0, 1},
		 .imageExtent = {width, height, 1}},
		{.bufferOffset = (VkDeviceSize)width * height,
		 .imageSubresource = {VK_IMAGE_ASPECT_PLANE_1_BIT, 0, 0, 1},
		 .imageExtent = {width / 2, height / 2, 1}},
	};
	record_barrier(e, commands, &e->input, VK_IMAGE_LAYOUT_UNDEFINED,
		       VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL);
	e->vkCmdCopyBufferToImage(commands, e->frame.buffer, e->input.image,
				  VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL, 2, planes);
}

static void record_picture(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index)
{
	const VkMemoryBarrier to_host = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_HOST_READ_BIT,
	};
	record_barrier(e, commands, &e->input, VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL,
		       VK_IMAGE_LAYOUT_VIDEO_ENCODE_SRC_KHR);
	record_barrier(e, commands, &e->references,
		       index == 0 ? VK_IMAGE_LAYOUT_UNDEFINED
				  : VK_IMAGE_LAYOUT_VIDEO_ENCODE_DPB_KHR,
		       VK_IMAGE_LAYOUT_VIDEO_ENCODE_DPB_KHR);
	e->vkCmdResetQueryPool(commands, e->feedback, 0, 1);
	record_h264(e, commands, index);
	e->device.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
				       VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0,
				       NULL);
}

/* The second queue waits for the first. */
static int run(struct vulkanvideo_encoder *e, size_t queue, unsigned index, struct error *err)
{
	static const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const bool upload = queue == VULKANVIDEO_UPLOAD;
	VkCommandBuffer commands = e->queues[queue].commands;
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
	};
	const VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.waitSemaphoreCount = !upload,
		.pWaitSemaphores = &e->uploaded,
		.pWaitDstStageMask = &all,
		.commandBufferCount = 1,
		.pCommandBuffers = &commands,
		.signalSemaphoreCount = upload,
		.pSignalSemaphores = &e->uploaded,
	};
	int rc = VULKAN_CALL(&e->device, err, vkBeginCommandBuffer, commands, &begin);
	if (rc != 0)
		return rc;
	if (upload)
		record_upload(e, commands);
	else
		record_picture(e, commands, index);
	rc = VULKAN_CALL(&e->device, err, vkEndCommandBuffer, commands);
	return rc == 0 ? VULKAN_CALL(&e->device, err, vkQueueSubmit, e->queues[queue].queue, 1,
				     &info, upload ? VK_NULL_HANDLE : e->done)
		       : rc;
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct vulkanvideo_encoder *e = encoder;
	const struct video_planes planes =
		video_planes_of(&e->job->source, VIDEO_NV12, e->frame.mapped);
	video_copy(&e->job->source, frame, &planes);
	int rc = run(e, VULKANVIDEO_UPLOAD, index, err);
	return rc == 0 ? run(e, VULKANVIDEO_ENCODE, index, err) : rc;
}

static int append(struct vulkanvideo_encoder *e, struct text *stream, struct error *err)
{
	struct feedback told = {0};
	int rc =
		VULKAN_CALL(e, err, vkGetQueryPoolResults, e->device.handle, e->feedback, 0, 1,
			    sizeof(told), &told, sizeof(told), VK_QUERY_RESULT_WITH_STATUS_BIT_KHR);
	if (rc != 0)
		return rc;
	if (told.status != VK_QUERY_RESULT_STATUS_COMPLETE_KHR)
		return error_set(err, ERROR_REMOTE,
				 "the driver says that the picture is coded, and its feedback has "
				 "the status %d, not VK_QUERY_RESULT_STATUS_COMPLETE_KHR (1)",
				 (int)told.status);
	if (told.offset > e->coded_size || told.bytes > e->coded_size - told.offset)
		return error_set(err, ERROR_REMOTE,
				 "the driver tells %u bytes at %u of a buffer of %llu bytes",
				 told.bytes, told.offset, (unsigned long long)e->coded_size);
	if (told.bytes != 0)
		text_add_all(stream, &e->headers);
	text_free(&e->headers);
	text_append(stream, (const char *)e->coded.mapped + told.offset, told.bytes);
	return 0;
}

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct vulkanvideo_encoder *e = encoder;
	VkDevice device = e->device.handle;
	(void)ended;
	const VkResult result = e->device.vkWaitForFences(device, 1, &e->done, VK_TRUE, WAIT_NS);
	if (result == VK_TIMEOUT)
		return error_set(err, ERROR_BUSY, "the picture is not coded yet");
	int rc = vulkan_check(e->vk, result, "vkWaitForFences", err);
	if (rc == 0)
		rc = VULKAN_CALL(e, err, vkResetFences, device, 1, &e->done);
	return rc == 0 ? append(e, stream, err) : rc;
}

const struct video_encoder vulkanvideo_encoder = {
	.single = true,
	.h264_alone = "Vulkan",
	.layout = VIDEO_NV12,
	.list = vulkanvideo_list,
	.size = sizeof(struct vulkanvideo_encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = vulkanvideo_session_close,
};
