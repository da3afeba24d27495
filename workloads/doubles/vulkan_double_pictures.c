/* SPDX-License-Identifier: MIT */
/* Vulkan Video of the double, from the recording of a picture to its feedback. */
#include "workloads/doubles/vulkan_double_video.h"

#include "workloads/doubles/settings.h"

#include <stdlib.h>
#include <string.h>

/* A fault of a picture is reported when the recording ends. */
static void set_wrong(VkCommandBuffer commands, const char *why)
{
	struct double_video *video = double_video_of(commands);
	if (video->wrong == NULL)
		video->wrong = why;
}

static VKAPI_ATTR void VKAPI_CALL vkCmdCopyBufferToImage(VkCommandBuffer commands, VkBuffer from,
							 VkImage to, VkImageLayout layout,
							 uint32_t count,
							 const VkBufferImageCopy *regions)
{
	struct double_video *video = double_video_of(commands);
	struct double_image *image = (struct double_image *)to;
	if (count != 2 || layout != VK_IMAGE_LAYOUT_TRANSFER_DST_OPTIMAL ||
	    regions[0].imageExtent.width != image->width ||
	    regions[0].imageExtent.height != image->height ||
	    regions[1].imageExtent.width != image->width / 2 ||
	    regions[1].imageExtent.height != image->height / 2 ||
	    regions[1].bufferOffset != (VkDeviceSize)image->width * image->height)
		set_wrong(commands, "a copy of something else than the two planes of NV12");
	video->from = (struct double_buffer *)from;
	video->image = image;
}

static VKAPI_ATTR void VKAPI_CALL vkCmdResetQueryPool(VkCommandBuffer commands, VkQueryPool pool,
						      uint32_t first, uint32_t count)
{
	(void)commands;
	(void)first;
	(void)count;
	((struct queries *)pool)->reset = true;
}

static VKAPI_ATTR void VKAPI_CALL vkCmdBeginVideoCodingKHR(VkCommandBuffer commands,
							   const VkVideoBeginCodingInfoKHR *info)
{
	struct double_video *video = double_video_of(commands);
	const VkVideoEncodeRateControlInfoKHR *rate = info->pNext;
	struct double_picture *picture = double_allocate(sizeof(*picture));
	picture->session = (struct session *)info->videoSession;
	picture->parameters = (struct parameters *)info->videoSessionParameters;
	if (!picture->session->bound || picture->parameters->session != picture->session)
		set_wrong(commands, "a session without its memory or parameters");
	if ((rate != NULL) != picture->session->constant_qp)
		set_wrong(commands, "another rate control than the session has");
	for (uint32_t i = 0; i < info->referenceSlotCount; i++)
		if (info->pReferenceSlots[i].slotIndex >= 0 &&
		    !picture->session->slots[info->pReferenceSlots[i].slotIndex].there)
			set_wrong(commands, "a slot that holds no picture");
	video->picture = picture;
}

static VKAPI_ATTR void VKAPI_CALL
vkCmdControlVideoCodingKHR(VkCommandBuffer commands, const VkVideoCodingControlInfoKHR *info)
{
	struct session *session = double_video_of(commands)->picture->session;
	const VkVideoEncodeRateControlInfoKHR *rate = info->pNext;
	session->reset = session->reset || (info->flags & VK_VIDEO_CODING_CONTROL_RESET_BIT_KHR);
	session->constant_qp = rate != NULL && rate->rateControlMode == 1;
	if (rate != NULL && setting_has("default-rate"))
		set_wrong(commands, "a rate control that is not offered");
}

static VKAPI_ATTR void VKAPI_CALL vkCmdBeginQuery(VkCommandBuffer commands, VkQueryPool pool,
						  uint32_t query, VkQueryControlFlags flags)
{
	struct queries *queries = (struct queries *)pool;
	(void)query;
	(void)flags;
	if (!queries->reset)
		set_wrong(commands, "a query that was not reset");
	queries->reset = false;
	double_video_of(commands)->picture->queries = queries;
}

static const char *check_slot(const struct session *session,
			      const VkVideoReferenceSlotInfoKHR *slot)
{
	const struct vulkanvideo_slot *codec = slot->pNext;
	return codec == NULL || codec->sType != session->codec->slot
		       ? "a slot that is not described"
		       : NULL;
}

const char *double_check_slots(const struct session *session, const VkVideoEncodeInfoKHR *info,
			       bool key, int listed)
{
	const VkVideoReferenceSlotInfoKHR *setup = info->pSetupReferenceSlot;
	const VkVideoReferenceSlotInfoKHR *from =
		info->referenceSlotCount != 0 ? &info->pReferenceSlots[0] : NULL;
	if (setup == NULL || setup->slotIndex < 0 || setup->slotIndex >= SLOTS)
		return "a picture without a slot of its own";
	if (!session->reset)
		return "a session that was not reset";
	if (key)
		return from == NULL && listed < 0 ? check_slot(session, setup)
						  : "a key frame that is none";
	if (from == NULL || from->slotIndex == setup->slotIndex || listed != from->slotIndex ||
	    !session->slots[from->slotIndex].there)
		return "a picture without the one that it refers to";
	return check_slot(session, setup) != NULL ? check_slot(session, setup)
						  : check_slot(session, from);
}

