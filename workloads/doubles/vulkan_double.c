/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/vulkan_double.h"

#include "workloads/doubles/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Mesa's driver of the processor, which is installed with those of GPUs. */
#ifndef DOUBLE_CPU
#define DOUBLE_CPU 0
#endif

enum { GPUS_MAX = 16 };

struct gpu {
	VK_LOADER_DATA loader;
	uint32_t index;
};

struct instance {
	VK_LOADER_DATA loader;
	uint32_t count;
	struct gpu gpus[GPUS_MAX];
};

#define EXPORT __attribute__((visibility("default")))

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version);
EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
									  const char *name);

void *double_allocate(size_t size)
{
	void *memory = calloc(1, size);
	if (memory == NULL)
		_Exit(99);
	return memory;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceVersion(uint32_t *version)
{
	*version = VK_API_VERSION_1_3;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceExtensionProperties(
	const char *layer, uint32_t *count, VkExtensionProperties *list)
{
	(void)layer;
	(void)list;
	*count = 0;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateInstance(const VkInstanceCreateInfo *info,
						       const VkAllocationCallbacks *allocator,
						       VkInstance *out)
{
	(void)info;
	(void)allocator;
	ENTER(vkCreateInstance);
	struct instance *instance = double_allocate(sizeof(*instance));
	size_t wanted = DOUBLE_CPU ? 1 : setting_number("devices", 1);
	set_loader_magic_value(instance);
	instance->count = wanted < GPUS_MAX ? (uint32_t)wanted : GPUS_MAX;
	for (uint32_t i = 0; i < instance->count; i++) {
		instance->gpus[i].index = i;
		set_loader_magic_value(&instance->gpus[i]);
	}
	*out = (VkInstance)instance;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkDestroyInstance(VkInstance instance,
						    const VkAllocationCallbacks *allocator)
{
	(void)allocator;
	(void)setting_enter("vkDestroyInstance");
	free(instance);
}

static VKAPI_ATTR VkResult VKAPI_CALL vkEnumeratePhysicalDevices(VkInstance handle, uint32_t *count,
								 VkPhysicalDevice *out)
{
	struct instance *instance = (struct instance *)handle;
	ENTER(vkEnumeratePhysicalDevices);
	if (out == NULL) {
		*count = instance->count;
		return VK_SUCCESS;
	}
	uint32_t room = *count;
	*count = room < instance->count ? room : instance->count;
	for (uint32_t i = 0; i < *count; i++)
		out[i] = (VkPhysicalDevice)&instance->gpus[i];
	return room < instance->count ? VK_INCOMPLETE : VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceProperties(VkPhysicalDevice device,
								VkPhysicalDeviceProperties *out)
{
	const uint32_t index = ((struct gpu *)device)->index;
	*out = (VkPhysicalDeviceProperties){
		.apiVersion = setting_has("old") ? VK_API_VERSION_1_0 : VK_API_VERSION_1_3,
		.driverVersion = 0x12345678,
		.vendorID = DOUBLE_CPU ? 0x10005 : (uint32_t)setting_number("vendor", 0x10DE),
		.deviceID = DOUBLE_CPU ? 0 : (uint32_t)setting_number("device", 0x1EB8) + index,
		.deviceType = DOUBLE_CPU || setting_has("software")
				      ? VK_PHYSICAL_DEVICE_TYPE_CPU
				      : VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU,
		.limits = {.maxMemoryAllocationCount = 4096,
			   .maxImageDimension2D = 4096,
			   .maxStorageBufferRange = 1u << 27,
			   .minStorageBufferOffsetAlignment = 64},
	};
	(void)snprintf(out->deviceName, sizeof(out->deviceName), "Double %u \xff", index);
}

static VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceProperties2(VkPhysicalDevice device,
								 VkPhysicalDeviceProperties2 *out)
{
	const uint32_t index = ((struct gpu *)device)->index;
	vkGetPhysicalDeviceProperties(device, &out->properties);
	for (VkBaseOutStructure *link = out->pNext; link != NULL; link = link->pNext) {
		if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES) {
			VkPhysicalDeviceVulkan11Properties *most = (void *)link;
			most->maxMemoryAllocationSize = 1u << 30;
			most->maxPerSetDescriptors = 1024;
		} else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES) {
			VkPhysicalDeviceIDProperties *id = (void *)link;
			memset(id->deviceUUID, (int)index + 1, sizeof(id->deviceUUID));
			memset(id->driverUUID, 0xD0, sizeof(id->driverUUID));
			memset(id->deviceLUID, (int)index + 0x10, sizeof(id->deviceLUID));
			id->deviceLUIDValid = VK_TRUE;
		} else if (link->sType ==
			   VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT) {
			VkPhysicalDevicePCIBusInfoPropertiesEXT *pci = (void *)link;
			pci->pciDomain = (uint32_t)setting_number("pci-domain", 0x10000);
			pci->pciBus = (uint32_t)setting_number("pci-bus", 0x40) + index;
		} else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT) {
			VkPhysicalDeviceDrmPropertiesEXT *drm = (void *)link;
			drm->hasRender = VK_TRUE;
			drm->renderMajor = (int64_t)setting_number("drm-major", 226);
			drm->renderMinor = (int64_t)setting_number("drm-minor", 128) + index;
		} else if (link->sType == VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES) {
			VkPhysicalDeviceDriverProperties *driver = (void *)link;
			driver->driverID = (VkDriverId)9999;
			/* Without a NUL, which a driver owes but may forget. */
			memset(driver->driverName, 'D', sizeof(driver->driverName));
		}
	}
}

static VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateDeviceExtensionProperties(
	VkPhysicalDevice device, const char *layer, uint32_t *count, VkExtensionProperties *list)
{
	VkExtensionProperties offered[8] = {
		{VK_EXT_PCI_BUS_INFO_EXTENSION_NAME, 2},
		{VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME, 1},
		{VK_EXT_MEMORY_BUDGET_EXTENSION_NAME, 1},
	};
	const uint32_t have = DOUBLE_CPU ? 0 : 3 + double_video_extensions(offered + 3);
	(void)device;
	(void)layer;
	ENTER(vkEnumerateDeviceExtensionProperties);
	if (list != NULL)
		memcpy(list, offered, (*count < have ? *count : have) * sizeof(*list));
	*count = have;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL
vkGetPhysicalDeviceMemoryProperties(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties *out)
{
	(void)device;
	*out = (VkPhysicalDeviceMemoryProperties){
		.memoryTypeCount = 2,
		.memoryTypes = {{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0},
				{VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
					 VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
				 1}},
		.memoryHeapCount = 2,
		.memoryHeaps = {{16u << 20, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT}, {32u << 20, 0}},
	};
}

static VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceMemoryProperties2(
	VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2 *out)
{
	vkGetPhysicalDeviceMemoryProperties(device, &out->memoryProperties);
	VkPhysicalDeviceMemoryBudgetPropertiesEXT *budget = out->pNext;
	budget->heapBudget[0] = 1u << 30;
	budget->heapUsage[0] = (4u << 20) + double_memory_kept();
	budget->heapBudget[1] = 32u << 20;
}

static uint32_t count_families(void)
{
	if (setting_has("video") && !setting_has("no-queue"))
		return 3;
	return setting_has("graphics-only") ? 1 : 2;
}

static VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceQueueFamilyProperties(
	VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties *out)
{
	const VkQueueFamilyProperties families[] = {
		{.queueFlags = VK_QUEUE_TRANSFER_BIT, .queueCount = 1},
		{.queueFlags = VK_QUEUE_COMPUTE_BIT, .queueCount = 1},
		{.queueFlags = VK_QUEUE_VIDEO_ENCODE_BIT_KHR |
			       (setting_has("copies") ? VK_QUEUE_TRANSFER_BIT : 0u),
		 .queueCount = 1},
	};
	const uint32_t have = count_families();
	(void)device;
	if (out != NULL)
		memcpy(out, families, (*count < have ? *count : have) * sizeof(*out));
	*count = out != NULL && *count < have ? *count : have;
	if (out != NULL)
		*count = (uint32_t)setting_number("families", *count);
}

static VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceQueueFamilyProperties2(
	VkPhysicalDevice device, uint32_t *count, VkQueueFamilyProperties2 *out)
{
	VkQueueFamilyProperties families[3] = {0};
	uint32_t have = 3;
	vkGetPhysicalDeviceQueueFamilyProperties(device, &have, families);
	for (uint32_t i = 0; out != NULL && i < have && i < *count; i++) {
		out[i].queueFamilyProperties = families[i];
		for (VkBaseOutStructure *link = out[i].pNext; link != NULL; link = link->pNext)
			if (link->sType == VK_STRUCTURE_TYPE_QUEUE_FAMILY_VIDEO_PROPERTIES_KHR)
				((VkQueueFamilyVideoPropertiesKHR *)(void *)link)
					->videoCodecOperations = i == 2 ? 0x70000 : 0;
	}
	*count = out != NULL && *count < have ? *count : have;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateDevice(VkPhysicalDevice physical,
						     const VkDeviceCreateInfo *info,
						     const VkAllocationCallbacks *allocator,
						     VkDevice *out)
{
	(void)physical;
	(void)allocator;
	ENTER(vkCreateDevice);
	struct double_device *device = double_allocate(sizeof(*device));
	device->codecs = double_video_codecs(info);
	set_loader_magic_value(device);
	for (size_t i = 0; i < DOUBLE_FAMILIES; i++)
		set_loader_magic_value(&device->queues[i]);
	*out = (VkDevice)device;
	return VK_SUCCESS;
}

static VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetDeviceProcAddr(VkDevice device,
								    const char *name)
{
	(void)device;
	PFN_vkVoidFunction function = double_device_function(name);
	if (function == NULL)
		function = double_command_function(name);
	return function != NULL ? function : double_video_function(name);
}

/* The loader and layers require these; probes never call them. */
static VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceFormatProperties(VkPhysicalDevice device,
								      VkFormat format,
								      VkFormatProperties *out)
{
	(void)device;
	(void)format;
	*out = (VkFormatProperties){.optimalTilingFeatures = VK_FORMAT_FEATURE_TRANSFER_DST_BIT |
							     0x18000000}; /* for frames to encode,
									   * and for references */
}

static VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceImageFormatProperties(
	VkPhysicalDevice device, VkFormat format, VkImageType type, VkImageTiling tiling,
	VkImageUsageFlags usage, VkImageCreateFlags flags, VkImageFormatProperties *out)
{
	(void)device;
	(void)format;
	(void)type;
	(void)tiling;
	(void)usage;
	(void)flags;
	*out = (VkImageFormatProperties){{4096, 4096, 1}, 1, 16, VK_SAMPLE_COUNT_1_BIT, 1u << 30};
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkGetPhysicalDeviceFormatProperties2(VkPhysicalDevice device,
								       VkFormat format,
								       VkFormatProperties2 *out)
{
	vkGetPhysicalDeviceFormatProperties(device, format, &out->formatProperties);
}

static VKAPI_ATTR VkResult VKAPI_CALL vkGetPhysicalDeviceImageFormatProperties2(
	VkPhysicalDevice device, const VkPhysicalDeviceImageFormatInfo2 *info,
	VkImageFormatProperties2 *out)
{
	return vkGetPhysicalDeviceImageFormatProperties(device, info->format, info->type,
							info->tiling, info->usage, info->flags,
							&out->imageFormatProperties);
}

static VKAPI_ATTR void VKAPI_CALL unused(void)
{
}

static const struct double_entry entries[] = {
	ENTRY(vkEnumerateInstanceVersion),
	ENTRY(vkEnumerateInstanceExtensionProperties),
	ENTRY(vkCreateInstance),
	ENTRY(vkDestroyInstance),
	ENTRY(vkEnumeratePhysicalDevices),
	ENTRY(vkGetPhysicalDeviceProperties),
	ENTRY(vkGetPhysicalDeviceProperties2),
	ENTRY(vkEnumerateDeviceExtensionProperties),
	ENTRY(vkGetPhysicalDeviceMemoryProperties),
	ENTRY(vkGetPhysicalDeviceMemoryProperties2),
	ENTRY(vkGetPhysicalDeviceQueueFamilyProperties),
	ENTRY(vkGetPhysicalDeviceQueueFamilyProperties2),
	ENTRY(vkCreateDevice),
	ENTRY(vkGetDeviceProcAddr),
	{"vkGetPhysicalDeviceFeatures", (PFN_vkVoidFunction)unused},
	ENTRY(vkGetPhysicalDeviceFormatProperties),
	ENTRY(vkGetPhysicalDeviceFormatProperties2),
	ENTRY(vkGetPhysicalDeviceImageFormatProperties),
	ENTRY(vkGetPhysicalDeviceImageFormatProperties2),
	{"vkGetPhysicalDeviceSparseImageFormatProperties", (PFN_vkVoidFunction)unused},
};

VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vk_icdGetInstanceProcAddr(VkInstance instance,
								   const char *name)
{
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, name) == 0)
			return entries[i].function;
	return instance != NULL ? vkGetDeviceProcAddr(NULL, name) : NULL;
}

VKAPI_ATTR VkResult VKAPI_CALL vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
	if (setting_has("noise"))
		(void)printf("the driver says hello\n"), (void)fflush(stdout);
	if (*version > 5)
		*version = 5;
	return VK_SUCCESS;
}
