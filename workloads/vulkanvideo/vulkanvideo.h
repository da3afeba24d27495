/* SPDX-License-Identifier: MIT */
#pragma once

/* Vulkan Video as the probe uses it: loader, instance and devices are those of workloads/vulkan, and
 * each device is asked for encode queues. vulkanvideo_api is what programs need; the rest is
 * shared by the files of this folder. */

#include "base/error.h"
#include "base/text.h"
#include "workloads/video/video.h"
#include "workloads/vulkan/device.h"
#include "workloads/vulkanvideo/encode_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* How a device encodes a codec: a family of queues, and the simplest of its profiles. */
struct vulkanvideo_way {
	uint32_t family;
	const struct vulkanvideo_row *row;
	const struct vulkanvideo_codec *codec;
};

struct vulkanvideo {
	struct vulkan vk;			   /* first: vulkan_close() closes it */
	bool software;				   /* the device is a processor */
	struct vulkanvideo_way ways[VIDEO_CODECS]; /* of the offers */
	PFN_vkGetPhysicalDeviceQueueFamilyProperties2 vkGetPhysicalDeviceQueueFamilyProperties2;
	/* NULL: the loader does not know Vulkan Video. */
	PFN_vkGetPhysicalDeviceVideoCapabilitiesKHR vkGetPhysicalDeviceVideoCapabilitiesKHR;
	PFN_vkGetPhysicalDeviceVideoFormatPropertiesKHR vkGetPhysicalDeviceVideoFormatPropertiesKHR;
};

/* The query for a profile of a codec, 4:2:0. It must not be copied, because its parts refer to each
 * other. */
struct vulkanvideo_profile {
	VkVideoProfileInfoKHR info;
	struct vulkanvideo_numbers codec;
	VkVideoProfileListInfoKHR list; /* with only this profile */
};

struct vulkanvideo_capabilities {
	VkVideoCapabilitiesKHR video;
	VkVideoEncodeCapabilitiesKHR encode;
	struct vulkanvideo_numbers codec;
};

struct vulkanvideo_encoder;

/* How a codec is described. */
struct vulkanvideo_coder {
	/* The parameter sets of the stream: vulkanvideo_create_parameters(). */
	int (*make_parameters)(struct vulkanvideo_encoder *e, struct error *err);
	/* A picture: vulkanvideo_record(). */
	void (*record)(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index);
};

extern const struct vulkanvideo_coder vulkanvideo_h264; /* h264.c */
extern const struct vulkanvideo_coder vulkanvideo_hevc; /* hevc.c */
extern const struct vulkanvideo_coder vulkanvideo_av1;	/* av1.c */

struct vulkanvideo_codec {
	const char *extension;
	VkVideoCodecOperationFlagsKHR operation;
	int32_t capabilities, profile, slot; /* VkStructureType */
	int32_t feature; /* the same, of a feature that has to be enabled; 0: none */
	/* Indices of values[] of its capabilities: how many earlier and later pictures a picture may refer
	 * to, and the least quantiser, which the largest follows. */
	size_t earlier, later, quantisers;
	int32_t quantiser; /* where no rate is kept, if the driver has it */
	/* Two bytes before each picture, which Vulkan leaves to its caller; NULL: none. */
	const char *delimiter;
	const struct vulkanvideo_coder *coder;
};

/* offers.c */
int vulkanvideo_list(void *session, const struct work_request *request, struct video_offers *offers,
		     struct error *err);
/* Asks for a profile and its capabilities. ERROR_UNSUPPORTED: the device does not encode it. */
int vulkanvideo_ask(struct vulkanvideo *v, VkPhysicalDevice physical,
		    const struct vulkanvideo_row *row, struct vulkanvideo_profile *profile,
		    struct vulkanvideo_capabilities *capabilities, struct error *err);

struct vulkanvideo_image {
	VkImage image;
	VkDeviceMemory memory;
	VkImageView view;
	VkFormat format;
};

enum {
	VULKANVIDEO_MEMORIES_MAX = 32, /* that a session may ask for */
	VULKANVIDEO_SLOTS = 2,	       /* the current picture, and the one before */
};

/* The two queues: one uploads frames, the other one encodes. They may be the same. */
enum { VULKANVIDEO_UPLOAD, VULKANVIDEO_ENCODE, VULKANVIDEO_QUEUES };

struct vulkanvideo_encoder {
	struct vulkan *vk; /* for VULKAN_CALL() */
	struct vulkanvideo *v;
	const struct video_job *job;
	struct vulkanvideo_way way;
	struct vulkanvideo_profile profile;
	struct vulkanvideo_capabilities capabilities;
	struct vulkan_device device;
#define X VULKAN_DECLARE
#include "workloads/vulkanvideo/functions.h" /* those that this folder calls */
#undef X
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
	bool constant_qp; /* false: the driver's default rate control */
	int32_t qp;
	struct text headers; /* the parameter sets, until the first picture */
};

/* session.c: everything that one stream needs. */
int vulkanvideo_session_open(struct vulkanvideo_encoder *e, struct error *err);
void vulkanvideo_session_close(void *encoder);

/* encoder.c: makes e->parameters, which `codec` describes, and e->headers, as the driver codes them.
 * `headers` selects some; NULL where there is no choice. */
int vulkanvideo_create_parameters(struct vulkanvideo_encoder *e, const void *codec,
				  const void *headers, struct error *err);
/* Records a picture that `codec` describes; `now` and `before` are this picture and the one before as
 * references. */
void vulkanvideo_record(struct vulkanvideo_encoder *e, VkCommandBuffer commands, unsigned index,
			const void *codec, const void *now, const void *before);
extern const struct video_encoder vulkanvideo_encoder;
