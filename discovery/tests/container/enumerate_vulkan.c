/* SPDX-License-Identifier: MIT */
/* Runs in a bare root folder: prints the name of every Vulkan device after creating a logical
 * device on it. */
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { DEVICES_MAX = 16 };

static PFN_vkGetInstanceProcAddr get_address;

/* Fills a pointer to a function with the loader's entry point of that name. */
static int load(VkInstance instance, const char *name, void *entry)
{
	PFN_vkVoidFunction function = get_address(instance, name);
	if (function == NULL) {
		(void)fprintf(stderr, "libvulkan.so.1 has no %s\n", name);
		return -1;
	}
	memcpy(entry, &function, sizeof(function));
	return 0;
}

static int create_device(VkInstance instance, VkPhysicalDevice physical)
{
	const float priority = 1.0F;
	const VkDeviceQueueCreateInfo queue = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
		.queueCount = 1,
		.pQueuePriorities = &priority,
	};
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = 1,
		.pQueueCreateInfos = &queue,
	};
	PFN_vkCreateDevice create = NULL;
	VkDevice device = VK_NULL_HANDLE;
	if (load(instance, "vkCreateDevice", &create) < 0)
		return -1;
	VkResult result = create(physical, &info, NULL, &device);
	if (result != VK_SUCCESS)
		(void)fprintf(stderr, "vkCreateDevice: %d\n", result);
	return result == VK_SUCCESS ? 0 : -1;
}

static int show_devices(VkInstance instance)
{
	PFN_vkEnumeratePhysicalDevices enumerate = NULL;
	PFN_vkGetPhysicalDeviceProperties get_properties = NULL;
	VkPhysicalDevice devices[DEVICES_MAX];
	uint32_t count = DEVICES_MAX;
	if (load(instance, "vkEnumeratePhysicalDevices", &enumerate) < 0 ||
	    load(instance, "vkGetPhysicalDeviceProperties", &get_properties) < 0)
		return 3;
	VkResult result = enumerate(instance, &count, devices);
	if (result != VK_SUCCESS) {
		(void)fprintf(stderr, "vkEnumeratePhysicalDevices: %d\n", result);
		return 1;
	}
	for (uint32_t i = 0; i < count; i++) {
		VkPhysicalDeviceProperties properties;
		get_properties(devices[i], &properties);
		if (create_device(instance, devices[i]) < 0)
			return 1;
		(void)printf("%s\n", properties.deviceName);
	}
	return count > 0 ? 0 : 1;
}

int main(void)
{
	const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
	VkInstance instance = VK_NULL_HANDLE;
	PFN_vkCreateInstance create = NULL;
	void *loader = dlopen("libvulkan.so.1", RTLD_NOW);
	void *symbol = loader != NULL ? dlsym(loader, "vkGetInstanceProcAddr") : NULL;
	if (symbol == NULL) {
		(void)fprintf(stderr, "%s\n", dlerror());
		return 3;
	}
	memcpy(&get_address, &symbol, sizeof(symbol));
	if (load(VK_NULL_HANDLE, "vkCreateInstance", &create) < 0)
		return 3;
	VkResult result = create(&info, NULL, &instance);
	if (result != VK_SUCCESS) {
		(void)fprintf(stderr, "vkCreateInstance: %d\n", result);
		return 1;
	}
	return show_devices(instance);
}
