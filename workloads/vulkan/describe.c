/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/vulkan.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { EXTENSIONS_MAX = 4096 }; /* read of one device; drivers of 2024 have about 250 */

/* All queries of one device; a structure that the device does not offer stays unused. */
struct facts {
	VkPhysicalDeviceProperties2 properties;
	VkPhysicalDeviceIDProperties id;
	VkPhysicalDeviceDriverProperties driver;
	VkPhysicalDevicePCIBusInfoPropertiesEXT pci;
	VkPhysicalDeviceDrmPropertiesEXT drm;
	bool has_id, has_driver, has_pci, has_drm;
};

static const struct code_advice drivers[] = {
#include "workloads/vulkan/drivers.h" /* generated from the specification's header */
};

const char *vulkan_device_type_name(VkPhysicalDeviceType type)
{
	static const struct code_advice names[] = {
		{VK_PHYSICAL_DEVICE_TYPE_OTHER, "other", NULL},
		{VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU, "integrated-gpu", NULL},
		{VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU, "discrete-gpu", NULL},
		{VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU, "virtual-gpu", NULL},
		{VK_PHYSICAL_DEVICE_TYPE_CPU, "cpu", NULL},
	};
	return code_name(names, ARRAY_SIZE(names), (int64_t)type);
}

bool vulkan_has_extension(const VkExtensionProperties *list, uint32_t count, const char *name)
{
	for (uint32_t i = 0; i < count; i++)
		if (strncmp(list[i].extensionName, name, sizeof(list[i].extensionName)) == 0)
			return true;
	return false;
}

/* A device that does not report its extensions has none. */
bool vulkan_offers(const struct vulkan *vk, VkPhysicalDevice device, const char *name)
{
	uint32_t count = EXTENSIONS_MAX;
	VkExtensionProperties *list CLEANUP_FREE = memory_allocate(EXTENSIONS_MAX, sizeof(*list));
	return vk->vkEnumerateDeviceExtensionProperties(device, NULL, &count, list) >= 0 &&
	       vulkan_has_extension(list, count < EXTENSIONS_MAX ? count : EXTENSIONS_MAX, name);
}

static void chain(struct facts *facts, bool wanted, void *structure)
{
	VkBaseOutStructure *link = structure;
	if (!wanted)
		return;
	link->pNext = facts->properties.pNext;
	facts->properties.pNext = link;
}

/* The version of the device decides which structures it knows, also where the instance is newer. */
static void read_facts(const struct vulkan *vk, VkPhysicalDevice device, struct facts *facts)
{
	VkPhysicalDeviceProperties plain = {0};
	vk->vkGetPhysicalDeviceProperties(device, &plain);
	*facts = (struct facts){
		.properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2,
		.id.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES,
		.driver.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES,
		.pci.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PCI_BUS_INFO_PROPERTIES_EXT,
		.drm.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRM_PROPERTIES_EXT,
	};
	if (plain.apiVersion < VK_API_VERSION_1_1) {
		facts->properties.properties = plain;
		return;
	}
	facts->has_id = true;
	facts->has_driver =
		vulkan_offers(vk, device, VK_KHR_DRIVER_PROPERTIES_EXTENSION_NAME) ||
		(plain.apiVersion >= VK_API_VERSION_1_2 && vk->api_version >= VK_API_VERSION_1_2);
	facts->has_pci = vulkan_offers(vk, device, VK_EXT_PCI_BUS_INFO_EXTENSION_NAME);
	facts->has_drm = vulkan_offers(vk, device, VK_EXT_PHYSICAL_DEVICE_DRM_EXTENSION_NAME);
	chain(facts, facts->has_id, &facts->id);
	chain(facts, facts->has_driver, &facts->driver);
	chain(facts, facts->has_pci, &facts->pci);
	chain(facts, facts->has_drm, &facts->drm);
	vk->vkGetPhysicalDeviceProperties2(device, &facts->properties);
}

static cJSON *driver_json(const struct facts *facts)
{
	static const char *const keys[] = {"id", "idName", "name", "info", "conformance"};
	const VkPhysicalDeviceDriverProperties *driver = &facts->driver;
	struct members members CLEANUP_MEMBERS = members_new();

	if (facts->has_driver) {
		member_number(&members, "id", driver->driverID);
		member_string(&members, "idName",
			      code_name(drivers, ARRAY_SIZE(drivers), (int64_t)driver->driverID));
		member_text(&members, "name", driver->driverName, sizeof(driver->driverName));
		member_text(&members, "info", driver->driverInfo, sizeof(driver->driverInfo));
		member_format(&members, "conformance", "%u.%u.%u.%u",
			      driver->conformanceVersion.major, driver->conformanceVersion.minor,
			      driver->conformanceVersion.subminor,
			      driver->conformanceVersion.patch);
	} else {
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
			member_null(&members, keys[i]);
	}
	member_hex(&members, "version", facts->properties.properties.driverVersion, 8);
	return members_take(&members);
}

