/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/vulkan.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The newest version whose rules this code follows. */
#define NEWEST_VERSION VK_API_VERSION_1_3

enum { EXTENSIONS_MAX = 256 };

static const struct code_advice results[] = {
#include "workloads/vulkan/results.h" /* generated from the specification's header */
	{-1000299000, "VK_ERROR_INVALID_VIDEO_STD_PARAMETERS_KHR", NULL}, /* of newer ones */
};

int vulkan_check(struct vulkan *vk, VkResult result, const char *call, struct error *err)
{
	return result == VK_SUCCESS ? 0
				    : call_failed_advised(vk->failure, call, (int)result, results,
							  ARRAY_SIZE(results), err);
}

/* Loaders give no codes with their messages, so their words decide. What only says that nothing was
 * found is no cause, and layers are none of the drivers' business. */
static bool is_cause(VkDebugUtilsMessageSeverityFlagBitsEXT severity, const char *message)
{
	static const char *const outcomes[] = {"Found no drivers", "Failed to open JSON file",
					       "Failed to detect any valid GPUs", "layer"};
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++)
		if (strstr(message, outcomes[i]) != NULL)
			return false;
	return severity == VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT ||
	       strstr(message, "Skipping") != NULL;
}

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
						 VkDebugUtilsMessageTypeFlagsEXT types,
						 const VkDebugUtilsMessengerCallbackDataEXT *data,
						 void *user)
{
	struct vulkan *vk = user;
	(void)types;
	if (vk->report == NULL || data == NULL || data->pMessage == NULL)
		return VK_FALSE;
	api_report_message(vk->report, data->pMessage);
	if (vk->cause[0] == '\0' && is_cause(severity, data->pMessage))
		(void)snprintf(vk->cause, sizeof(vk->cause), "%s", data->pMessage);
	return VK_FALSE;
}

static bool messages_offered(const struct vulkan *vk)
{
	PFN_vkEnumerateInstanceExtensionProperties enumerate =
		VULKAN_GLOBAL(vk, vkEnumerateInstanceExtensionProperties);
	uint32_t count = EXTENSIONS_MAX;
	VkExtensionProperties *list CLEANUP_FREE = calloc(EXTENSIONS_MAX, sizeof(*list));
	return enumerate != NULL && list != NULL && enumerate(NULL, &count, list) >= 0 &&
	       vulkan_has_extension(list, count, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
}

static VkDebugUtilsMessengerCreateInfoEXT messages_info(struct vulkan *vk)
{
	return (VkDebugUtilsMessengerCreateInfoEXT){
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
		.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
				   VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
		.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
			       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
		.pfnUserCallback = on_message,
		.pUserData = vk,
	};
}

static void messages_begin(struct vulkan *vk)
{
	const VkDebugUtilsMessengerCreateInfoEXT info = messages_info(vk);
	PFN_vkCreateDebugUtilsMessengerEXT create =
		(PFN_vkCreateDebugUtilsMessengerEXT)vk->vkGetInstanceProcAddr(
			vk->instance, "vkCreateDebugUtilsMessengerEXT");
	if (create == NULL || create(vk->instance, &info, NULL, &vk->messenger) != VK_SUCCESS)
		vk->messenger = VK_NULL_HANDLE;
}

static void messages_end(struct vulkan *vk)
{
	PFN_vkDestroyDebugUtilsMessengerEXT destroy = NULL;
	vk->report = NULL;
	if (vk->messenger == VK_NULL_HANDLE)
		return;
	destroy = (PFN_vkDestroyDebugUtilsMessengerEXT)vk->vkGetInstanceProcAddr(
		vk->instance, "vkDestroyDebugUtilsMessengerEXT");
	if (destroy != NULL)
		destroy(vk->instance, vk->messenger, NULL);
	vk->messenger = VK_NULL_HANDLE;
}

/* A loader without vkEnumerateInstanceVersion is one of Vulkan 1.0. */
static int read_version(struct vulkan *vk, struct error *err)
{
	PFN_vkEnumerateInstanceVersion enumerate = VULKAN_GLOBAL(vk, vkEnumerateInstanceVersion);
	uint32_t version = VK_API_VERSION_1_0;
	int rc = 0;
	if (enumerate != NULL)
		rc = vulkan_check(vk, enumerate(&version), "vkEnumerateInstanceVersion", err);
	if (rc != 0)
		return rc;
	(void)snprintf(vk->report->version, sizeof(vk->report->version), "%u.%u.%u",
		       VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version),
		       VK_API_VERSION_PATCH(version));
	vk->report->missing = "Vulkan 1.1 loader";
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
	const bool messages = messages_offered(vk);
	const VkDebugUtilsMessengerCreateInfoEXT messenger = messages_info(vk);
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
	PFN_vkCreateInstance create = VULKAN_GLOBAL(vk, vkCreateInstance);
	if (create == NULL)
		return error_set(err, ERROR_UNAVAILABLE,
				 VULKAN_LIBRARY " offers no vkCreateInstance");
	int rc = vulkan_check(vk, create(&info, NULL, &vk->instance), "vkCreateInstance", err);
	if (rc == 0 && messages)
		messages_begin(vk);
	return rc;
}

