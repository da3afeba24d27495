/* SPDX-License-Identifier: MIT */
/* The codecs that a device encodes: by its extensions, its queue families, and each profile. */
#include "workloads/vulkanvideo/vulkanvideo.h"

#include "base/cleanup.h"

enum { FAMILIES_MAX = 64 };

static const struct vulkanvideo_codec codecs[VIDEO_CODECS] = {
	[VIDEO_H264] = {"VK_KHR_video_encode_h264", 0x10000, H264 + CAPABILITIES, H264 + PROFILE,
			H264 + SLOT, 0, 3, 5, 8, 26, NULL, &vulkanvideo_h264},
	[VIDEO_HEVC] = {"VK_KHR_video_encode_h265", 0x20000, HEVC + CAPABILITIES, HEVC + PROFILE,
			HEVC + SLOT, 0, 7, 9, 12, 26, NULL, &vulkanvideo_hevc},
	[VIDEO_AV1] = {"VK_KHR_video_encode_av1", 0x40000, AV1_CAPABILITIES, AV1_PROFILE, AV1_SLOT,
		       AV1_FEATURES, 11, 16, 23, 100, "\x12\0", &vulkanvideo_av1},
};

/* The simplest profile of H.264 first. A profile with both depths is named once. */
static const struct vulkanvideo_row {
	enum video_codec codec;
	uint32_t number;
	const char *name;
	bool ten_bit;
} rows[] = {
	{VIDEO_H264, STD_VIDEO_H264_PROFILE_IDC_BASELINE, "baseline", false},
	{VIDEO_H264, STD_VIDEO_H264_PROFILE_IDC_MAIN, "main", false},
	{VIDEO_H264, STD_VIDEO_H264_PROFILE_IDC_HIGH, "high", false},
	{VIDEO_H264, STD_VIDEO_H264_PROFILE_IDC_HIGH, NULL, true},
	{VIDEO_HEVC, 1, "main", false},
	{VIDEO_HEVC, 2, "main10", true},
	{VIDEO_AV1, 0, "main", false},
	{VIDEO_AV1, 0, NULL, true},
};

int vulkanvideo_ask(struct vulkanvideo *v, VkPhysicalDevice physical,
		    const struct vulkanvideo_row *row, struct vulkanvideo_profile *profile,
		    struct vulkanvideo_capabilities *capabilities, struct error *err)
{
	const struct vulkanvideo_codec *codec = &codecs[row->codec];
	const VkVideoComponentBitDepthFlagsKHR depth =
		row->ten_bit ? VK_VIDEO_COMPONENT_BIT_DEPTH_10_BIT_KHR
			     : VK_VIDEO_COMPONENT_BIT_DEPTH_8_BIT_KHR;

	*profile = (struct vulkanvideo_profile){
		.codec = {codec->profile, NULL, {row->number}},
		.info = {.sType = VK_STRUCTURE_TYPE_VIDEO_PROFILE_INFO_KHR,
			 .pNext = &profile->codec,
			 .videoCodecOperation = (VkVideoCodecOperationFlagBitsKHR)codec->operation,
			 .chromaSubsampling = VK_VIDEO_CHROMA_SUBSAMPLING_420_BIT_KHR,
			 .lumaBitDepth = depth,
			 .chromaBitDepth = depth},
		.list = {.sType = VK_STRUCTURE_TYPE_VIDEO_PROFILE_LIST_INFO_KHR,
			 .profileCount = 1,
			 .pProfiles = &profile->info},
	};
	*capabilities = (struct vulkanvideo_capabilities){
		.video = {.sType = VK_STRUCTURE_TYPE_VIDEO_CAPABILITIES_KHR,
			  .pNext = &capabilities->encode},
		.encode = {.sType = VK_STRUCTURE_TYPE_VIDEO_ENCODE_CAPABILITIES_KHR,
			   .pNext = &capabilities->codec},
		.codec.sType = codec->capabilities,
	};
	const VkResult result = v->vkGetPhysicalDeviceVideoCapabilitiesKHR(physical, &profile->info,
									   &capabilities->video);
	if (result == VK_ERROR_VIDEO_PROFILE_OPERATION_NOT_SUPPORTED_KHR ||
	    result == VK_ERROR_VIDEO_PROFILE_FORMAT_NOT_SUPPORTED_KHR ||
	    result == VK_ERROR_VIDEO_PROFILE_CODEC_NOT_SUPPORTED_KHR ||
	    result == VK_ERROR_VIDEO_PICTURE_LAYOUT_NOT_SUPPORTED_KHR)
		return error_set(err, ERROR_UNSUPPORTED, "the device does not encode this profile");
	return vulkan_check(&v->vk, result, "vkGetPhysicalDeviceVideoCapabilitiesKHR", err);
}

