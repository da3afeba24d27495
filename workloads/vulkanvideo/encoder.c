/* SPDX-License-Identifier: MIT */
/* One stream: each frame is copied to the device, coded, and waited for before the next. */
#include "workloads/vulkanvideo/vulkanvideo.h"

enum { WAIT_NS = 10 * 1000 * 1000 }; /* for a picture, before the loop looks at its time limit */

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
	vulkanvideo_h264_record(e, commands, index);
	e->device.vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
				       VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &to_host, 0, NULL, 0,
				       NULL);
}

static int record(struct vulkanvideo_encoder *e, size_t queue, unsigned index, struct error *err)
{
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
	};
	VkCommandBuffer commands = e->queues[queue].commands;
	int rc = VULKAN_CALL(&e->device, err, vkBeginCommandBuffer, commands, &begin);
	if (rc != 0)
		return rc;
	if (queue == VULKANVIDEO_UPLOAD)
		record_upload(e, commands);
	else
		record_picture(e, commands, index);
	return VULKAN_CALL(&e->device, err, vkEndCommandBuffer, commands);
}

/* The second queue waits for the first. */
static int submit(struct vulkanvideo_encoder *e, size_t queue, struct error *err)
{
	static const VkPipelineStageFlags all = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
	const bool upload = queue == VULKANVIDEO_UPLOAD;
	const VkSubmitInfo info = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.waitSemaphoreCount = !upload,
		.pWaitSemaphores = &e->uploaded,
		.pWaitDstStageMask = &all,
		.commandBufferCount = 1,
		.pCommandBuffers = &e->queues[queue].commands,
		.signalSemaphoreCount = upload,
		.pSignalSemaphores = &e->uploaded,
	};
	return VULKAN_CALL(&e->device, err, vkQueueSubmit, e->queues[queue].queue, 1, &info,
			   upload ? VK_NULL_HANDLE : e->done);
}

static int put(void *encoder, unsigned index, const struct video_planes *frame, struct error *err)
{
	struct vulkanvideo_encoder *e = encoder;
	const struct video_planes planes =
		video_planes_of(&e->job->source, VIDEO_NV12, e->frame.mapped);
	int rc = 0;
	video_copy(&e->job->source, frame, &planes);
	for (size_t i = 0; rc == 0 && i < VULKANVIDEO_QUEUES; i++)
		rc = record(e, i, index, err);
	for (size_t i = 0; rc == 0 && i < VULKANVIDEO_QUEUES; i++)
		rc = submit(e, i, err);
	return rc;
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
