/* SPDX-License-Identifier: MIT */
#pragma once

/* A Vulkan driver for tests, loaded by the real loader through its manifest. Its devices work on
 * the processor and know one kernel, that of the probes. */

#define VK_NO_PROTOTYPES
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan.h>

#include <stdbool.h>

#include "workloads/vulkanvideo/encode_abi.h"

#define ENTRY(name)                                                                                \
	{                                                                                          \
#name, (PFN_vkVoidFunction)(name)                                                  \
	}

/* Returns the configured failure. */
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

/* Dispatchable objects begin with a pointer for the loader. */
enum { DOUBLE_FAMILIES = 3 };

struct double_device {
	VK_LOADER_DATA loader;
	struct {
		VK_LOADER_DATA loader;
	} queues[DOUBLE_FAMILIES]; /* one of each family */
	uint32_t codecs;	   /* codecs that it encodes: VkVideoCodecOperationFlagsKHR */
};

/* vulkan_double_device.c: functions of devices; NULL for a name it does not have. */
PFN_vkVoidFunction double_device_function(const char *name);

/* vulkan_double_commands.c: functions of command buffers and queues; NULL as above. */
PFN_vkVoidFunction double_command_function(const char *name);

/* vulkan_double_video.c: functions of Vulkan Video, images and semaphores; NULL as above. With
 * "video" among the settings, the double encodes. */
PFN_vkVoidFunction double_video_function(const char *name);
uint32_t double_video_extensions(VkExtensionProperties out[5]);
/* The codecs whose extension, and feature if it exists, the caller enabled. */
uint32_t double_video_codecs(const VkDeviceCreateInfo *info);

/* Refuses an invalid call, and prints why on stderr. */
VkResult double_refuse(const char *why);

/* vulkan_double_device.c: a kernel of two dimensions never ends. */
void double_work_began(bool never_ends);
size_t double_memory_kept(void); /* bytes kept by the word "keeps" */

/* Memory that a buffer is bound to. */
struct double_memory {
	unsigned char *bytes;
};

struct double_buffer {
	VkDeviceSize size;
	struct double_memory *memory;
	VkDeviceSize offset;
};

struct double_image {
	uint32_t width, height;
	struct double_memory *memory;
};

struct double_view {
	struct double_image *image;
};

struct double_semaphore {
	bool signalled;
};

enum { DOUBLE_BINDINGS = 3 };

struct double_set {
	VkDescriptorBufferInfo bindings[DOUBLE_BINDINGS];
};

/* The Vulkan Video commands of a command buffer: both NULL for none. */
struct double_video {
	struct double_buffer *from; /* frames of NV12, copied to `image` */
	struct double_image *image;
	struct double_picture *picture;
	const char *wrong; /* what is wrong; NULL: nothing */
};

/* Runs the recorded video commands with the command buffer. */
VkResult double_video_run(struct double_video *video);
VkResult double_semaphores(const VkSubmitInfo *info);
void double_video_forget(struct double_video *video);

/* The video commands of the command buffer. */
struct double_video *double_video_of(VkCommandBuffer commands);

void *double_allocate(size_t size); /* zeroed; ends the process when out of memory */
