/* SPDX-License-Identifier: MIT */
#pragma once

/* The Vulkan API as probes use it: loader, instance, physical devices. vulkan_api (below) is what
 * programs need; the rest is shared by the files of this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <vulkan/vulkan.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VULKAN_LIBRARY API_LIBRARY("vulkan-1.dll", "libvulkan.so.1")

#define VULKAN_DECLARE(name) PFN_##name name;

struct vulkan {
	struct api_report *report; /* receives the loader's messages while the API is opened */
	PFN_vkGetInstanceProcAddr get_address; /* the loader's */
#define X VULKAN_DECLARE
#include "workloads/vulkan/instance_functions.h" /* those that this folder calls */
#undef X
	uint32_t api_version; /* of the instance: at least 1.1 */
	VkInstance instance;
	size_t device_count;
	VkPhysicalDevice devices[API_DEVICES_MAX];
	struct call_failure
		*failure; /* where a call that fails is kept: in `opening`, then in a report */
	struct call_failure opening;
	VkDebugUtilsMessengerEXT messenger;
	char cause[API_MESSAGE_SIZE_MAX]; /* the first message that names a defect; "" for none */
};

/* 0 for VK_SUCCESS; otherwise keeps call and result in *vk->failure and returns ERROR_REMOTE. */
int vulkan_check(struct vulkan *vk, VkResult result, const char *call, struct error *err);

/* vulkan_check() of a function of a struct vulkan_device. */
#define VULKAN_CALL(device, err, function, ...)                                                    \
	vulkan_check((device)->vk, (device)->function(__VA_ARGS__), #function, err)

/* A function of the loader, before there is an instance; NULL: there is none of that name. */
#define VULKAN_GLOBAL(vk, name) ((PFN_##name)(vk)->get_address(NULL, #name))

/* describe.c: whether a list of extensions holds one. */
bool vulkan_has_extension(const VkExtensionProperties *list, uint32_t count, const char *name);

bool vulkan_offers(const struct vulkan *vk, VkPhysicalDevice device, const char *name);

/* The size of all heaps that belong to the device. */
double vulkan_local_bytes(const VkPhysicalDeviceMemoryProperties *memory);

/* What this process could still allocate of them, as VK_EXT_memory_budget reports it; 0: unknown. */
uint64_t vulkan_free_bytes(const struct vulkan *vk, VkPhysicalDevice device);

/* One element of `devices`. */
cJSON *vulkan_describe_device(const struct vulkan *vk, size_t index);

/* As the `close` of an api_driver whose session begins with a struct vulkan. */
void vulkan_close(void *session);

/* compute.c: the work on one device that exists. Errors as for the `work` of an api_driver. */
int vulkan_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err);

const char *vulkan_device_type_name(VkPhysicalDeviceType type); /* "discrete-gpu", "cpu", ... */
