/* SPDX-License-Identifier: MIT */
#include "workloads/amf/amf.h"

#include "workloads/vulkan/vulkan.h"

enum { FAMILIES_MAX = 32, EXTENSIONS_MAX = 64 };

const struct api_driver *const amf_devices = &vulkan_api;

/* Vulkan extensions that AMF asks for and the device has: AMF names those of all devices. */
static int ask_extensions(const struct amf *amf, VkPhysicalDevice physical, size_t *count,
			  const char *names[EXTENSIONS_MAX], struct call_failure *failure,
			  struct error *err)
{
	size_t named = 0;

	int rc = AMF_CALL(failure, err, AMFContext1, GetVulkanDeviceExtensions, amf->context,
			  &named, NULL);
	if (rc == 0 && named > 0 && named <= EXTENSIONS_MAX)
		rc = AMF_CALL(failure, err, AMFContext1, GetVulkanDeviceExtensions, amf->context,
			      &named, names);
	if (rc == 0 && named > EXTENSIONS_MAX)
		return error_set(err, ERROR_LIMIT, "AMF asks for %zu extensions of Vulkan", named);
	for (size_t i = 0; rc == 0 && i < named; i++)
		if (names[i] != NULL && vulkan_offers(amf->devices, physical, names[i]))
			names[(*count)++] = names[i];
	return rc;
}

int amf_device_open(struct amf *amf, size_t index, struct call_failure *failure, struct error *err)
{
	static const float priority = 1.0f;
	struct vulkan *vk = amf->devices;
	VkPhysicalDevice physical = vk->devices[index];
	VkQueueFamilyProperties families[FAMILIES_MAX] = {0};
	VkDeviceQueueCreateInfo queues[FAMILIES_MAX] = {0};
	const char *names[EXTENSIONS_MAX] = {0};
	VkDevice device = VK_NULL_HANDLE;
	uint32_t count = FAMILIES_MAX;
	size_t extensions = 0;

	int rc = ask_extensions(amf, physical, &extensions, names, failure, err);
	if (rc != 0)
		return rc;

	/* With a queue of each family. */
	vk->vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
	count = count < FAMILIES_MAX ? count : FAMILIES_MAX;
	for (uint32_t i = 0; i < count; i++)
		queues[i] = (VkDeviceQueueCreateInfo){
			.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
			.queueFamilyIndex = i,
			.queueCount = 1,
			.pQueuePriorities = &priority,
		};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = count,
		.pQueueCreateInfos = queues,
		.enabledExtensionCount = (uint32_t)extensions,
		.ppEnabledExtensionNames = names,
	};
	vk->failure = failure;
	rc = vulkan_check(vk, vk->vkCreateDevice(physical, &info, NULL, &device), "vkCreateDevice",
			  err);
	amf->device = device;
	if (rc != 0)
		return rc;

	struct amf_vulkan_device vulkan = {
		.size = sizeof(vulkan),
		.instance = vk->instance,
		.physical = physical,
		.device = device,
	};
	return amf_check_present(
		AMF_METHOD(amf->context, AMFContext1, InitVulkan)(amf->context, &vulkan),
		"AMFContext1::InitVulkan", failure, err);
}

void amf_device_close(struct amf *amf)
{
	const struct vulkan *vk = amf->devices;

	if (amf->device == NULL)
		return;
	PFN_vkDestroyDevice destroy =
		(PFN_vkDestroyDevice)vk->vkGetDeviceProcAddr(amf->device, "vkDestroyDevice");
	destroy(amf->device, NULL);
	amf->device = NULL;
}
