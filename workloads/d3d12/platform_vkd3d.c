/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/platform.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "workloads/directx/hresult.h"
#include "workloads/vulkan/vulkan.h"

#include <stdio.h>
#include <stdlib.h>

const char d3d12_platform_create_device_call[] = "vkd3d_create_device";

struct d3d12_platform {
	PFN_vkd3d_create_instance create_instance;
	PFN_vkd3d_instance_decref instance_decref;
	PFN_vkd3d_instance_get_vk_instance get_vk_instance;
	PFN_vkd3d_create_device create_device;
	PFN_vkd3d_serialize_root_signature serialize_root_signature;
	PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr;
	PFN_vkEnumeratePhysicalDevices vkEnumeratePhysicalDevices;
	PFN_vkGetPhysicalDeviceProperties vkGetPhysicalDeviceProperties;
	PFN_vkGetPhysicalDeviceMemoryProperties vkGetPhysicalDeviceMemoryProperties;
	struct vkd3d_instance *instance;
	VkPhysicalDevice devices[API_DEVICES_MAX];
	uint32_t count;
};

static int load(struct d3d12_platform *platform, struct api_report *report, struct error *err)
{
	const struct api_function vkd3d[] = {
		{"vkd3d_create_instance", &platform->create_instance},
		{"vkd3d_instance_decref", &platform->instance_decref},
		{"vkd3d_instance_get_vk_instance", &platform->get_vk_instance},
		{"vkd3d_create_device", &platform->create_device},
		{"vkd3d_serialize_root_signature", &platform->serialize_root_signature},
		{NULL, NULL},
	};
	const struct api_function vulkan[] = {
		{"vkGetInstanceProcAddr", &platform->vkGetInstanceProcAddr},
		{"vkEnumeratePhysicalDevices", &platform->vkEnumeratePhysicalDevices},
		{"vkGetPhysicalDeviceProperties", &platform->vkGetPhysicalDeviceProperties},
		{"vkGetPhysicalDeviceMemoryProperties",
		 &platform->vkGetPhysicalDeviceMemoryProperties},
		{NULL, NULL},
	};
	int rc = api_load(report, D3D12_LIBRARY, vkd3d, err);
	if (rc != 0)
		return rc;
	rc = api_load(NULL, VULKAN_LIBRARY, vulkan, err);
	return rc == 0 ? 0
		       : error_set(err, ERROR_UNAVAILABLE, "%s cannot be opened", VULKAN_LIBRARY);
}

/* Events are never waited for: vkd3d 1.2 knows no wait that ends. */
static HRESULT signal_event(HANDLE event)
{
	(void)event;
	return 0;
}

static const struct vkd3d_instance_create_info *instance_info(struct d3d12_platform *platform)
{
	static struct vkd3d_instance_create_info info = {
		.type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pfn_signal_event = signal_event,
		.wchar_size = sizeof(WCHAR),
	};
	info.pfn_vkGetInstanceProcAddr = platform->vkGetInstanceProcAddr;
	return &info;
}

static int enumerate(struct d3d12_platform *platform, struct error *err)
{
	int rc = hresult_check(
		platform->create_instance(instance_info(platform), &platform->instance),
		"vkd3d_create_instance", NULL, err);
	if (rc != 0) /* it tells E_FAIL whatever Vulkan said */
		return error_set(err, ERROR_UNSUPPORTED,
				 "vkd3d found no Vulkan driver that it can use (%s)", err->text);
	platform->count = API_DEVICES_MAX;
	VkResult result = platform->vkEnumeratePhysicalDevices(
		platform->get_vk_instance(platform->instance), &platform->count, platform->devices);
	if (result == VK_SUCCESS || result == VK_INCOMPLETE)
		return 0;
	platform->count = 0;
	return error_set(err, ERROR_REMOTE, "vkEnumeratePhysicalDevices: %d", (int)result);
}

static cJSON *describe(struct d3d12_platform *platform, size_t index)
{
	struct members device CLEANUP_MEMBERS = members_new();
	VkPhysicalDeviceMemoryProperties memory = {0};
	char version[16] = "";
	VkPhysicalDeviceProperties properties = {0};
	platform->vkGetPhysicalDeviceProperties(platform->devices[index], &properties);
	platform->vkGetPhysicalDeviceMemoryProperties(platform->devices[index], &memory);
	(void)snprintf(version, sizeof(version), "0x%08x", properties.driverVersion);
	member_number(&device, "index", (double)index);
	member_text(&device, "name", properties.deviceName, sizeof(properties.deviceName));
	member_string(&device, "type", vulkan_device_type_name(properties.deviceType));
	member_bool(&device, "software", properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU);
	member_hex(&device, "vendorId", properties.vendorID, 4);
	member_hex(&device, "deviceId", properties.deviceID, 4);
	member_null(&device, "deviceUuid");
	member_null(&device, "pciAddress");
	api_add_driver(&device, version);
	member_number(&device, "memoryBytes", vulkan_local_bytes(&memory));
	return members_take(&device);
}

int d3d12_platform_open(struct api_report *report, struct d3d12_platform **out, struct error *err)
{
	struct d3d12_platform *platform CLEANUP_FREE = calloc(1, sizeof(*platform));
	if (platform == NULL)
		return error_memory(err);
	int rc = load(platform, report, err);
	report->missing = rc == 0 ? "Vulkan driver" : NULL;
	if (rc == 0)
		rc = enumerate(platform, err);
	for (size_t i = 0; rc == 0 && i < platform->count; i++)
		rc = api_report_device(report, describe(platform, i), err);
	if (rc == 0)
		*out = STEAL(platform);
	return rc;
}

void d3d12_platform_free(struct d3d12_platform *platform)
{
	(void)platform->instance_decref(platform->instance);
	free(platform);
}

HRESULT d3d12_platform_create_device(struct d3d12_platform *platform, size_t index,
				     D3D_FEATURE_LEVEL level, ID3D12Device **out)
{
	const struct vkd3d_device_create_info info = {
		.type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.minimum_feature_level = level,
		.instance = platform->instance,
		.vk_physical_device = platform->devices[index],
	};
	return platform->create_device(&info, &IID_ID3D12Device, (void **)out);
}

HRESULT d3d12_platform_serialize(struct d3d12_platform *platform,
				 const D3D12_ROOT_SIGNATURE_DESC *signature, ID3DBlob **blob,
				 ID3DBlob **messages)
{
	return platform->serialize_root_signature(signature, D3D_ROOT_SIGNATURE_VERSION_1, blob,
						  messages);
}

HRESULT d3d12_platform_wait(ID3D12Fence *fence, uint64_t value, uint64_t timeout_ms)
{
	const uint64_t deadline_ms = clock_monotonic_ms() + timeout_ms;
	while (ID3D12Fence_GetCompletedValue(fence) < value && clock_monotonic_ms() < deadline_ms)
		clock_sleep_ms(1);
	return 0;
}
