/* SPDX-License-Identifier: MIT */
#pragma once

/* Vulkan Video as the probe uses it: loader, instance and devices are those of workloads/vulkan, and
 * each device is asked for queues that encode. vulkanvideo_api is what programs need; the rest is
 * shared by the files of this folder. */

#include "base/error.h"
#include "base/text.h"
#include "workloads/video/h264.h"
#include "workloads/video/video.h"
#include "workloads/vulkan/device.h"
#include "workloads/vulkanvideo/encode_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* How a device encodes a codec: a family of queues, and the simplest of its profiles. */
struct vulkanvideo_way {
	uint32_t family;
	const struct vulkanvideo_row *row;
};

struct vulkanvideo {
	struct vulkan *vk;
	bool software;				   /* the device is a processor */
	struct vulkanvideo_way ways[VIDEO_CODECS]; /* of what was offered */
	PFN_vkGetPhysicalDeviceQueueFamilyProperties2 vkGetPhysicalDeviceQueueFamilyProperties2;
	/* NULL: a loader that knows no Vulkan Video. */
	PFN_vkGetPhysicalDeviceVideoCapabilitiesKHR vkGetPhysicalDeviceVideoCapabilitiesKHR;
	PFN_vkGetPhysicalDeviceVideoFormatPropertiesKHR vkGetPhysicalDeviceVideoFormatPropertiesKHR;
};

/* A profile of a codec as Vulkan is asked for it, 4:2:0. Its parts refer to each other, so it stays
 * where it was made. */
struct vulkanvideo_profile {
	VkVideoProfileInfoKHR info;
	/* VkVideoEncode{H264,H265,AV1}ProfileInfoKHR, which are alike. */
	struct {
		VkStructureType sType;
		const void *pNext;
		int32_t number; /* as the codec numbers profiles */
	} codec;
	VkVideoProfileListInfoKHR list; /* it alone */
};

struct vulkanvideo_capabilities {
	VkVideoCapabilitiesKHR video;
	VkVideoEncodeCapabilitiesKHR encode;
	union {
		VkVideoEncodeH264CapabilitiesKHR h264;
		/* Of every codec: behind the head come numbers of 32 bits. */
		struct {
			VkStructureType sType;
			void *pNext;
			uint32_t values[32];
		} any;
	} codec;
};

/* offers.c */
int vulkanvideo_list(void *session, const struct work_request *request, struct video_offers *offers,
		     struct error *err);
/* Whether the device encodes a profile, and what it says of it. ERROR_UNSUPPORTED: it does not. */
int vulkanvideo_ask(struct vulkanvideo *v, VkPhysicalDevice physical,
		    const struct vulkanvideo_row *row, struct vulkanvideo_profile *profile,
		    struct vulkanvideo_capabilities *capabilities, struct error *err);

#define VULKANVIDEO_FUNCTIONS(X)                                                                   \
	X(vkDeviceWaitIdle)                                                                        \
	X(vkCreateImage)                                                                           \
	X(vkDestroyImage)                                                                          \
	X(vkGetImageMemoryRequirements)                                                            \
	X(vkBindImageMemory)                                                                       \
	X(vkCreateImageView)                                                                       \
	X(vkDestroyImageView)                                                                      \
	X(vkCreateSemaphore)                                                                       \
	X(vkDestroySemaphore)                                                                      \
	X(vkResetFences)                                                                           \
	X(vkCreateQueryPool)                                                                       \
	X(vkDestroyQueryPool)                                                                      \
	X(vkGetQueryPoolResults)                                                                   \
	X(vkCmdResetQueryPool)                                                                     \
	X(vkCmdBeginQuery)                                                                         \
	X(vkCmdEndQuery)                                                                           \
	X(vkCmdCopyBufferToImage)                                                                  \
	X(vkCreateVideoSessionKHR)                                                                 \
	X(vkDestroyVideoSessionKHR)                                                                \
	X(vkGetVideoSessionMemoryRequirementsKHR)                                                  \
	X(vkBindVideoSessionMemoryKHR)                                                             \
	X(vkCreateVideoSessionParametersKHR)                                                       \
	X(vkDestroyVideoSessionParametersKHR)                                                      \
	X(vkGetEncodedVideoSessionParametersKHR)                                                   \
	X(vkCmdBeginVideoCodingKHR)                                                                \
	X(vkCmdControlVideoCodingKHR)                                                              \
	X(vkCmdEncodeVideoKHR)                                                                     \
	X(vkCmdEndVideoCodingKHR)

struct vulkanvideo_image {
	VkImage image;
	VkDeviceMemory memory;
	VkImageView view;
	VkFormat format;
};

enum {
	VULKANVIDEO_MEMORIES_MAX = 32, /* that a session asks for */
	VULKANVIDEO_SLOTS = 2,	       /* the picture that is coded, and the one before */
};

/* The two queues: one takes frames to the device, the other one encodes. They may be the same. */
enum { VULKANVIDEO_UPLOAD, VULKANVIDEO_ENCODE, VULKANVIDEO_QUEUES };

struct vulkanvideo_encoder {
	struct vulkan *vk; /* for VULKAN_CALL() */
	struct vulkanvideo *v;
	const struct video_job *job;
	struct vulkanvideo_profile profile;
	struct vulkanvideo_capabilities capabilities;
	struct vulkan_device device;
	VULKANVIDEO_FUNCTIONS(VULKAN_DECLARE)
	struct {
		uint32_t family;
		VkQueue queue;
		VkCommandPool pool;
		VkCommandBuffer commands;
	} queues[VULKANVIDEO_QUEUES];
	VkVideoSessionKHR session;
	VkVideoSessionParametersKHR parameters;
	VkDeviceMemory memories[VULKANVIDEO_MEMORIES_MAX];
	struct vulkanvideo_image input, references;
	struct vulkan_buffer frame, coded;
	VkDeviceSize coded_size;
	VkSemaphore uploaded;
	VkFence done;
	VkQueryPool feedback;
	bool constant_qp; /* else the rate control that the driver has by default */
	int32_t qp;
	struct text headers; /* the parameter sets, until the first picture */
};

/* session.c: everything that one stream needs, in the order in which it is made. */
int vulkanvideo_session_open(struct vulkanvideo_encoder *e, struct error *err);
void vulkanvideo_session_close(void *encoder);

/* encoder.c: the parameter sets of the stream, and e->headers as the driver codes them. */
int vulkanvideo_make_parameters(struct vulkanvideo_encoder *e, struct error *err);
extern const struct video_encoder vulkanvideo_encoder;
