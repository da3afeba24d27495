/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/device.h"

enum { QUEUE_FAMILIES_MAX = 64 };

int vulkan_device_create(struct vulkan *vk, VkPhysicalDevice physical,
			 const VkDeviceCreateInfo *info, struct vulkan_device *device,
			 struct error *err)
{
	const char *absent = NULL;

	device->vk = vk;
	device->physical = physical;
	int rc = vulkan_check(vk, vk->vkCreateDevice(physical, info, NULL, &device->handle),
			      "vkCreateDevice", err);
	if (rc != 0)
		return rc;
#define X(name)                                                                                    \
	device->name = (PFN_##name)vk->vkGetDeviceProcAddr(device->handle, #name);                 \
	absent = device->name == NULL ? #name : absent;
#include "workloads/vulkan/device_functions.h"
#undef X
	if (absent != NULL)
		return error_set(err, ERROR_UNSUPPORTED, "the driver offers no %s", absent);
	return 0;
}

int vulkan_device_open(void *work, struct error *err)
{
	static const float priority = 1.0f;
	struct vulkan_device *device = work;
	VkQueueFamilyProperties families[QUEUE_FAMILIES_MAX] = {0};
	uint32_t count = QUEUE_FAMILIES_MAX;
	uint32_t family = 0;

	device->vk->vkGetPhysicalDeviceQueueFamilyProperties(device->physical, &count, families);
	if (count > QUEUE_FAMILIES_MAX)
		count = QUEUE_FAMILIES_MAX;
	while (family < count && ((families[family].queueFlags & VK_QUEUE_COMPUTE_BIT) == 0 ||
				  families[family].queueCount == 0))
		family++;
	if (family == count)
		return error_set(err, ERROR_UNSUPPORTED,
				 "none of the device's %u queue families does compute work", count);

	device->queue_family = family;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueFamilyIndex = family,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
	};
	int rc = vulkan_device_create(device->vk, device->physical, &info, device, err);
	if (rc == 0)
		device->vkGetDeviceQueue(device->handle, family, 0, &device->queue);
	return rc;
}

void vulkan_device_free(struct vulkan_device *device)
{
	if (device->vkDestroyDevice != NULL)
		device->vkDestroyDevice(device->handle, NULL);
}

int vulkan_memory_allocate(struct vulkan_device *device, const VkMemoryRequirements *needs,
			   VkMemoryPropertyFlags wanted, VkDeviceMemory *out, struct error *err)
{
	VkPhysicalDeviceMemoryProperties memory = {0};
	device->vk->vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
	uint32_t type = 0;
	while (type < VK_MAX_MEMORY_TYPES &&
	       (type >= memory.memoryTypeCount || (needs->memoryTypeBits & (1u << type)) == 0 ||
		(memory.memoryTypes[type].propertyFlags & wanted) != wanted))
		type++;
	if (type == VK_MAX_MEMORY_TYPES)
		return error_set(err, ERROR_UNSUPPORTED, "the device has no %s memory type",
				 wanted == VULKAN_MAPPED ? "host-coherent" : "device-local");
	const VkMemoryAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
		.allocationSize = needs->size,
		.memoryTypeIndex = type,
	};
	return VULKAN_CALL(device, err, vkAllocateMemory, device->handle, &info, NULL, out);
}

int vulkan_buffer_make(struct vulkan_device *device, const VkBufferCreateInfo *info,
		       VkMemoryPropertyFlags wanted, struct vulkan_buffer *out, struct error *err)
{
	VkMemoryRequirements needs = {0};
	int rc = VULKAN_CALL(device, err, vkCreateBuffer, device->handle, info, NULL, &out->buffer);
	if (rc != 0)
		return rc;
	device->vkGetBufferMemoryRequirements(device->handle, out->buffer, &needs);
	rc = vulkan_memory_allocate(device, &needs, wanted, &out->memory, err);
	if (rc == 0)
		rc = VULKAN_CALL(device, err, vkBindBufferMemory, device->handle, out->buffer,
				 out->memory, 0);
	if (rc == 0 && wanted == VULKAN_MAPPED)
		rc = VULKAN_CALL(device, err, vkMapMemory, device->handle, out->memory, 0,
				 VK_WHOLE_SIZE, 0, &out->mapped);
	return rc;
}

int vulkan_buffer_create(struct vulkan_device *device, enum vulkan_buffer_use use,
			 VkDeviceSize size, struct vulkan_buffer *out, struct error *err)
{
	const bool storage = use == VULKAN_BUFFER_STORAGE;
	const VkBufferCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
		.size = size,
		.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
			 (storage ? VK_BUFFER_USAGE_STORAGE_BUFFER_BIT : 0u),
		.sharingMode = VK_SHARING_MODE_EXCLUSIVE,
	};
	return vulkan_buffer_make(device, &info,
				  storage ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT : VULKAN_MAPPED,
				  out, err);
}

void vulkan_buffer_free(struct vulkan_device *device, struct vulkan_buffer *buffer)
{
	device->vkDestroyBuffer(device->handle, buffer->buffer, NULL);
	device->vkFreeMemory(device->handle, buffer->memory, NULL); /* unmaps, too */
}
