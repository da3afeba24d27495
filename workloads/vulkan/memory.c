/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/device.h"

/* The first allowed type with all wanted flags; VK_MAX_MEMORY_TYPES when there is none. */
static uint32_t find_type(const VkPhysicalDeviceMemoryProperties *memory, uint32_t allowed,
			  VkMemoryPropertyFlags wanted)
{
	for (uint32_t i = 0; i < memory->memoryTypeCount && i < VK_MAX_MEMORY_TYPES; i++)
		if ((allowed & (1u << i)) != 0 &&
		    (memory->memoryTypes[i].propertyFlags & wanted) == wanted)
			return i;
	return VK_MAX_MEMORY_TYPES;
}

int vulkan_memory_allocate(struct vulkan_device *device, const VkMemoryRequirements *needs,
			   VkMemoryPropertyFlags wanted, VkDeviceMemory *out, struct error *err)
{
	VkPhysicalDeviceMemoryProperties memory = {0};
	device->vk->vkGetPhysicalDeviceMemoryProperties(device->physical, &memory);
	uint32_t type = find_type(&memory, needs->memoryTypeBits, wanted);
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

int vulkan_layout_plan(const struct vulkan_device *device, size_t elements,
		       struct vulkan_layout *out, struct error *err)
{
	VkPhysicalDeviceProperties properties = {0};
	device->vk->vkGetPhysicalDeviceProperties(device->physical, &properties);
	const VkDeviceSize alignment = properties.limits.minStorageBufferOffsetAlignment > 0
					       ? properties.limits.minStorageBufferOffsetAlignment
					       : 1;
	out->array_size = (elements + WORK_GUARD) * sizeof(uint32_t);
	if (out->array_size > properties.limits.maxStorageBufferRange)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%zu elements do not fit a storage buffer of %u bytes", elements,
				 properties.limits.maxStorageBufferRange);
	const VkDeviceSize stride = (out->array_size + alignment - 1) / alignment * alignment;
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		out->offsets[i] = i * stride;
	out->size = stride * WORK_ARRAYS;
	return 0;
}
