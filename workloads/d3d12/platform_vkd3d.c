/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

#include "workloads/vulkan/vulkan.h"

#include <stdio.h>

const char d3d12_create_device_call[] = "vkd3d_create_device";

struct d3d12 {
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
_Static_assert(sizeof(struct d3d12) <= D3D12_SESSION_SIZE, "a session holds it");

/* Events are never waited for: vkd3d 1.2 knows no wait that ends. */
static HRESULT signal_event(HANDLE event)
{
	(void)event;
	return 0;
}

static cJSON *describe(struct d3d12 *d3d, size_t index)
{
	struct members device CLEANUP_MEMBERS = api_device_new(index);
	VkPhysicalDeviceMemoryProperties memory = {0};
	char version[16] = "";
	VkPhysicalDeviceProperties properties = {0};
	d3d->vkGetPhysicalDeviceProperties(d3d->devices[index], &properties);
	d3d->vkGetPhysicalDeviceMemoryProperties(d3d->devices[index], &memory);
	(void)snprintf(version, sizeof(version), "0x%08x", properties.driverVersion);
	member_text(&device, "name", properties.deviceName, sizeof(properties.deviceName));
	member_string(&device, "type", vulkan_device_type_name(properties.deviceType));
	member_bool(&device, "software", properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU);
	api_add_ids(&device, properties.vendorID, properties.deviceID);
	api_add_driver(&device, version);
	member_number(&device, "memoryBytes", vulkan_local_bytes(&memory));
	return members_take(&device);
}

int d3d12_open(struct api_report *report, void *session, struct error *err)
{
	struct d3d12 *d3d = session;
	const struct api_function vkd3d[] = {
		{"vkd3d_create_instance", &d3d->create_instance},
		{"vkd3d_instance_decref", &d3d->instance_decref},
		{"vkd3d_instance_get_vk_instance", &d3d->get_vk_instance},
		{"vkd3d_create_device", &d3d->create_device},
		{"vkd3d_serialize_root_signature", &d3d->serialize_root_signature},
		{NULL, NULL},
	};
	const struct api_function vulkan[] = {
		{"vkGetInstanceProcAddr", &d3d->vkGetInstanceProcAddr},
		{"vkEnumeratePhysicalDevices", &d3d->vkEnumeratePhysicalDevices},
		{"vkGetPhysicalDeviceProperties", &d3d->vkGetPhysicalDeviceProperties},
		{"vkGetPhysicalDeviceMemoryProperties", &d3d->vkGetPhysicalDeviceMemoryProperties},
		{NULL, NULL},
	};

	report->missing = NULL;
	int rc = api_load(report, D3D12_LIBRARY, vkd3d, err);
	if (rc != 0)
		return rc;
	if (api_load(NULL, VULKAN_LIBRARY, vulkan, err) != 0)
		return error_set(err, ERROR_UNAVAILABLE, "%s cannot be opened", VULKAN_LIBRARY);
	report->missing = "Vulkan driver";
	const struct vkd3d_instance_create_info info = {
		.type = VKD3D_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pfn_signal_event = signal_event,
		.wchar_size = sizeof(WCHAR),
		.pfn_vkGetInstanceProcAddr = d3d->vkGetInstanceProcAddr,
	};
	rc = hresult_check(d3d->create_instance(&info, &d3d->instance), "vkd3d_create_instance",
			   NULL, err);
	if (rc != 0) /* E_FAIL, whatever Vulkan reported */
		return error_set(err, ERROR_UNSUPPORTED,
				 "vkd3d found no Vulkan driver that it can use (%s)", err->text);

	uint32_t count = API_DEVICES_MAX;
	VkResult result = d3d->vkEnumeratePhysicalDevices(d3d->get_vk_instance(d3d->instance),
							  &count, d3d->devices);
	if (result != VK_SUCCESS && result != VK_INCOMPLETE)
		return error_set(err, ERROR_REMOTE, "vkEnumeratePhysicalDevices: %d", (int)result);
	d3d->count = count < API_DEVICES_MAX ? count : API_DEVICES_MAX;
	for (size_t i = 0; i < d3d->count; i++)
		api_report_device(report, describe(d3d, i));
	return 0;
}

void d3d12_close(void *session)
{
	struct d3d12 *d3d = session;
	if (d3d->instance != NULL)
		(void)d3d->instance_decref(d3d->instance);
}

HRESULT d3d12_create_device(struct d3d12 *d3d, size_t index, D3D_FEATURE_LEVEL level,
			    ID3D12Device **out)
{
	const struct vkd3d_device_create_info info = {
		.type = VKD3D_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.minimum_feature_level = level,
		.instance = d3d->instance,
		.vk_physical_device = d3d->devices[index],
	};
	return d3d->create_device(&info, &IID_ID3D12Device, (void **)out);
}

HRESULT d3d12_serialize(struct d3d12 *d3d, const D3D12_ROOT_SIGNATURE_DESC *signature,
			ID3DBlob **blob, ID3DBlob **messages)
{
	return d3d->serialize_root_signature(signature, D3D_ROOT_SIGNATURE_VERSION_1, blob,
					     messages);
}
