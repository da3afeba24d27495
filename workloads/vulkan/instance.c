/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/vulkan.h"

#include "base/library.h"

#include <stdio.h>
#include <stdlib.h>

/* The newest version whose rules this code follows. */
#define NEWEST_VERSION VK_API_VERSION_1_3

int vulkan_check(struct vulkan *vk, VkResult result, const char *call, struct error *err)
{
	const char *name = vulkan_result_name(result);

	if (result == VK_SUCCESS)
		return 0;
	vk->failure = (struct call_failure){.call = call, .code = result, .code_name = name};
	return error_set(err, ERROR_REMOTE, "%s: %s (%d)", call,
			 name != NULL ? name : "unknown result", (int)result);
}

static int load(struct vulkan *vk, struct error *err)
{
	void *library = NULL;
	int code = library_open(VULKAN_LIBRARY, &library, err);

	if (code != 0)
		return code;
	api_report_loaded(vk->report, library);
	code = library_function(library, "vkGetInstanceProcAddr", &vk->vkGetInstanceProcAddr, err);
	return code != 0 ? error_set(err, ERROR_UNAVAILABLE,
				     VULKAN_LIBRARY " has no function vkGetInstanceProcAddr")
			 : 0;
}

/* A loader without vkEnumerateInstanceVersion is one of Vulkan 1.0. */
static int read_version(struct vulkan *vk, struct error *err)
{
	PFN_vkEnumerateInstanceVersion enumerate =
		(PFN_vkEnumerateInstanceVersion)vk->vkGetInstanceProcAddr(
			NULL, "vkEnumerateInstanceVersion");
	uint32_t version = VK_API_VERSION_1_0;
	int code = 0;

	if (enumerate != NULL)
		code = vulkan_check(vk, enumerate(&version), "vkEnumerateInstanceVersion", err);
	if (code != 0)
		return code;
	(void)snprintf(vk->report->version, sizeof(vk->report->version), "%u.%u.%u",
		       VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
		       VK_API_VERSION_PATCH(version));
	if (version < VK_API_VERSION_1_1)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the loader offers Vulkan %s; at least 1.1 is needed",
				 vk->report->version);
	vk->api_version = version < NEWEST_VERSION ? version : NEWEST_VERSION;
	return 0;
}

static int create_instance(struct vulkan *vk, struct error *err)
{
	static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
	const bool messages = vulkan_messages_offered(vk);
	const VkDebugUtilsMessengerCreateInfoEXT messenger = vulkan_messages_info(vk);
	const VkApplicationInfo application = {
		.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
		.pApplicationName = "gpucert",
		.apiVersion = vk->api_version,
	};
	const VkInstanceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
		.pNext = messages ? &messenger : NULL,
		.pApplicationInfo = &application,
		.enabledExtensionCount = messages ? 1 : 0,
		.ppEnabledExtensionNames = extensions,
	};
	PFN_vkCreateInstance create =
		(PFN_vkCreateInstance)vk->vkGetInstanceProcAddr(NULL, "vkCreateInstance");

	if (create == NULL)
		return error_set(err, ERROR_UNAVAILABLE,
				 VULKAN_LIBRARY " offers no vkCreateInstance");
	int code = vulkan_check(vk, create(&info, NULL, &vk->instance), "vkCreateInstance", err);

	if (code == 0 && messages)
		vulkan_messages_begin(vk);
	return code;
}

static int load_instance_functions(struct vulkan *vk, struct error *err)
{
#define LOAD(name)                                                                                 \
	vk->name = (PFN_##name)vk->vkGetInstanceProcAddr(vk->instance, #name);                     \
	if (vk->name == NULL)                                                                      \
		return error_set(err, ERROR_UNAVAILABLE, "the loader offers no " #name);
	VULKAN_INSTANCE_FUNCTIONS(LOAD)
#undef LOAD
	return 0;
}

/* Loaders up to 1.3.2xx answer VK_ERROR_INITIALIZATION_FAILED where no driver found a device; what
 * they say tells that from a driver that failed. */
static int enumerate_devices(struct vulkan *vk, struct error *err)
{
	uint32_t count = API_DEVICES_MAX;
	VkResult result = VK_SUCCESS;
	int code = 0;

	vk->cause[0] = '\0';
	result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, vk->devices);
	if (result == VK_ERROR_INITIALIZATION_FAILED && vk->messenger != VK_NULL_HANDLE &&
	    vk->cause[0] == '\0')
		return 0;
	if (result != VK_INCOMPLETE)
		code = vulkan_check(vk, result, "vkEnumeratePhysicalDevices", err);
	if (code == 0)
		vk->device_count = count < API_DEVICES_MAX ? count : API_DEVICES_MAX;
	return code;
}

static int describe_devices(struct vulkan *vk, struct error *err)
{
	for (size_t i = 0; i < vk->device_count; i++)
		if (!array_add(vk->report->devices, vulkan_describe_device(vk, i)))
			return error_memory(err);
	return 0;
}

/* A loader without any driver and one whose drivers are broken answer alike; only the latter gives
 * a reason. */
static void report_no_driver(struct api_report *report, const struct vulkan *vk,
			     const struct error *reason)
{
	struct error told = {0};

	if (vk->cause[0] != '\0') {
		(void)error_set(&told, ERROR_UNAVAILABLE,
				"the Vulkan loader found a driver that it cannot use: %s",
				vk->cause);
		api_report_failed(report, &told);
	} else {
		(void)error_set(&told, ERROR_UNSUPPORTED, "the Vulkan loader found no driver (%s)",
				reason->text);
		api_report_unsupported(report, "Vulkan driver", &told);
	}
}

static void report_failure(struct api_report *report, const struct vulkan *vk,
			   const struct error *reason)
{
	if (reason->code == ERROR_NOT_FOUND)
		api_report_unsupported(report, VULKAN_LIBRARY, reason);
	else if (reason->code == ERROR_UNSUPPORTED)
		api_report_unsupported(report, "Vulkan 1.1 loader", reason);
	else if (vk->failure.code == VK_ERROR_INCOMPATIBLE_DRIVER)
		report_no_driver(report, vk, reason);
	else
		api_report_failed(report, reason);
}

int vulkan_open(struct api_report *report, struct vulkan **out, struct error *err)
{
	struct error reason = {0};
	int code = api_report_begin(report, "vulkan", VULKAN_LIBRARY, err);
	struct vulkan *vk = code == 0 ? calloc(1, sizeof(*vk)) : NULL;

	if (vk == NULL)
		return error_memory(err);
	vk->report = report;
	code = load(vk, &reason);
	if (code == 0)
		code = read_version(vk, &reason);
	if (code == 0)
		code = create_instance(vk, &reason);
	if (code == 0)
		code = load_instance_functions(vk, &reason);
	if (code == 0)
		code = enumerate_devices(vk, &reason);
	if (code == 0)
		code = describe_devices(vk, &reason);
	if (code == 0) {
		vulkan_messages_end(vk);
		*out = vk;
		return 0;
	}
	if (code != ERROR_MEMORY)
		report_failure(report, vk, &reason);
	vulkan_free(vk);
	return code == ERROR_MEMORY ? error_memory(err) : 0;
}

void vulkan_free(struct vulkan *vk)
{
	if (vk == NULL)
		return;
	vulkan_messages_end(vk);
	if (vk->instance != NULL && vk->vkDestroyInstance != NULL)
		vk->vkDestroyInstance(vk->instance, NULL);
	free(vk);
}
