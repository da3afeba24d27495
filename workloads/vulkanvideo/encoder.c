/* SPDX-License-Identifier: MIT */
/* One stream: each frame is copied to the device and coded before the next one is put. */
#include "workloads/vulkanvideo/vulkanvideo.h"

enum {
	WAIT_NS = 10 * 1000 * 1000, /* for a picture, before the caller checks its time limit */
	HEADERS_MAX = 4096,	    /* bytes of the parameter sets */
};

int vulkanvideo_create_parameters(struct vulkanvideo_encoder *e, const void *codec,
				  const void *headers, struct error *err)
{
	const VkVideoSessionParametersCreateInfoKHR create = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_SESSION_PARAMETERS_CREATE_INFO_KHR,
		.pNext = codec,
		.videoSession = e->session,
	};
	char data[HEADERS_MAX] = {0};
	size_t size = sizeof(data);

	int rc = VULKAN_CALL(e, err, vkCreateVideoSessionParametersKHR, e->device.handle, &create,
			     NULL, &e->parameters);
	if (rc != 0)
		return rc;
	/* The driver may have changed values, so the stream gets the sets as it codes them. */
	const VkVideoEncodeSessionParametersGetInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_SESSION_PARAMETERS_GET_INFO_KHR,
		.pNext = headers,
		.videoSessionParameters = e->parameters,
	};
	rc = VULKAN_CALL(e, err, vkGetEncodedVideoSessionParametersKHR, e->device.handle, &info,
			 NULL, &size, data);
	if (rc != 0)
		return rc;
	if (size > sizeof(data))
		return error_set(err, ERROR_REMOTE,
				 "vkGetEncodedVideoSessionParametersKHR reports %zu bytes and had "
				 "room for %zu",
				 size, sizeof(data));
	text_append(&e->headers, data, size);
	return 0;
}

/* A picture in the memory for references. */
struct slot {
	struct vulkanvideo_slot codec;
	VkVideoPictureResourceInfoKHR resource;
	VkVideoReferenceSlotInfoKHR info;
};

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

static void fill_slot(const struct vulkanvideo_encoder *e, unsigned index, const void *reference,
		      struct slot *out)
{
	const uint32_t layer = index % VULKANVIDEO_SLOTS;

	*out = (struct slot){
		.codec = {e->way.codec->slot, NULL, reference},
		.resource = resource(e, &e->references, layer),
		.info = {.sType = VK_STRUCTURE_TYPE_VIDEO_REFERENCE_SLOT_INFO_KHR,
			 .pNext = &out->codec,
			 .slotIndex = (int32_t)layer,
			 .pPictureResource = &out->resource},
	};
}

void vulkanvideo_record(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index,
			const void *codec, const void *now, const void *before)
{
	const bool first = index == 0;
	struct slot own = {0}, from = {0};

	/* There are two slots; for the first picture the other one is ignored. */
	fill_slot(e, index, now, &own);
	fill_slot(e, index + 1, before, &from);
	VkVideoReferenceSlotInfoKHR bound[VULKANVIDEO_SLOTS] = {own.info, from.info};
	bound[0].slotIndex = -1; /* the slot becomes active when the picture is coded */

	/* The rate control is set with the first picture and repeated for each later one. */
	const VkVideoEncodeRateControlInfoKHR rate = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_RATE_CONTROL_INFO_KHR,
		.rateControlMode = VK_VIDEO_ENCODE_RATE_CONTROL_MODE_DISABLED_BIT_KHR,
	};
	const VkVideoBeginCodingInfoKHR begin = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_BEGIN_CODING_INFO_KHR,
		.pNext = e->constant_qp && !first ? &rate : NULL,
		.videoSession = e->session,
		.videoSessionParameters = e->parameters,
		.referenceSlotCount = first ? 1 : VULKANVIDEO_SLOTS,
		.pReferenceSlots = bound,
	};
	const VkVideoCodingControlInfoKHR control = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_CODING_CONTROL_INFO_KHR,
		.pNext = e->constant_qp ? &rate : NULL,
		.flags =
			VK_VIDEO_CODING_CONTROL_RESET_BIT_KHR |
			(e->constant_qp ? VK_VIDEO_CODING_CONTROL_ENCODE_RATE_CONTROL_BIT_KHR : 0u),
	};
	const VkVideoEncodeInfoKHR encode = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_INFO_KHR,
		.pNext = codec,
		.dstBuffer = e->coded.buffer,
		.dstBufferRange = e->coded_size,
		.srcPictureResource = resource(e, &e->input, 0),
		.pSetupReferenceSlot = &own.info,
		.referenceSlotCount = !first,
		.pReferenceSlots = &from.info,
	};
	const VkVideoEndCodingInfoKHR end = {.sType = VK_STRUCTURE_TYPE_VIDEO_END_CODING_INFO_KHR};
	e->vkCmdBeginVideoCodingKHR(commands, &begin);
	if (first)
		e->vkCmdControlVideoCodingKHR(commands, &control);
	e->vkCmdBeginQuery(commands, e->feedback, 0, 0);
	e->vkCmdEncodeVideoKHR(commands, &encode);
	e->vkCmdEndQuery(commands, e->feedback, 0);
	e->vkCmdEndVideoCodingKHR(commands, &end);
}

