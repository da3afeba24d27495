/* SPDX-License-Identifier: MIT */
#include "workloads/vulkanvideo/vulkanvideo.h"

enum { FAMILIES_MAX = 64, FORMATS_MAX = 64 };

/* Asks for the capabilities of the codec and chooses the quantiser and the queues. */
static int choose(struct vulkanvideo_encoder *e, struct error *err)
{
	static const VkQueueFlags copies =
		VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT | VK_QUEUE_TRANSFER_BIT;
	const struct vulkanvideo_codec *codec = e->way.codec;
	const VkVideoCapabilitiesKHR *video = &e->capabilities.video;
	const uint32_t *values = e->capabilities.codec.values;

	int rc = vulkanvideo_ask(e->v, e->device.physical, e->way.row, &e->profile,
				 &e->capabilities, err);
	if (rc != 0)
		return rc;
	if (video->maxDpbSlots < VULKANVIDEO_SLOTS || video->maxActiveReferencePictures == 0 ||
	    values[codec->earlier] == 0)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the device codes no picture that refers to another one");
	e->constant_qp = (e->capabilities.encode.rateControlModes &
			  VK_VIDEO_ENCODE_RATE_CONTROL_MODE_DISABLED_BIT_KHR) != 0;
	if (e->constant_qp) {
		const int32_t least = (int32_t)values[codec->quantisers];
		const int32_t most = (int32_t)values[codec->quantisers + 1];
		e->qp = codec->quantiser;
		if (e->qp < least)
			e->qp = least;
		else if (e->qp > most)
			e->qp = most;
	}

	/* Only some of the queues that encode can also copy. */
	VkQueueFamilyProperties families[FAMILIES_MAX] = {0};
	uint32_t count = FAMILIES_MAX, upload = e->way.family;
	e->queues[VULKANVIDEO_ENCODE].family = upload;
	e->vk->vkGetPhysicalDeviceQueueFamilyProperties(e->device.physical, &count, families);
	count = count < FAMILIES_MAX ? count : FAMILIES_MAX;
	if ((families[upload].queueFlags & copies) == 0) {
		upload = 0;
		while (upload < count && ((families[upload].queueFlags & copies) == 0 ||
					  families[upload].queueCount == 0))
			upload++;
	}
	e->queues[VULKANVIDEO_UPLOAD].family = upload;
	if (upload >= count)
		return error_set(err, ERROR_UNSUPPORTED, "no queue of the device copies");
	return 0;
}

static int open_device(struct vulkanvideo_encoder *e, struct error *err)
{
	static const float priority = 1.0f;
	VkPhysicalDevice physical = e->device.physical;
	/* The last is a part of Vulkan since 1.3, where it need not be an extension. */
	const char *const extensions[] = {
		VK_KHR_VIDEO_QUEUE_EXTENSION_NAME, VK_KHR_VIDEO_ENCODE_QUEUE_EXTENSION_NAME,
		e->way.codec->extension, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME};
	const bool synchronization =
		vulkan_offers(e->vk, physical, VK_KHR_SYNCHRONIZATION_2_EXTENSION_NAME);
	const struct vulkanvideo_numbers feature = {e->way.codec->feature, NULL, {VK_TRUE}};
	VkDeviceQueueCreateInfo queues[VULKANVIDEO_QUEUES] = {0};

	for (size_t i = 0; i < VULKANVIDEO_QUEUES; i++)
		queues[i] = (VkDeviceQueueCreateInfo){
			.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
			.queueFamilyIndex = e->queues[i].family,
			.queueCount = 1,
			.pQueuePriorities = &priority,
		};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.pNext = feature.sType != 0 ? &feature : NULL,
		.queueCreateInfoCount =
			e->queues[0].family == e->queues[1].family ? 1 : VULKANVIDEO_QUEUES,
		.pQueueCreateInfos = queues,
		.enabledExtensionCount = synchronization ? 4 : 3,
		.ppEnabledExtensionNames = extensions,
	};
	int rc = vulkan_device_create(e->vk, physical, &info, &e->device, err);
	if (rc != 0)
		return rc;
