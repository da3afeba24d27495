/* SPDX-License-Identifier: MIT */
#pragma once

/* A Vulkan driver for tests, loaded by the real loader through its manifest. Its devices work on
 * the processor and know one kernel, that of the probes. */

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

#define ENTRY(name)                                                                                \
	{                                                                                          \
#name, (PFN_vkVoidFunction)(name)                                                  \
	}

/* Returns the failure that is asked for. */
#define ENTER(name)                                                                                \
	do {                                                                                       \
		const VkResult result_ = (VkResult)setting_enter(#name);                           \
		if (result_ != VK_SUCCESS)                                                         \
			return result_;                                                            \
	} while (0)

struct double_entry {
	const char *name;
	PFN_vkVoidFunction function;
};

/* Dispatchable objects begin with a place for the loader. */
struct double_device {
	VK_LOADER_DATA loader;
	struct {
		VK_LOADER_DATA loader;
	} queue;
};

/* vulkan_double_device.c: functions of devices; NULL for a name it does not have. */
PFN_vkVoidFunction double_device_function(const char *name);

/* vulkan_double_commands.c: functions of command buffers and queues; NULL as above. */
PFN_vkVoidFunction double_command_function(const char *name);

/* Memory that a buffer is bound to. */
struct double_memory {
	unsigned char *bytes;
};

struct double_buffer {
	VkDeviceSize size;
	struct double_memory *memory;
	VkDeviceSize offset;
};

enum { DOUBLE_BINDINGS = 3 };

struct double_set {
	VkDescriptorBufferInfo bindings[DOUBLE_BINDINGS];
};

void *double_allocate(size_t size); /* zeroed; ends the process when there is none */
