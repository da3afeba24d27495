/* SPDX-License-Identifier: MIT */
/*
 * Vulkan Video of the double: an encoder that codes the caller's raw samples (h264_pcm.h, with its faults in each
 * codec, hevc_pcm.h), AV1 with libaom, in the slices and with the parameter sets that the caller describes. It encodes
 * frames of at most 64 by 64, and refuses wrong descriptions with a reason. Its own words:
 *
 *   video         the double encodes; required by all other words
 *   software      the device is a processor
 *   no-queue      its extensions exist, but no queue encodes
 *   no-profile    a queue encodes, but no profile is supported
 *   hevc, av1     only HEVC, AV1 is encoded
 *   all           HEVC and AV1, too
 *   high          only the profile High of H.264
 *   intra         no picture refers to another one
 *   copies        the queue that encodes copies, too
 *   default-rate  the rate control cannot be switched off
 *   override      frame_num has more bits than the caller asked for
 *   no-nv12       frames have another format
 *   unfinished    the feedback of a picture is never available
 *   broken        it reports that the picture is broken
 *   beyond        it reports more bytes than the buffer has
 *   memories=N    a session requests N memories, whatever the room for them
 *   many          the parameter sets are reported as larger than the room for them
 *   lost=N        the device is lost with picture N
 *   spoil=WHAT    the caller's description is spoilt before it is checked: vulkan_double_hevc.c,
 *                 vulkan_double_av1.c
 */
#include "workloads/doubles/vulkan_double_video.h"

#include "workloads/doubles/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORIES = 2, HEADER_BYTES_MAX = 1 << 20 };

static const struct double_codec *const codecs[] = {
	&double_h264,
	&double_hevc,
#ifdef DOUBLE_AV1
	&double_av1,
#endif
};

VkResult double_refuse(const char *why)
{
	(void)fprintf(stderr, "the double refuses: %s\n", why);
	return VK_ERROR_INVALID_VIDEO_STD_PARAMETERS_KHR;
}

bool double_spoils(const char *what)
{
	char text[32] = "";
	return setting_text("spoil", text, sizeof(text)) && strcmp(text, what) == 0;
}

static bool is_codec_offered(const struct double_codec *codec)
{
	const char *name = setting_has("hevc") ? "h265" : setting_has("av1") ? "av1" : "h264";
	return setting_has("all") || strcmp(strrchr(codec->extension, '_') + 1, name) == 0;
}

uint32_t double_video_extensions(VkExtensionProperties out[5])
{
	static const char *const names[] = {"VK_KHR_video_queue", "VK_KHR_video_encode_queue"};
	uint32_t count = 0;
	for (size_t i = 0; setting_has("video") && i < sizeof(names) / sizeof(names[0]); i++)
		(void)snprintf(out[count++].extensionName, VK_MAX_EXTENSION_NAME_SIZE, "%s",
			       names[i]);
	for (size_t i = 0; setting_has("video") && i < sizeof(codecs) / sizeof(codecs[0]); i++)
		if (is_codec_offered(codecs[i]))
			(void)snprintf(out[count++].extensionName, VK_MAX_EXTENSION_NAME_SIZE, "%s",
				       codecs[i]->extension);
	return count;
}

uint32_t double_video_codecs(const VkDeviceCreateInfo *info)
{
	const struct vulkanvideo_numbers *link = info->pNext;
	uint32_t codecs_on = 0;
	for (uint32_t i = 0; i < info->enabledExtensionCount; i++)
		for (size_t k = 0; k < sizeof(codecs) / sizeof(codecs[0]); k++)
			if (strcmp(info->ppEnabledExtensionNames[i], codecs[k]->extension) == 0)
				codecs_on |= codecs[k]->operation;
	while (link != NULL && (link->sType != AV1_FEATURES || !link->values[0]))
		link = link->pNext;
	return link != NULL ? codecs_on : codecs_on & ~0x40000u;
}

static const struct double_codec *find_codec(const VkVideoProfileInfoKHR *profile)
{
	for (size_t i = 0; i < sizeof(codecs) / sizeof(codecs[0]); i++)
		if (codecs[i]->operation == (unsigned)profile->videoCodecOperation)
			return codecs[i];
	return NULL;
}

static bool is_offered(const struct double_codec *codec, const VkVideoProfileInfoKHR *profile)
{
	const struct vulkanvideo_numbers *number = profile->pNext;
	return codec != NULL && is_codec_offered(codec) && !setting_has("no-profile") &&
	       profile->chromaSubsampling == VK_VIDEO_CHROMA_SUBSAMPLING_420_BIT_KHR &&
	       codec->offers(number->values[0],
			     profile->lumaBitDepth == VK_VIDEO_COMPONENT_BIT_DEPTH_10_BIT_KHR);
}

static VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceVideoCapabilitiesKHR(
	VkPhysicalDevice device, const VkVideoProfileInfoKHR *profile, VkVideoCapabilitiesKHR *out)
{
	const struct double_codec *codec = find_codec(profile);
	VkVideoEncodeCapabilitiesKHR *encode = out->pNext;
	struct vulkanvideo_numbers *numbers = encode->pNext;
	(void)device;
	ENTER(vkGetPhysicalDeviceVideoCapabilitiesKHR);
	if (!is_offered(codec, profile))
		return VK_ERROR_VIDEO_PROFILE_OPERATION_NOT_SUPPORTED_KHR;
	if (numbers->sType != codec->capabilities)
		return double_refuse("capabilities of another codec");
	out->minBitstreamBufferOffsetAlignment = 256;
	out->minBitstreamBufferSizeAlignment = 4096;
	out->pictureAccessGranularity = (VkExtent2D){16, 16};
	out->minCodedExtent = (VkExtent2D){32, 32};
	out->maxCodedExtent = (VkExtent2D){SIDE_MAX, SIDE_MAX};
	out->maxDpbSlots = setting_has("intra") ? 0 : SLOTS;
	out->maxActiveReferencePictures = setting_has("intra") ? 0 : 1;
	(void)snprintf(out->stdHeaderVersion.extensionName,
		       sizeof(out->stdHeaderVersion.extensionName),
		       "VK_STD_vulkan_video_codec_%s_encode", strrchr(codec->extension, '_') + 1);
	out->stdHeaderVersion.specVersion = 1u << 22;
	encode->rateControlModes = setting_has("default-rate") ? 0 : 1;
	encode->maxRateControlLayers = 1;
	encode->maxQualityLevels = 1;
	encode->encodeInputPictureGranularity = (VkExtent2D){16, 16};
	encode->supportedEncodeFeedbackFlags = 3;
	codec->report_capabilities(numbers->values);
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
	(void)allocator;
	ENTER(vkCreateVideoSessionKHR);
	if (info->maxCodedExtent.width > SIDE_MAX || info->maxDpbSlots != SLOTS ||
	    info->maxActiveReferencePictures != 1 || info->pStdHeaderVersion == NULL)
		return double_refuse("a session of another kind");
	if ((((struct double_device *)device)->codecs &
	     (unsigned)info->pVideoProfile->videoCodecOperation) == 0)
		return double_refuse("a codec whose extension or feature is not switched on");
	struct session *session = double_allocate(sizeof(*session));
	session->codec = find_codec(info->pVideoProfile);
	if (session->codec->begin != NULL)
		session->codec->begin(session);
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
	if (session != NULL && session->codec->end != NULL)
		session->codec->end(session);
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
	*count = (uint32_t)setting_number("memories", MEMORIES);
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

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateVideoSessionParametersKHR(
	VkDevice device, const VkVideoSessionParametersCreateInfoKHR *info,
	const VkAllocationCallbacks *allocator, VkVideoSessionParametersKHR *out)
{
	struct session *session = (struct session *)info->videoSession;
	const struct vulkanvideo_parameters *codec = info->pNext;
	(void)device;
	(void)allocator;
	ENTER(vkCreateVideoSessionParametersKHR);
	if (codec == NULL || codec->sType != session->codec->parameters)
		return double_refuse("parameters of another codec");
	struct parameters *parameters = double_allocate(sizeof(*parameters));
	parameters->session = session;
	const char *wrong = session->codec->take_parameters(parameters, codec);
	if (wrong == NULL)
		*out = (VkVideoSessionParametersKHR)parameters;
	else
		free(parameters);
	return wrong == NULL ? VK_SUCCESS : double_refuse(wrong);
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
	const struct double_codec *codec = parameters->session->codec;
	const struct vulkanvideo_numbers *sets = info->pNext;
	(void)device;
	(void)feedback;
	ENTER(vkGetEncodedVideoSessionParametersKHR);
	if (codec->headers != 0 && (sets == NULL || sets->sType != codec->headers))
		return double_refuse("headers of another codec");
	for (size_t i = 0; i < codec->sets; i++)
		if (sets->values[i] != VK_TRUE || sets->values[codec->sets + i] != 0)
			return double_refuse("parameter sets that are not wanted");
	if (data != NULL && *size < parameters->headers.size)
		return VK_INCOMPLETE;
	*size = setting_has("many") ? HEADER_BYTES_MAX : parameters->headers.size;
	if (data != NULL)
		memcpy(data, parameters->headers.data, parameters->headers.size);
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
	};
	for (size_t i = 0; setting_has("video") && i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, name) == 0)
			return entries[i].function;
	return setting_has("video") ? double_picture_function(name) : NULL;
}