static int open_encoder(void *session, const struct video_job *job, void *encoder,
			struct error *err)
{
	struct vulkanvideo_encoder *e = encoder;

	e->v = session;
	e->vk = &e->v->vk;
	e->job = job;
	e->way = e->v->ways[job->offer->codec];
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
	e->way.codec->coder->record(e, commands, index);
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
	if (upload) {
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
	} else {
		record_picture(e, commands, index);
	}
	rc = VULKAN_CALL(&e->device, err, vkEndCommandBuffer, commands);
	if (rc == 0)
		rc = VULKAN_CALL(&e->device, err, vkQueueSubmit, e->queues[queue].queue, 1, &info,
				 upload ? VK_NULL_HANDLE : e->done);
	return rc;
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct vulkanvideo_encoder *e = encoder;
	const struct video_planes planes =
		video_planes_of(&e->job->source, VIDEO_NV12, e->frame.mapped);

	video_copy(&e->job->source, frame, &planes);
	int rc = run(e, VULKANVIDEO_UPLOAD, index, err);
	if (rc == 0)
		rc = run(e, VULKANVIDEO_ENCODE, index, err);
	return rc;
}

static int get(void *encoder, struct text *stream, bool *ended, struct error *err)
{
	struct vulkanvideo_encoder *e = encoder;
	VkDevice device = e->device.handle;
	struct { /* in the order of the flags, and then the status */
		uint32_t offset, bytes;
		int32_t status; /* VkQueryResultStatusKHR */
	} feedback = {0};
	(void)ended;

	const VkResult result = e->device.vkWaitForFences(device, 1, &e->done, VK_TRUE, WAIT_NS);
	if (result == VK_TIMEOUT)
		return error_set(err, ERROR_BUSY, "the picture is not coded yet");
	int rc = vulkan_check(e->vk, result, "vkWaitForFences", err);
	if (rc == 0)
		rc = VULKAN_CALL(e, err, vkResetFences, device, 1, &e->done);
	if (rc == 0)
		rc = VULKAN_CALL(e, err, vkGetQueryPoolResults, device, e->feedback, 0, 1,
				 sizeof(feedback), &feedback, sizeof(feedback),
				 VK_QUERY_RESULT_WITH_STATUS_BIT_KHR);
	if (rc != 0)
		return rc;

	if (feedback.status != VK_QUERY_RESULT_STATUS_COMPLETE_KHR)
		return error_set(err, ERROR_REMOTE,
				 "the driver says that the picture is coded, and its feedback has "
				 "the status %d, not VK_QUERY_RESULT_STATUS_COMPLETE_KHR (1)",
				 (int)feedback.status);
	if (feedback.offset > e->coded_size || feedback.bytes > e->coded_size - feedback.offset)
		return error_set(err, ERROR_REMOTE,
				 "the driver reports %u bytes at %u of a buffer of %llu bytes",
				 feedback.bytes, feedback.offset,
				 (unsigned long long)e->coded_size);
	if (feedback.bytes != 0 && e->way.codec->delimiter != NULL)
		text_append(stream, e->way.codec->delimiter, 2);
	if (feedback.bytes != 0)
		text_add_all(stream, &e->headers);
	text_free(&e->headers);
	text_append(stream, (const char *)e->coded.mapped + feedback.offset, feedback.bytes);
	return 0;
}

const struct video_encoder vulkanvideo_encoder = {
	.single = true,
	.layout = VIDEO_NV12,
	.list = vulkanvideo_list,
	.size = sizeof(struct vulkanvideo_encoder),
	.open = open_encoder,
	.put = put,
	.get = get,
	.close = vulkanvideo_session_close,
};
