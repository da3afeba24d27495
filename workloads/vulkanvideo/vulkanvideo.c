/* SPDX-License-Identifier: MIT */
#include "workloads/vulkanvideo/vulkanvideo.h"

static int open_api(struct api_report *report, void *session, struct error *err)
{
	struct vulkanvideo *v = session;

	int rc = vulkan_api.open(report, &v->vk, err);
	if (rc != 0)
		return rc;
#define LOAD(name) v->name = (PFN_##name)v->vk.get_address(v->vk.instance, #name)
	LOAD(vkGetPhysicalDeviceQueueFamilyProperties2);
	LOAD(vkGetPhysicalDeviceVideoCapabilitiesKHR);
	LOAD(vkGetPhysicalDeviceVideoFormatPropertiesKHR);
#undef LOAD
	return 0;
}

static int work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err)
{
	struct vulkanvideo *v = session;
	VkPhysicalDeviceProperties properties = {0};

	v->vk.failure = &report->failure;
	v->vk.vkGetPhysicalDeviceProperties(v->vk.devices[request->device], &properties);
	v->software = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
	return video_work(&vulkanvideo_encoder, v, v->software, request, report, err);
}

const struct api_driver vulkanvideo_api = {
	.name = "vulkanvideo",
	.library = VULKAN_LIBRARY,
	.summary = "Encode video with Vulkan on a device and report the streams",
	.description =
		"Opens the Vulkan loader, enumerates the physical devices, lists what one of them encodes (VK_KHR_video_encode_queue), "
		"and encodes moving frames in H.264, HEVC and AV1 on it. Whoever chose the seed can decode the stream and compare it.",
	.session_size = sizeof(struct vulkanvideo),
	.open = open_api,
	.work = work,
	.close = vulkan_close,
};