#define X(name)                                                                                    \
	e->name = (PFN_##name)e->vk->vkGetDeviceProcAddr(e->device.handle, #name);                 \
	if (e->name == NULL)                                                                       \
		return error_set(err, ERROR_UNAVAILABLE, "the driver offers no " #name);
#include "workloads/vulkanvideo/functions.h"
#undef X
	for (size_t i = 0; i < VULKANVIDEO_QUEUES; i++)
		e->device.vkGetDeviceQueue(e->device.handle, e->queues[i].family, 0,
					   &e->queues[i].queue);
	return 0;
}

/* The first format for pictures of that usage, or NV12 if it is needed. */
static int find_format(struct vulkanvideo_encoder *e, VkImageUsageFlags usage, bool nv12,
		       VkVideoFormatPropertiesKHR *out, struct error *err)
{
	const VkPhysicalDeviceVideoFormatInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VIDEO_FORMAT_INFO_KHR,
		.pNext = &e->profile.list,
		.imageUsage = usage,
	};
	VkVideoFormatPropertiesKHR formats[FORMATS_MAX] = {0};
	uint32_t count = FORMATS_MAX;

	for (size_t i = 0; i < FORMATS_MAX; i++)
		formats[i].sType = VK_STRUCTURE_TYPE_VIDEO_FORMAT_PROPERTIES_KHR;
	const VkResult result = e->v->vkGetPhysicalDeviceVideoFormatPropertiesKHR(
		e->device.physical, &info, &count, formats);
	if (result != VK_INCOMPLETE && result != VK_ERROR_IMAGE_USAGE_NOT_SUPPORTED_KHR) {
		int rc = vulkan_check(e->vk, result, "vkGetPhysicalDeviceVideoFormatPropertiesKHR",
				      err);
		if (rc != 0)
			return rc;
	}
	for (size_t i = 0; result >= 0 && i < count && i < FORMATS_MAX; i++) {
		*out = formats[i];
		if (!nv12 || out->format == VK_FORMAT_G8_B8R8_2PLANE_420_UNORM)
			return 0;
	}
	return error_set(err, ERROR_UNSUPPORTED, "the encoder has no format for %s",
			 nv12 ? "frames of NV12 that are copied to it"
			      : "the pictures that it refers to");
}

static uint32_t align(uint32_t value, uint64_t to)
{
	return to > 1 && to < UINT32_MAX ? (uint32_t)((value + to - 1) / to * to) : value;
}

static int make_image(struct vulkanvideo_encoder *e, VkImageUsageFlags usage, uint32_t layers,
		      struct vulkanvideo_image *out, struct error *err)
{
	const VkExtent2D *granularity = &e->capabilities.video.pictureAccessGranularity;
	const uint32_t families[] = {e->queues[0].family, e->queues[1].family};
	VkVideoFormatPropertiesKHR format = {0};
	VkMemoryRequirements needs = {0};
	VkDevice device = e->device.handle;

	int rc = find_format(e, usage, layers == 1, &format, err);
	if (rc != 0)
		return rc;
	out->format = format.format;
	const VkImageCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
		.pNext = &e->profile.list,
		.imageType = VK_IMAGE_TYPE_2D,
		.format = format.format,
		.extent = {align(e->job->source.width, granularity->width),
			   align(e->job->source.height, granularity->height), 1},
		.mipLevels = 1,
		.arrayLayers = layers,
		.samples = VK_SAMPLE_COUNT_1_BIT,
		.tiling = format.imageTiling,
		.usage = usage,
		.sharingMode = families[0] != families[1] ? VK_SHARING_MODE_CONCURRENT
							  : VK_SHARING_MODE_EXCLUSIVE,
		.queueFamilyIndexCount = VULKANVIDEO_QUEUES,
		.pQueueFamilyIndices = families,
	};
	rc = VULKAN_CALL(e, err, vkCreateImage, device, &info, NULL, &out->image);
	if (rc != 0)
		return rc;
	e->vkGetImageMemoryRequirements(device, out->image, &needs);
	rc = vulkan_memory_allocate(&e->device, &needs, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
				    &out->memory, err);
	if (rc == 0)
		rc = VULKAN_CALL(e, err, vkBindImageMemory, device, out->image, out->memory, 0);
	if (rc != 0)
		return rc;
	const VkImageViewCreateInfo view = {
		.sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
		.image = out->image,
		.viewType = layers == 1 ? VK_IMAGE_VIEW_TYPE_2D : VK_IMAGE_VIEW_TYPE_2D_ARRAY,
		.format = format.format,
		.subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, layers},
	};
	return VULKAN_CALL(e, err, vkCreateImageView, device, &view, NULL, &out->view);
}

