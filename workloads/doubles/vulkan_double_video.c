/* SPDX-License-Identifier: MIT */
/*
 * Vulkan Video of the double: an encoder of H.264 that codes the caller's samples as they are
 * (h264_pcm.h, whose faults it has), in the slices and with the parameter sets that the caller
 * describes. It encodes frames of 64 by 64 at most, refuses what is wrongly described, and says why.
 * Words of its own:
 *
 *   video         the double encodes: nothing of this is there without it
 *   software      the device is a processor
 *   no-queue      its extensions are there, and no queue encodes
 *   no-profile    a queue encodes, and no profile is supported
 *   all           HEVC and AV1 are listed, too
 *   high          of H.264 the profile High alone
 *   intra         no picture refers to another one
 *   copies        the queue that encodes copies, too
 *   default-rate  the rate control cannot be switched off
 *   override      frame_num has more bits than the caller asked for
 *   no-nv12       frames have another format
 *   unfinished    the feedback of a picture is never there
 *   broken        it says that the picture is broken
 *   beyond        it tells more bytes than the buffer has
 *   many          the parameter sets are told to be larger than the room for them
 *   lost=N        the device is lost with picture N
 */
#include "workloads/doubles/h264_pcm.h"
#include "workloads/doubles/settings.h"
#include "workloads/doubles/vulkan_double.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 2, MEMORIES = 2, SIDE_MAX = 64, HEADER_BYTES_MAX = 1 << 20 };

struct queries {
	bool reset;
	struct {
		uint32_t offset, bytes;
		int32_t status;
	} told;
};

struct coded {
	bool there;
	unsigned number;
	int order;
};

struct session {
	bool bound, reset, constant_qp;
	struct h264_pcm writer;
	struct coded slots[SLOTS];
};

struct parameters {
	struct session *session;
	struct text headers;
	unsigned number_bits, order_bits;
};

struct double_picture {
	struct session *session;
	struct parameters *parameters;
	struct queries *queries;
	struct double_buffer *out;
	VkDeviceSize room;
	struct double_image *image;
	struct h264_slice slice;
};

VkResult double_refuse(const char *why)
{
	(void)fprintf(stderr, "the double refuses: %s\n", why);
	return VK_ERROR_INVALID_VIDEO_STD_PARAMETERS_KHR;
}

uint32_t double_video_extensions(VkExtensionProperties out[5])
{
	static const char *const names[] = {"VK_KHR_video_queue", "VK_KHR_video_encode_queue",
					    "VK_KHR_video_encode_h264", "VK_KHR_video_encode_h265",
					    "VK_KHR_video_encode_av1"};
	const uint32_t count = !setting_has("video") ? 0 : setting_has("all") ? 5 : 3;
	for (uint32_t i = 0; i < count; i++)
		(void)snprintf(out[i].extensionName, sizeof(out[i].extensionName), "%s", names[i]);
	return count;
}

static bool is_offered(const VkVideoProfileInfoKHR *profile, int number)
{
	const bool ten = profile->lumaBitDepth == VK_VIDEO_COMPONENT_BIT_DEPTH_10_BIT_KHR;
	if (setting_has("no-profile") ||
	    profile->chromaSubsampling != VK_VIDEO_CHROMA_SUBSAMPLING_420_BIT_KHR)
		return false;
	switch ((unsigned)profile->videoCodecOperation) {
	case 0x10000:
		return !ten && (number == 100 || (!setting_has("high") && number == 66));
	case 0x20000:
		return setting_has("all") && (ten ? 2 : 1) == number;
	default:
		return setting_has("all") && number == 0 && !ten;
	}
}

/* Behind the head of the capabilities of every codec come numbers. */
static void tell_codec(const VkVideoProfileInfoKHR *profile, void *codec)
{
	struct {
		VkStructureType type;
		void *next;
		uint32_t values[17];
	} *told = codec;
	if (profile->videoCodecOperation == 0x10000) {
		VkVideoEncodeH264CapabilitiesKHR *h264 = codec;
		h264->maxLevelIdc = STD_VIDEO_H264_LEVEL_IDC_4_0;
		h264->maxSliceCount = 1;
		h264->maxPPictureL0ReferenceCount = setting_has("intra") ? 0 : 1;
		h264->minQp = 1;
		h264->maxQp = 20;
	} else {
		told->values[profile->videoCodecOperation == 0x20000 ? 9 : 16] = 1;
	}
}

static VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceVideoCapabilitiesKHR(
	VkPhysicalDevice device, const VkVideoProfileInfoKHR *profile, VkVideoCapabilitiesKHR *out)
{
	const struct {
		VkStructureType type;
		const void *next;
		int32_t number;
	} *codec = profile->pNext;
	VkVideoEncodeCapabilitiesKHR *encode = out->pNext;
	(void)device;
	ENTER(vkGetPhysicalDeviceVideoCapabilitiesKHR);
	if (!is_offered(profile, codec->number))
		return VK_ERROR_VIDEO_PROFILE_OPERATION_NOT_SUPPORTED_KHR;
	out->minBitstreamBufferOffsetAlignment = 256;
	out->minBitstreamBufferSizeAlignment = 4096;
	out->pictureAccessGranularity = (VkExtent2D){16, 16};
	out->minCodedExtent = (VkExtent2D){32, 32};
	out->maxCodedExtent = (VkExtent2D){SIDE_MAX, SIDE_MAX};
	out->maxDpbSlots = setting_has("intra") ? 0 : SLOTS;
	out->maxActiveReferencePictures = setting_has("intra") ? 0 : 1;
	(void)snprintf(out->stdHeaderVersion.extensionName,
		       sizeof(out->stdHeaderVersion.extensionName),
		       "VK_STD_vulkan_video_codec_h264_encode");
	out->stdHeaderVersion.specVersion = 1u << 22;
	encode->rateControlModes = setting_has("default-rate") ? 0 : 1;
	encode->maxRateControlLayers = 1;
	encode->maxQualityLevels = 1;
	encode->encodeInputPictureGranularity = (VkExtent2D){16, 16};
	encode->supportedEncodeFeedbackFlags = 3;
	tell_codec(profile, encode->pNext);
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceVideoFormatPropertiesKHR(
	VkPhysicalDevice device, const VkPhysicalDeviceVideoFormatInfoKHR *info, uint32_t *count,
	VkVideoFormatPropertiesKHR *out)
{
	(void)device;
	ENTER(vkGetPhysicalDeviceVideoFormatPropertiesKHR);
	if (out != NULL && *count > 0) {
		out[0].format = setting_has("no-nv12") ? VK_FORMAT_G8_B8_R8_3PLANE_420_UNORM
						       : VK_FORMAT_G8_B8R8_2PLANE_420_UNORM;
		out[0].imageType = VK_IMAGE_TYPE_2D;
		out[0].imageTiling = VK_IMAGE_TILING_OPTIMAL;
		out[0].imageUsageFlags = info->imageUsage;
	}
	*count = 1;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateQueryPool(VkDevice device,
							const VkQueryPoolCreateInfo *info,
							const VkAllocationCallbacks *allocator,
							VkQueryPool *out)
{
	const VkQueryPoolVideoEncodeFeedbackCreateInfoKHR *feedback = info->pNext;
	(void)device;
	(void)allocator;
	ENTER(vkCreateQueryPool);
	if (info->queryType != VK_QUERY_TYPE_VIDEO_ENCODE_FEEDBACK_KHR || feedback == NULL ||
	    feedback->encodeFeedbackFlags != 3)
		return double_refuse("a query pool for something else than offset and bytes");
	*out = (VkQueryPool)double_allocate(sizeof(struct queries));
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
vkCreateVideoSessionKHR(VkDevice device, const VkVideoSessionCreateInfoKHR *info,
			const VkAllocationCallbacks *allocator, VkVideoSessionKHR *out)
{
	(void)device;
	(void)allocator;
	ENTER(vkCreateVideoSessionKHR);
	if (info->maxCodedExtent.width > SIDE_MAX || info->maxDpbSlots != SLOTS ||
	    info->maxActiveReferencePictures != 1 || info->pStdHeaderVersion == NULL)
		return double_refuse("a session of another kind");
	struct session *session = double_allocate(sizeof(*session));
	session->writer.source.width = info->maxCodedExtent.width;
	session->writer.source.height = info->maxCodedExtent.height;
	*out = (VkVideoSessionKHR)session;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkDestroyVideoSessionKHR(VkDevice device,
							   VkVideoSessionKHR handle,
							   const VkAllocationCallbacks *allocator)
{
	struct session *session = (struct session *)handle;
	(void)device;
	(void)allocator;
	if (session != NULL)
		h264_pcm_free(&session->writer);
	free(session);
}

static VKAPI_ATTR VkResult VKAPI_CALL
vkGetVideoSessionMemoryRequirementsKHR(VkDevice device, VkVideoSessionKHR session, uint32_t *count,
				       VkVideoSessionMemoryRequirementsKHR *out)
{
	(void)device;
	(void)session;
	ENTER(vkGetVideoSessionMemoryRequirementsKHR);
	for (uint32_t i = 0; out != NULL && i < MEMORIES && i < *count; i++) {
		out[i].memoryBindIndex = 7 * i;
		out[i].memoryRequirements = (VkMemoryRequirements){4096, 256, 1};
	}
	*count = MEMORIES;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL
vkBindVideoSessionMemoryKHR(VkDevice device, VkVideoSessionKHR session, uint32_t count,
			    const VkBindVideoSessionMemoryInfoKHR *binds)
{
	(void)device;
	ENTER(vkBindVideoSessionMemoryKHR);
	for (uint32_t i = 0; i < count; i++)
		if (binds[i].memoryBindIndex != 7 * i || binds[i].memorySize != 4096)
			return double_refuse("memory for another place of the session");
	((struct session *)session)->bound = count == MEMORIES;
	return VK_SUCCESS;
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

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateVideoSessionParametersKHR(
	VkDevice device, const VkVideoSessionParametersCreateInfoKHR *info,
	const VkAllocationCallbacks *allocator, VkVideoSessionParametersKHR *out)
{
	const VkVideoEncodeH264SessionParametersCreateInfoKHR *h264 = info->pNext;
	const VkVideoEncodeH264SessionParametersAddInfoKHR *sets =
		h264 != NULL ? h264->pParametersAddInfo : NULL;
	(void)device;
	(void)allocator;
	ENTER(vkCreateVideoSessionParametersKHR);
	if (sets == NULL || sets->stdSPSCount != 1 || sets->stdPPSCount != 1 ||
	    sets->pStdPPSs[0].flags.entropy_coding_mode_flag ||
	    !sets->pStdPPSs[0].flags.deblocking_filter_control_present_flag ||
	    sets->pStdSPSs[0].pic_order_cnt_type != STD_VIDEO_H264_POC_TYPE_0)
		return double_refuse("parameter sets that it codes no slices for");
	struct parameters *parameters = double_allocate(sizeof(*parameters));
	parameters->session = (struct session *)info->videoSession;
	parameters->number_bits = sets->pStdSPSs[0].log2_max_frame_num_minus4 + 4u +
				  (setting_has("override") ? 3 : 0);
	parameters->order_bits = sets->pStdSPSs[0].log2_max_pic_order_cnt_lsb_minus4 + 4u;
	put_sequence(sets->pStdSPSs, parameters->number_bits, &parameters->headers);
	put_picture_set(sets->pStdPPSs, &parameters->headers);
	*out = (VkVideoSessionParametersKHR)parameters;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkDestroyVideoSessionParametersKHR(
	VkDevice device, VkVideoSessionParametersKHR handle, const VkAllocationCallbacks *allocator)
{
	struct parameters *parameters = (struct parameters *)handle;
	(void)device;
	(void)allocator;
	if (parameters != NULL)
		text_free(&parameters->headers);
	free(parameters);
}

static VKAPI_ATTR VkResult VKAPI_CALL vkGetEncodedVideoSessionParametersKHR(
	VkDevice device, const VkVideoEncodeSessionParametersGetInfoKHR *info, void *feedback,
	size_t *size, void *data)
{
	const struct parameters *parameters =
		(const struct parameters *)info->videoSessionParameters;
	const VkVideoEncodeH264SessionParametersGetInfoKHR *sets = info->pNext;
	(void)device;
	(void)feedback;
	ENTER(vkGetEncodedVideoSessionParametersKHR);
	if (sets == NULL || !sets->writeStdSPS || !sets->writeStdPPS)
		return double_refuse("parameter sets that are not wanted");
	if (data != NULL && *size < parameters->headers.size)
		return VK_INCOMPLETE;
	*size = setting_has("many") ? HEADER_BYTES_MAX : parameters->headers.size;
	if (data != NULL)
		memcpy(data, parameters->headers.data, parameters->headers.size);
	return VK_SUCCESS;
}

/* What is wrong with a picture is told when the recording ends. */
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

/* Numbers as 7.4.3 and 8.2.1 of H.264 have them, and the picture that is referred to. */
static const char *check_picture(struct session *session, const VkVideoEncodeInfoKHR *info,
				 const StdVideoEncodeH264PictureInfo *std)
{
	const VkVideoReferenceSlotInfoKHR *setup = info->pSetupReferenceSlot;
	const VkVideoReferenceSlotInfoKHR *from =
		info->referenceSlotCount != 0 ? &info->pReferenceSlots[0] : NULL;
	if (setup == NULL || setup->slotIndex < 0 || setup->slotIndex >= SLOTS)
		return "a picture without a slot of its own";
	if (!session->reset)
		return "a session that was not reset";
	if (std->flags.IdrPicFlag)
		return from == NULL && std->frame_num == 0 && std->PicOrderCnt == 0
			       ? NULL
			       : "a key frame that is none";
	if (from == NULL || from->slotIndex == setup->slotIndex ||
	    std->pRefLists->RefPicList0[0] != (unsigned)from->slotIndex ||
	    !session->slots[from->slotIndex].there)
		return "a picture without the one that it refers to";
	if (std->frame_num != (session->slots[from->slotIndex].number + 1) % 16 ||
	    std->PicOrderCnt <= session->slots[from->slotIndex].order)
		return "wrong numbers of a picture";
	return NULL;
}

static VKAPI_ATTR void VKAPI_CALL vkCmdEncodeVideoKHR(VkCommandBuffer commands,
						      const VkVideoEncodeInfoKHR *info)
{
	struct double_picture *picture = double_video_of(commands)->picture;
	struct session *session = picture->session;
	const VkVideoEncodeH264PictureInfoKHR *h264 = info->pNext;
	const StdVideoEncodeH264PictureInfo *std = h264->pStdPictureInfo;
	const bool key = std->flags.IdrPicFlag;
	const char *wrong = check_picture(session, info, std);
	const int qp = h264->pNaluSliceEntries[0].constantQp;
	if (h264->naluSliceEntryCount != 1 || h264->pNaluSliceEntries[0].pStdSliceHeader == NULL ||
	    h264->pNaluSliceEntries[0].pStdSliceHeader->slice_type !=
		    (key ? STD_VIDEO_H264_SLICE_TYPE_I : STD_VIDEO_H264_SLICE_TYPE_P))
		wrong = "another slice than the picture has";
	if (session->constant_qp ? qp < 1 || qp > 20 : qp != 0)
		wrong = "a quantiser that the rate control does not allow";
	if (wrong != NULL) {
		set_wrong(commands, wrong);
		return;
	}
	picture->slice = (struct h264_slice){!key, std->frame_num, (unsigned)std->PicOrderCnt};
	picture->out = (struct double_buffer *)info->dstBuffer;
	picture->room = info->dstBufferRange;
	picture->image = ((struct double_view *)info->srcPictureResource.imageViewBinding)->image;
	session->slots[info->pSetupReferenceSlot->slotIndex] =
		(struct coded){true, std->frame_num, std->PicOrderCnt};
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
	h264_pcm_add(writer, VIDEO_NV12, &planes, &stream);
	if (stream.size <= picture->room)
		memcpy(picture->out->memory->bytes, text_string(&stream), stream.size);
	picture->queries->told.bytes = setting_has("beyond") ? UINT32_MAX : (uint32_t)stream.size;
	picture->queries->told.status = setting_has("unfinished")			       ? 0
					: setting_has("broken") || stream.size > picture->room ? -1
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
	if (size != sizeof(((struct queries *)pool)->told) ||
	    flags != VK_QUERY_RESULT_WITH_STATUS_BIT_KHR)
		return double_refuse("feedback without its status");
	memcpy(data, &((struct queries *)pool)->told, size);
	return VK_SUCCESS;
}

PFN_vkVoidFunction double_video_function(const char *name)
{
	static const struct double_entry entries[] = {
		ENTRY(vkGetPhysicalDeviceVideoCapabilitiesKHR),
		ENTRY(vkGetPhysicalDeviceVideoFormatPropertiesKHR),
		ENTRY(vkCreateQueryPool),
		ENTRY(vkCreateVideoSessionKHR),
		ENTRY(vkDestroyVideoSessionKHR),
		ENTRY(vkGetVideoSessionMemoryRequirementsKHR),
		ENTRY(vkBindVideoSessionMemoryKHR),
		ENTRY(vkCreateVideoSessionParametersKHR),
		ENTRY(vkDestroyVideoSessionParametersKHR),
		ENTRY(vkGetEncodedVideoSessionParametersKHR),
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
	for (size_t i = 0; setting_has("video") && i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, name) == 0)
			return entries[i].function;
	return NULL;
}
