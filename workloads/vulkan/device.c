/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/device.h"

enum { QUEUE_FAMILIES_MAX = 64 };

static int find_compute_family(struct vulkan_device *device, struct error *err)
{
	VkQueueFamilyProperties families[QUEUE_FAMILIES_MAX] = {0};
	uint32_t count = QUEUE_FAMILIES_MAX;
	device->vk->vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
	for (uint32_t i = 0; i < count && i < QUEUE_FAMILIES_MAX; i++) {
		if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 ||
		    families[i].queueCount == 0)
			continue;
		device->queue_family = i;
		return 0;
	}
	return error_set(err, ERROR_UNSUPPORTED,
			 "none of the device's %u queue families does compute work", count);
}

static int load_device_functions(struct vulkan_device *device, struct error *err)
{
	struct vulkan *vk = device->vk;
#define LOAD(name)                                                                                 \
	device->name = (PFN_##name)vk->vkGetDeviceProcAddr(device->handle, #name);                 \
	if (device->name == NULL)                                                                  \
		return error_set(err, ERROR_UNSUPPORTED, "the driver offers no " #name);
	VULKAN_DEVICE_FUNCTIONS(LOAD)
#undef LOAD
	return 0;
}

int vulkan_device_create(struct vulkan *vk, VkPhysicalDevice physical,
			 const VkDeviceCreateInfo *info, struct vulkan_device *out,
			 struct error *err)
{
	out->vk = vk;
	out->physical = physical;
	int rc = vulkan_check(vk, vk->vkCreateDevice(physical, info, NULL, &out->handle),
			      "vkCreateDevice", err);
	return rc == 0 ? load_device_functions(out, err) : rc;
}

int vulkan_device_open(struct vulkan *vk, VkPhysicalDevice physical, struct vulkan_device *out,
		       struct error *err)
{
	static const float priority = 1.0f;
	*out = (struct vulkan_device){.vk = vk, .physical = physical};
	int rc = find_compute_family(out, err);
	if (rc != 0)
		return rc;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = out->queue_family,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
	};
	rc = vulkan_device_create(vk, physical, &info, out, err);
	if (rc == 0)
		out->vkGetDeviceQueue(out->handle, out->queue_family, 0, &out->queue);
	return rc;
}

void vulkan_device_free(struct vulkan_device *device)
{
	if (device->vkDestroyDevice != NULL)
		device->vkDestroyDevice(device->handle, NULL);
}