static int make_session(struct vulkanvideo_encoder *e, struct error *err)
{
	const VkVideoSessionCreateInfoKHR info = {
		.sType = VK_STRUCTURE_TYPE_VIDEO_SESSION_CREATE_INFO_KHR,
		.queueFamilyIndex = e->queues[VULKANVIDEO_ENCODE].family,
		.pVideoProfile = &e->profile.info,
		.pictureFormat = e->input.format,
		.maxCodedExtent = {e->job->source.width, e->job->source.height},
		.referencePictureFormat = e->references.format,
		.maxDpbSlots = VULKANVIDEO_SLOTS,
		.maxActiveReferencePictures = 1,
		.pStdHeaderVersion = &e->capabilities.video.stdHeaderVersion,
	};
	VkVideoSessionMemoryRequirementsKHR needs[VULKANVIDEO_MEMORIES_MAX] = {0};
	VkBindVideoSessionMemoryInfoKHR binds[VULKANVIDEO_MEMORIES_MAX] = {0};
	uint32_t count = VULKANVIDEO_MEMORIES_MAX;
	VkDevice device = e->device.handle;

	int rc = VULKAN_CALL(e, err, vkCreateVideoSessionKHR, device, &info, NULL, &e->session);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < VULKANVIDEO_MEMORIES_MAX; i++)
		needs[i].sType = VK_STRUCTURE_TYPE_VIDEO_SESSION_MEMORY_REQUIREMENTS_KHR;
	rc = VULKAN_CALL(e, err, vkGetVideoSessionMemoryRequirementsKHR, device, e->session, &count,
			 needs);
	if (rc != 0)
		return rc;
	if (count > VULKANVIDEO_MEMORIES_MAX)
		return error_set(err, ERROR_REMOTE,
				 "the session asks for %u memories, and there is room for %d",
				 count, VULKANVIDEO_MEMORIES_MAX);
	for (uint32_t i = 0; i < count; i++) {
		rc = vulkan_memory_allocate(&e->device, &needs[i].memoryRequirements, 0,
					    &e->memories[i], err);
		if (rc != 0)
			return rc;
		binds[i] = (VkBindVideoSessionMemoryInfoKHR){
			.sType = VK_STRUCTURE_TYPE_BIND_VIDEO_SESSION_MEMORY_INFO_KHR,
			.memoryBindIndex = needs[i].memoryBindIndex,
			.memory = e->memories[i],
			.memorySize = needs[i].memoryRequirements.size,
		};
	}
	if (count == 0)
		return 0;
	return VULKAN_CALL(e, err, vkBindVideoSessionMemoryKHR, device, e->session, count, binds);
}

/* The query for what the driver wrote, the objects to wait with, and the commands of both queues. */
static int make_commands(struct vulkanvideo_encoder *e, struct error *err)
{
	const VkSemaphoreCreateInfo semaphore = {.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
	const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
	const VkQueryPoolVideoEncodeFeedbackCreateInfoKHR feedback = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_VIDEO_ENCODE_FEEDBACK_CREATE_INFO_KHR,
		.pNext = &e->profile.info,
		.encodeFeedbackFlags = VK_VIDEO_ENCODE_FEEDBACK_BITSTREAM_BUFFER_OFFSET_BIT_KHR |
				       VK_VIDEO_ENCODE_FEEDBACK_BITSTREAM_BYTES_WRITTEN_BIT_KHR,
	};
	const VkQueryPoolCreateInfo query = {
		.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
		.pNext = &feedback,
		.queryType = VK_QUERY_TYPE_VIDEO_ENCODE_FEEDBACK_KHR,
		.queryCount = 1,
	};
	VkDevice device = e->device.handle;

	int rc = VULKAN_CALL(e, err, vkCreateSemaphore, device, &semaphore, NULL, &e->uploaded);
	if (rc == 0)
		rc = VULKAN_CALL(&e->device, err, vkCreateFence, device, &fence, NULL, &e->done);
	if (rc == 0)
		rc = VULKAN_CALL(e, err, vkCreateQueryPool, device, &query, NULL, &e->feedback);
	for (size_t i = 0; rc == 0 && i < VULKANVIDEO_QUEUES; i++) {
		const VkCommandPoolCreateInfo pool = {
			.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
			.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
			.queueFamilyIndex = e->queues[i].family,
		};
		rc = VULKAN_CALL(&e->device, err, vkCreateCommandPool, device, &pool, NULL,
				 &e->queues[i].pool);
		if (rc != 0)
			break;
		const VkCommandBufferAllocateInfo info = {
			.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
			.commandPool = e->queues[i].pool,
			.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
			.commandBufferCount = 1,
		};
		rc = VULKAN_CALL(&e->device, err, vkAllocateCommandBuffers, device, &info,
				 &e->queues[i].commands);
	}
	return rc;
}

