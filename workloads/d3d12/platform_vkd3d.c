/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/platform.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/library.h"
#include "workloads/directx/hresult.h"

#include <stdlib.h>

#define VULKAN_LIBRARY "libvulkan.so.1"

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

static int load_function(void *library, const char *file, const char *name, void *function,
			 struct error *err)
{
	if (library_function(library, name, function, NULL) == 0)
		return 0;
	return error_set(err, ERROR_UNAVAILABLE, "%s has no function %s", file, name);
}

static int load(struct d3d12_platform *platform, struct api_report *report, struct error *err)
{
	void *library = NULL;
	void *vulkan = NULL;
	int code = library_open(D3D12_LIBRARY, &library, err);

	if (code != 0)
		return code;
	api_report_loaded(report, library);
	code = library_open(VULKAN_LIBRARY, &vulkan, err);
	if (code != 0) {
		(void)error_set(err, ERROR_UNAVAILABLE, "%s cannot be opened", VULKAN_LIBRARY);
		return ERROR_UNAVAILABLE;
	}
	const struct {
		void *library;
		const char *file, *name;
		void *function;
	} functions[] = {
		{library, D3D12_LIBRARY, "vkd3d_create_instance", &platform->create_instance},
		{library, D3D12_LIBRARY, "vkd3d_instance_decref", &platform->instance_decref},
		{library, D3D12_LIBRARY, "vkd3d_instance_get_vk_instance",
		 &platform->get_vk_instance},
		{library, D3D12_LIBRARY, "vkd3d_create_device", &platform->create_device},
		{library, D3D12_LIBRARY, "vkd3d_serialize_root_signature",
		 &platform->serialize_root_signature},
		{vulkan, VULKAN_LIBRARY, "vkGetInstanceProcAddr", &platform->vkGetInstanceProcAddr},
		{vulkan, VULKAN_LIBRARY, "vkEnumeratePhysicalDevices",
		 &platform->vkEnumeratePhysicalDevices},
		{vulkan, VULKAN_LIBRARY, "vkGetPhysicalDeviceProperties",
		 &platform->vkGetPhysicalDeviceProperties},
		{vulkan, VULKAN_LIBRARY, "vkGetPhysicalDeviceMemoryProperties",
		 &platform->vkGetPhysicalDeviceMemoryProperties},
	};

	for (size_t i = 0; code == 0 && i < ARRAY_SIZE(functions); i++)
		code = load_function(functions[i].library, functions[i].file, functions[i].name,
				     functions[i].function, err);
	return code;
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
	struct call_failure failure = {0};
	int code = hresult_check(
		platform->create_instance(instance_info(platform), &platform->instance),
		"vkd3d_create_instance", &failure, err);

	if (code != 0) /* it tells E_FAIL whatever Vulkan said */
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

static const char *type_name(VkPhysicalDeviceType type)
{
	switch ((int)type) {
	case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
		return "integrated-gpu";
	case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
		return "discrete-gpu";
	case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
		return "virtual-gpu";
	case VK_PHYSICAL_DEVICE_TYPE_CPU:
		return "cpu";
	default:
		return "other";
	}
}

static uint64_t local_memory(struct d3d12_platform *platform, VkPhysicalDevice device)
{
	VkPhysicalDeviceMemoryProperties memory = {0};
	uint64_t bytes = 0;

	platform->vkGetPhysicalDeviceMemoryProperties(device, &memory);
	for (uint32_t i = 0; i < memory.memoryHeapCount && i < VK_MAX_MEMORY_HEAPS; i++)
		if ((memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
			bytes += memory.memoryHeaps[i].size;
	return bytes;
}

static cJSON *describe(struct d3d12_platform *platform, size_t index)
{
	struct members device CLEANUP_MEMBERS = members_new();
	struct members driver CLEANUP_MEMBERS = members_new();
	VkPhysicalDeviceProperties properties = {0};

	platform->vkGetPhysicalDeviceProperties(platform->devices[index], &properties);
	member_format(&driver, "version", "0x%08x", properties.driverVersion);
	member_number(&device, "index", (double)index);
	member_text(&device, "name", properties.deviceName, sizeof(properties.deviceName));
	member_string(&device, "type", type_name(properties.deviceType));
	member_bool(&device, "software", properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU);
	member_hex(&device, "vendorId", properties.vendorID, 4);
	member_hex(&device, "deviceId", properties.deviceID, 4);
	member_null(&device, "deviceUuid");
	member_null(&device, "pciAddress");
	member_item(&device, "driver", members_take(&driver));
	member_number(&device, "memoryBytes",
		      (double)local_memory(platform, platform->devices[index]));
	return members_take(&device);
}

int d3d12_platform_open(struct api_report *report, struct d3d12_platform **out, struct error *err)
{
	struct d3d12_platform *platform CLEANUP_FREE = calloc(1, sizeof(*platform));
	struct error reason = {0};
	int code = 0;

	if (platform == NULL)
		return error_memory(err);
	code = load(platform, report, &reason);
	if (code == 0)
		code = enumerate(platform, &reason);
	for (size_t i = 0; code == 0 && i < platform->count; i++)
		if (!array_add(report->devices, describe(platform, i)))
			return error_memory(err);
	if (code == 0)
		*out = STEAL(platform);
	else if (code == ERROR_NOT_FOUND)
		api_report_unsupported(report, D3D12_LIBRARY, &reason);
	else if (code == ERROR_UNSUPPORTED)
		api_report_unsupported(report, "Vulkan driver", &reason);
	else
		api_report_failed(report, &reason);
	return 0;
}

void d3d12_platform_free(struct d3d12_platform *platform)
{
	(void)platform->instance_decref(platform->instance);
	free(platform);
}

size_t d3d12_platform_count(const struct d3d12_platform *platform)
{
	return platform->count;
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