bool double_is_qp(const struct session *session, int64_t qp, int64_t least, int64_t most)
{
	return session->constant_qp ? qp >= least && qp <= most : qp == 0;
}

static VKAPI_ATTR void VKAPI_CALL vkCmdEncodeVideoKHR(VkCommandBuffer commands,
						      const VkVideoEncodeInfoKHR *info)
{
	struct double_picture *picture = double_video_of(commands)->picture;
	const struct vulkanvideo_picture *codec = info->pNext;
	const char *wrong = codec == NULL || codec->sType != picture->session->codec->picture
				    ? "a picture of another codec"
				    : picture->session->codec->take_picture(picture, info);
	picture->out = (struct double_buffer *)info->dstBuffer;
	picture->room = info->dstBufferRange;
	picture->image = ((struct double_view *)info->srcPictureResource.imageViewBinding)->image;
	if (wrong != NULL)
		set_wrong(commands, wrong);
}

static VKAPI_ATTR void VKAPI_CALL vkCmdEndQuery(VkCommandBuffer commands, VkQueryPool pool,
						uint32_t query)
{
	(void)commands;
	(void)pool;
	(void)query;
}

static VKAPI_ATTR void VKAPI_CALL vkCmdEndVideoCodingKHR(VkCommandBuffer commands,
							 const VkVideoEndCodingInfoKHR *info)
{
	(void)commands;
	(void)info;
}

static void encode(struct double_picture *picture)
{
	static const struct text elsewhere = {0}; /* the caller asked for the parameter sets */
	struct double_image *image = picture->image;
	struct h264_pcm *writer = &picture->session->writer;
	unsigned char *samples = image->memory->bytes;
	const struct video_planes planes = {
		{samples, samples + (size_t)image->width * image->height, NULL},
		{image->width, image->width, 0},
	};
	struct text stream = {0};
	writer->given = &elsewhere;
	writer->number_bits = picture->parameters->number_bits;
	writer->order_bits = picture->parameters->order_bits;
	writer->slice = picture->slice;
	writer->put = picture->session->codec->put;
	writer->user = picture;
	h264_pcm_add(writer, VIDEO_NV12, &planes, &stream);
	if (stream.size <= picture->room)
		memcpy(picture->out->memory->bytes, text_string(&stream), stream.size);
	picture->queries->feedback.bytes =
		setting_has("beyond") ? UINT32_MAX : (uint32_t)stream.size;
	picture->queries->feedback.status = setting_has("unfinished") ? 0
					    : setting_has("broken") || stream.size > picture->room
						    ? -1
						    : 1;
	text_free(&stream);
}

VkResult double_video_run(struct double_video *video)
{
	if (video->from != NULL)
		memcpy(video->image->memory->bytes, video->from->memory->bytes,
		       (size_t)video->from->size);
	if (video->picture == NULL)
		return VK_SUCCESS;
	if (video->picture->session->writer.count == setting_number("lost", SIZE_MAX))
		return VK_ERROR_DEVICE_LOST;
	encode(video->picture);
	return VK_SUCCESS;
}

void double_video_forget(struct double_video *video)
{
	free(video->picture);
	*video = (struct double_video){0};
}

VkResult double_semaphores(const VkSubmitInfo *info)
{
	for (uint32_t i = 0; i < info->waitSemaphoreCount; i++) {
		struct double_semaphore *semaphore =
			(struct double_semaphore *)info->pWaitSemaphores[i];
		if (!semaphore->signalled)
			return double_refuse("a wait for what nobody signals");
		semaphore->signalled = false;
	}
	for (uint32_t i = 0; i < info->signalSemaphoreCount; i++)
		((struct double_semaphore *)info->pSignalSemaphores[i])->signalled = true;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkGetQueryPoolResults(VkDevice device, VkQueryPool pool,
							    uint32_t first, uint32_t count,
							    size_t size, void *data,
							    VkDeviceSize stride,
							    VkQueryResultFlags flags)
{
	(void)device;
	(void)first;
	(void)count;
	(void)stride;
	ENTER(vkGetQueryPoolResults);
	if (size != sizeof(((struct queries *)pool)->feedback) ||
	    flags != VK_QUERY_RESULT_WITH_STATUS_BIT_KHR)
		return double_refuse("feedback without its status");
	memcpy(data, &((struct queries *)pool)->feedback, size);
	return VK_SUCCESS;
}

PFN_vkVoidFunction double_picture_function(const char *name)
{
	static const struct double_entry entries[] = {
		ENTRY(vkCmdCopyBufferToImage),
		ENTRY(vkCmdResetQueryPool),
		ENTRY(vkCmdBeginVideoCodingKHR),
		ENTRY(vkCmdControlVideoCodingKHR),
		ENTRY(vkCmdBeginQuery),
		ENTRY(vkCmdEncodeVideoKHR),
		ENTRY(vkCmdEndQuery),
		ENTRY(vkCmdEndVideoCodingKHR),
		ENTRY(vkGetQueryPoolResults),
	};
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, name) == 0)
			return entries[i].function;
	return NULL;
}