double vulkan_local_bytes(const VkPhysicalDeviceMemoryProperties *memory)
{
	double bytes = 0;
	for (uint32_t i = 0; i < memory->memoryHeapCount && i < VK_MAX_MEMORY_HEAPS; i++) {
		if ((memory->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0)
			bytes += (double)memory->memoryHeaps[i].size;
	}
	return bytes;
}

uint64_t vulkan_free_bytes(const struct vulkan *vk, VkPhysicalDevice device)
{
	VkPhysicalDeviceMemoryBudgetPropertiesEXT budget = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT};
	VkPhysicalDeviceMemoryProperties2 memory = {
		.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_PROPERTIES_2, .pNext = &budget};
	VkPhysicalDeviceProperties plain = {0};
	uint64_t bytes = 0;
	vk->vkGetPhysicalDeviceProperties(device, &plain);
	if (plain.apiVersion < VK_API_VERSION_1_1 ||
	    !vulkan_offers(vk, device, VK_EXT_MEMORY_BUDGET_EXTENSION_NAME))
		return 0;
	vk->vkGetPhysicalDeviceMemoryProperties2(device, &memory);
	const VkPhysicalDeviceMemoryProperties *heaps = &memory.memoryProperties;
	for (uint32_t i = 0; i < heaps->memoryHeapCount && i < VK_MAX_MEMORY_HEAPS; i++) {
		if ((heaps->memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) != 0 &&
		    budget.heapBudget[i] > budget.heapUsage[i])
			bytes += budget.heapBudget[i] - budget.heapUsage[i];
	}
	return bytes;
}

cJSON *vulkan_describe_device(const struct vulkan *vk, size_t index)
{
	struct members device CLEANUP_MEMBERS = api_device_new(index);
	struct facts facts = {0};
	VkPhysicalDeviceMemoryProperties memory = {0};

	vk->vkGetPhysicalDeviceMemoryProperties(vk->devices[index], &memory);
	read_facts(vk, vk->devices[index], &facts);
	const VkPhysicalDeviceProperties *properties = &facts.properties.properties;
	/* A virtual GPU has the type of what computes for it on the host. */
	const VkDriverId driver = facts.has_driver ? facts.driver.driverID : VK_DRIVER_ID_MAX_ENUM;
	const bool software = (properties->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU &&
			       driver != VK_DRIVER_ID_MESA_VENUS) ||
			      driver == VK_DRIVER_ID_MESA_LLVMPIPE ||
			      driver == VK_DRIVER_ID_GOOGLE_SWIFTSHADER;
	member_text(&device, "name", properties->deviceName, sizeof(properties->deviceName));
	member_string(&device, "type", vulkan_device_type_name(properties->deviceType));
	member_bool(&device, "software", software);
	api_add_ids(&device, properties->vendorID, properties->deviceID);

	const VkPhysicalDeviceIDProperties *id = &facts.id;
	const bool has_luid = facts.has_id && id->deviceLUIDValid != VK_FALSE;
	member_bytes(&device, "deviceUuid", facts.has_id ? id->deviceUUID : NULL,
		     sizeof(id->deviceUUID));
	member_bytes(&device, "driverUuid", facts.has_id ? id->driverUUID : NULL,
		     sizeof(id->driverUUID));
	member_bytes(&device, "deviceLuid", has_luid ? id->deviceLUID : NULL,
		     sizeof(id->deviceLUID));
	if (facts.has_pci)
		api_add_pci_address(&device, facts.pci.pciDomain, facts.pci.pciBus,
				    facts.pci.pciDevice, facts.pci.pciFunction);

	const VkPhysicalDeviceDrmPropertiesEXT *drm = &facts.drm;
	if (facts.has_drm)
		api_add_drm(
			&device,
			(struct api_node){drm->hasPrimary, drm->primaryMajor, drm->primaryMinor},
			(struct api_node){drm->hasRender, drm->renderMajor, drm->renderMinor});
	else
		member_null(&device, "drm");

	member_format(&device, "apiVersion", "%u.%u.%u",
		      VK_API_VERSION_MAJOR(properties->apiVersion),
		      VK_API_VERSION_MINOR(properties->apiVersion),
		      VK_API_VERSION_PATCH(properties->apiVersion));
	member_item(&device, "driver", driver_json(&facts));
	member_number(&device, "memoryBytes", vulkan_local_bytes(&memory));
	return members_take(&device);
}