static int load_instance_functions(struct vulkan *vk, struct error *err)
{
	const char *absent = NULL;
#define X(name)                                                                                    \
	vk->name = (PFN_##name)vk->vkGetInstanceProcAddr(vk->instance, #name);                     \
	absent = vk->name == NULL ? #name : absent;
#include "workloads/vulkan/instance_functions.h"
#undef X
	return absent == NULL
		       ? 0
		       : error_set(err, ERROR_UNAVAILABLE, "the loader offers no %s", absent);
}

/* Loaders up to 1.3.2xx answer VK_ERROR_INITIALIZATION_FAILED where no driver found a device; what
 * they say tells that from a driver that failed. */
static int enumerate_devices(struct vulkan *vk, struct error *err)
{
	uint32_t count = API_DEVICES_MAX;
	VkResult result = VK_SUCCESS;
	int rc = 0;
	vk->cause[0] = '\0';
	result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, vk->devices);
	if (result == VK_ERROR_INITIALIZATION_FAILED && vk->messenger != VK_NULL_HANDLE &&
	    vk->cause[0] == '\0')
		return 0;
	if (result != VK_INCOMPLETE)
		rc = vulkan_check(vk, result, "vkEnumeratePhysicalDevices", err);
	if (rc == 0)
		vk->device_count = count < API_DEVICES_MAX ? count : API_DEVICES_MAX;
	return rc;
}

/* A loader without any driver and one whose drivers are broken answer alike; only the latter gives
 * a reason. */
static int no_driver(struct vulkan *vk, struct error *err)
{
	const struct error before = *err;
	if (vk->cause[0] != '\0')
		return error_set(err, ERROR_UNAVAILABLE,
				 "the Vulkan loader found a driver that it cannot use: %s",
				 vk->cause);
	vk->report->missing = "Vulkan driver";
	return error_set(err, ERROR_UNSUPPORTED, "the Vulkan loader found no driver (%s)",
			 before.text);
}

static int start(struct vulkan *vk, struct error *err)
{
	const struct api_function functions[] = {
		{"vkGetInstanceProcAddr", &vk->vkGetInstanceProcAddr}, {NULL, NULL}};
	int rc = api_load(vk->report, VULKAN_LIBRARY, functions, err);
	if (rc == 0)
		rc = read_version(vk, err);
	if (rc == 0)
		rc = create_instance(vk, err);
	if (rc == 0)
		rc = load_instance_functions(vk, err);
	if (rc == 0)
		rc = enumerate_devices(vk, err);
	for (size_t i = 0; rc == 0 && i < vk->device_count; i++)
		rc = api_report_device(vk->report, vulkan_describe_device(vk, i), err);
	if (rc == ERROR_REMOTE && vk->opening.code == VK_ERROR_INCOMPATIBLE_DRIVER)
		rc = no_driver(vk, err);
	messages_end(vk);
	return rc;
}

static void vulkan_close(void *session)
{
	struct vulkan *vk = session;
	if (vk->instance != NULL && vk->vkDestroyInstance != NULL)
		vk->vkDestroyInstance(vk->instance, NULL);
}

static int vulkan_open(struct api_report *report, void *session, struct error *err)
{
	struct vulkan *vk = session;
	vk->report = report;
	vk->failure = &vk->opening;
	return start(vk, err);
}

const struct api_driver vulkan_api = {
	.name = "vulkan",
	.library = VULKAN_LIBRARY,
	.summary = "Run verified work on a Vulkan device and report what happened",
	.description =
		"Opens the Vulkan loader, enumerates the physical devices, runs a compute pipeline on one of them and verifies "
		"every element of the result on the CPU.",
	.session_size = sizeof(struct vulkan),
	.open = vulkan_open,
	.work = vulkan_work,
	.close = vulkan_close,
};