int vulkanvideo_session_open(struct vulkanvideo_encoder *e, struct error *err)
{
	e->device.physical = e->vk->devices[e->job->request->device];
	int rc = choose(e, err);
	if (rc == 0)
		rc = open_device(e, err);
	if (rc == 0)
		rc = make_image(e,
				VK_IMAGE_USAGE_VIDEO_ENCODE_SRC_BIT_KHR |
					VK_IMAGE_USAGE_TRANSFER_DST_BIT,
				1, &e->input, err);
	if (rc == 0)
		rc = make_image(e, VK_IMAGE_USAGE_VIDEO_ENCODE_DPB_BIT_KHR, VULKANVIDEO_SLOTS,
				&e->references, err);
	if (rc == 0)
		rc = make_session(e, err);
	if (rc == 0)
		rc = e->way.codec->coder->make_parameters(e, err);
	if (rc != 0)
		return rc;

	const size_t frame = video_frame_size(&e->job->source);
	e->coded_size = align((uint32_t)(2 * frame + 65536),
			      e->capabilities.video.minBitstreamBufferSizeAlignment);
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.pNext = &e->profile.list,
		.size = e->coded_size,
		.usage = VK_BUFFER_USAGE_VIDEO_ENCODE_DST_BIT_KHR,
	};
	rc = vulkan_buffer_make(&e->device, &info, VULKAN_MAPPED, &e->coded, err);
	if (rc == 0)
		rc = vulkan_buffer_create(&e->device, VULKAN_BUFFER_STAGING, frame, &e->frame, err);
	return rc == 0 ? make_commands(e, err) : rc;
}

static void free_image(struct vulkanvideo_encoder *e, const struct vulkanvideo_image *image)
{
	e->vkDestroyImageView(e->device.handle, image->view, NULL);
	e->vkDestroyImage(e->device.handle, image->image, NULL);
	e->device.vkFreeMemory(e->device.handle, image->memory, NULL);
}

void vulkanvideo_session_close(void *encoder)
{
	struct vulkanvideo_encoder *e = encoder;
	VkDevice device = e->device.handle;

	/* Without a queue no function is loaded. */
	if (e->queues[VULKANVIDEO_ENCODE].queue != NULL) {
		/* A frame may have been uploaded, and its picture refused. */
		(void)e->vkDeviceWaitIdle(device);
		for (size_t i = 0; i < VULKANVIDEO_QUEUES; i++)
			e->device.vkDestroyCommandPool(device, e->queues[i].pool, NULL);
		e->vkDestroyQueryPool(device, e->feedback, NULL);
		e->device.vkDestroyFence(device, e->done, NULL);
		e->vkDestroySemaphore(device, e->uploaded, NULL);
		vulkan_buffer_free(&e->device, &e->frame);
		vulkan_buffer_free(&e->device, &e->coded);
		e->vkDestroyVideoSessionParametersKHR(device, e->parameters, NULL);
		e->vkDestroyVideoSessionKHR(device, e->session, NULL);
		for (size_t i = 0; i < VULKANVIDEO_MEMORIES_MAX; i++)
			e->device.vkFreeMemory(device, e->memories[i], NULL);
		free_image(e, &e->references);
		free_image(e, &e->input);
	}
	vulkan_device_free(&e->device);
	text_free(&e->headers);
}
