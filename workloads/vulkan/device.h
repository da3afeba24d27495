/* SPDX-License-Identifier: MIT */
#pragma once

/* A logical device with one compute queue, and its memory. Every function that fails leaves what it
 * made so far in the structure. The matching _free() handles any state, for Vulkan lets
 * VK_NULL_HANDLE be destroyed, and is not called after a wait that timed out. */

#include "workloads/vulkan/vulkan.h"

struct vulkan_device {
	struct vulkan *vk;
	VkPhysicalDevice physical;
	VkDevice handle;
	uint32_t queue_family;
	VkQueue queue;
#define X VULKAN_DECLARE
#include "workloads/vulkan/device_functions.h" /* those that this folder calls */
#undef X
};

/* A step of work that begins with a device, of which `vk` and `physical` are set. ERROR_UNSUPPORTED:
 * no queue family does compute work. */
int vulkan_device_open(void *work, struct error *err);
/* The same with the caller's queues and extensions. */
int vulkan_device_create(struct vulkan *vk, VkPhysicalDevice physical,
			 const VkDeviceCreateInfo *info, struct vulkan_device *device,
			 struct error *err);
void vulkan_device_free(struct vulkan_device *device);

/* Memory of the first type that is allowed and has all the wanted properties. ERROR_REMOTE;
 * ERROR_UNSUPPORTED: there is none. */
int vulkan_memory_allocate(struct vulkan_device *device, const VkMemoryRequirements *needs,
			   VkMemoryPropertyFlags wanted, VkDeviceMemory *out, struct error *err);

struct vulkan_buffer {
	VkBuffer buffer;
	VkDeviceMemory memory;
	void *mapped; /* NULL for device-local memory */
};

enum {
	VULKAN_MAPPED = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
};

/* Device-local memory for the kernel, or mapped, coherent memory to copy from and to. */
enum vulkan_buffer_use { VULKAN_BUFFER_STORAGE, VULKAN_BUFFER_STAGING };

/* ERROR_REMOTE; ERROR_UNSUPPORTED: no memory type fits. */
int vulkan_buffer_create(struct vulkan_device *device, enum vulkan_buffer_use use,
			 VkDeviceSize size, struct vulkan_buffer *out, struct error *err);
/* The same for any use; memory that the processor sees is mapped. */
int vulkan_buffer_make(struct vulkan_device *device, const VkBufferCreateInfo *info,
		       VkMemoryPropertyFlags wanted, struct vulkan_buffer *out, struct error *err);
void vulkan_buffer_free(struct vulkan_device *device, struct vulkan_buffer *buffer);