/* The first supported profile of a codec makes its offer. */
static int list_codec(struct vulkanvideo *v, VkPhysicalDevice physical, enum video_codec codec,
		      uint32_t family, struct video_offers *offers, struct error *err)
{
	struct video_offer *offer = NULL;

	for (const struct vulkanvideo_row *row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		struct vulkanvideo_profile profile = {0};
		struct vulkanvideo_capabilities capabilities = {0};
		const VkVideoCapabilitiesKHR *video = &capabilities.video;

		if (row->codec != codec)
			continue;
		int rc = vulkanvideo_ask(v, physical, row, &profile, &capabilities, err);
		if (rc == ERROR_UNSUPPORTED)
			continue;
		if (rc != 0)
			return rc;
		if (offer == NULL) {
			offer = video_offer_add(offers, codec);
			offer->hardware = !v->software;
			offer->ten_bit = 0;
			offer->least = (struct video_size){video->minCodedExtent.width,
							   video->minCodedExtent.height};
			offer->most = (struct video_size){video->maxCodedExtent.width,
							  video->maxCodedExtent.height};
			if (capabilities.codec.values[codecs[codec].later] == 0)
				offer->b_frames = 0;
			v->ways[codec] = (struct vulkanvideo_way){family, row, &codecs[codec]};
		}
		if (row->name != NULL)
			video_offer_add_profile(offer, row->name);
		offer->ten_bit |= row->ten_bit;
	}
	return 0;
}

/* The queue families that encode, by codec: FAMILIES_MAX for none. */
static bool find_families(struct vulkanvideo *v, VkPhysicalDevice physical,
			  uint32_t found[VIDEO_CODECS])
{
	VkQueueFamilyProperties2 families[FAMILIES_MAX] = {0};
	VkQueueFamilyVideoPropertiesKHR video[FAMILIES_MAX] = {0};
	uint32_t count = FAMILIES_MAX;
	bool any = false;

	for (uint32_t i = 0; i < FAMILIES_MAX; i++) {
		video[i].sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_VIDEO_PROPERTIES_KHR;
		families[i].sType = VK_STRUCTURE_TYPE_QUEUE_FAMILY_PROPERTIES_2;
		families[i].pNext = &video[i];
	}
	v->vkGetPhysicalDeviceQueueFamilyProperties2(physical, &count, families);
	for (size_t codec = 0; codec < VIDEO_CODECS; codec++)
		found[codec] = FAMILIES_MAX;
	for (uint32_t i = count < FAMILIES_MAX ? count : FAMILIES_MAX; i-- > 0;) {
		const VkQueueFamilyProperties *family = &families[i].queueFamilyProperties;
		if ((family->queueFlags & VK_QUEUE_VIDEO_ENCODE_BIT_KHR) == 0 ||
		    family->queueCount == 0)
			continue;
		any = true;
		for (size_t codec = 0; codec < VIDEO_CODECS; codec++) {
			if ((video[i].videoCodecOperations & codecs[codec].operation) != 0)
				found[codec] = i;
		}
	}
	return any;
}

int vulkanvideo_list(void *session, const struct work_request *request, struct video_offers *offers,
		     struct error *err)
{
	struct vulkanvideo *v = session;
	VkPhysicalDevice physical = v->vk.devices[request->device];
	uint32_t families[VIDEO_CODECS] = {0};
	int rc = 0;

	if (!vulkan_offers(&v->vk, physical, VK_KHR_VIDEO_ENCODE_QUEUE_EXTENSION_NAME))
		return error_set(err, ERROR_UNSUPPORTED,
				 "the driver offers no " VK_KHR_VIDEO_ENCODE_QUEUE_EXTENSION_NAME
				 ": " VIDEO_NO_QUEUE);
	if (v->vkGetPhysicalDeviceQueueFamilyProperties2 == NULL ||
	    v->vkGetPhysicalDeviceVideoCapabilitiesKHR == NULL ||
	    v->vkGetPhysicalDeviceVideoFormatPropertiesKHR == NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the driver encodes video, and the Vulkan loader knows nothing of "
				 "it: use 1.3.238 or newer");
	if (!find_families(v, physical, families))
		return error_set(err, ERROR_UNSUPPORTED,
				 VIDEO_NOTHING
				 ": the driver offers " VK_KHR_VIDEO_ENCODE_QUEUE_EXTENSION_NAME
				 ", and no queue family encodes");
	for (int codec = 0; rc == 0 && codec < VIDEO_CODECS; codec++) {
		if (families[codec] != FAMILIES_MAX &&
		    vulkan_offers(&v->vk, physical, codecs[codec].extension))
			rc = list_codec(v, physical, (enum video_codec)codec, families[codec],
					offers, err);
	}
	if (rc == 0 && offers->count == 0)
		rc = error_set(err, ERROR_UNSUPPORTED,
			       VIDEO_NOTHING ": its queue family for video has no profile of "
					     "4:2:0 of H.264, HEVC or AV1");
	return rc;
}
