/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/vulkan.h"

#include "base/cleanup.h"
#include "base/memory.h"

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
	if (result == VK_SUCCESS)
		return 0;
	return call_failed_advised(vk->failure, call, (int)result, results, ARRAY_SIZE(results),
				   err);
}

/* Keeps messages, and the first that names a cause. Loaders give no codes with their messages, so their
 * words decide: one that only reports that nothing was found is no cause, and layers do not belong to
 * drivers. */
static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
						 VkDebugUtilsMessageTypeFlagsEXT types,
						 const VkDebugUtilsMessengerCallbackDataEXT *data,
						 void *user)
{
	static const char *const outcomes[] = {"Found no drivers", "Failed to open JSON file",
					       "Failed to detect any valid GPUs", "layer"};
	struct vulkan *vk = user;

	(void)types;
	if (vk->report == NULL || data == NULL || data->pMessage == NULL)
		return VK_FALSE;
	api_report_message(vk->report, data->pMessage);

	bool cause = severity == VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT ||
		     strstr(data->pMessage, "Skipping") != NULL;
	for (size_t i = 0; i < ARRAY_SIZE(outcomes); i++)
		cause = cause && strstr(data->pMessage, outcomes[i]) == NULL;
	if (cause && vk->cause[0] == '\0')
		(void)snprintf(vk->cause, sizeof(vk->cause), "%s", data->pMessage);
	return VK_FALSE;
}

static int create_instance(struct vulkan *vk, struct error *err)
{
	static const char *const extensions[] = {VK_EXT_DEBUG_UTILS_EXTENSION_NAME};
	VkExtensionProperties *list CLEANUP_FREE = memory_allocate(EXTENSIONS_MAX, sizeof(*list));
	uint32_t count = EXTENSIONS_MAX;
	const VkDebugUtilsMessengerCreateInfoEXT messenger = {
		.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
		.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT |
				   VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT,
		.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_GENERAL_BIT_EXT |
			       VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
		.pfnUserCallback = on_message,
		.pUserData = vk,
	};

	PFN_vkEnumerateInstanceExtensionProperties enumerate =
		VULKAN_GLOBAL(vk, vkEnumerateInstanceExtensionProperties);
	const bool messages = enumerate != NULL && enumerate(NULL, &count, list) >= 0 &&
			      vulkan_has_extension(list, count, extensions[0]);
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
	if (rc != 0 || !messages)
		return rc;

	PFN_vkCreateDebugUtilsMessengerEXT create_messenger =
		(PFN_vkCreateDebugUtilsMessengerEXT)vk->get_address(
			vk->instance, "vkCreateDebugUtilsMessengerEXT");
	if (create_messenger == NULL ||
	    create_messenger(vk->instance, &messenger, NULL, &vk->messenger) != VK_SUCCESS)
		vk->messenger = VK_NULL_HANDLE;
	return 0;
}

static int enumerate_devices(struct vulkan *vk, struct error *err)
{
	const char *absent = NULL;
	uint32_t count = API_DEVICES_MAX;

	int rc = api_load_one(vk->report, VULKAN_LIBRARY, "vkGetInstanceProcAddr", &vk->get_address,
			      err);
	if (rc != 0)
		return rc;

	/* A loader without vkEnumerateInstanceVersion is one of Vulkan 1.0. */
	PFN_vkEnumerateInstanceVersion enumerate = VULKAN_GLOBAL(vk, vkEnumerateInstanceVersion);
	uint32_t version = VK_API_VERSION_1_0;
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

	rc = create_instance(vk, err);
	if (rc != 0)
		return rc;
#define X(name)                                                                                    \
	vk->name = (PFN_##name)vk->get_address(vk->instance, #name);                               \
	absent = vk->name == NULL ? #name : absent;
#include "workloads/vulkan/instance_functions.h"
#undef X
	if (absent != NULL)
		return error_set(err, ERROR_UNAVAILABLE, "the loader offers no %s", absent);

	/* Loaders up to 1.3.2xx answer VK_ERROR_INITIALIZATION_FAILED where no driver found a device;
	 * only a driver that failed gives a cause. */
	vk->cause[0] = '\0';
	VkResult result = vk->vkEnumeratePhysicalDevices(vk->instance, &count, vk->devices);
	if (result == VK_ERROR_INITIALIZATION_FAILED && vk->messenger != VK_NULL_HANDLE &&
	    vk->cause[0] == '\0')
		return 0;
	if (result != VK_INCOMPLETE)
		rc = vulkan_check(vk, result, "vkEnumeratePhysicalDevices", err);
	if (rc != 0)
		return rc;
	vk->device_count = count < API_DEVICES_MAX ? count : API_DEVICES_MAX;
	for (size_t i = 0; i < vk->device_count; i++)
		api_report_device(vk->report, vulkan_describe_device(vk, i));
	return 0;
}

void vulkan_close(void *session)
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
	int rc = enumerate_devices(vk, err);

	/* A loader without any driver and one whose drivers are broken answer alike; only the latter
	 * gives a reason. */
	if (rc == ERROR_REMOTE && vk->opening.code == VK_ERROR_INCOMPATIBLE_DRIVER) {
		const struct error before = *err;
		if (vk->cause[0] != '\0') {
			rc = error_set(err, ERROR_UNAVAILABLE,
				       "the Vulkan loader found a driver that it cannot use: %s",
				       vk->cause);
		} else {
			report->missing = "Vulkan driver";
			rc = error_set(err, ERROR_UNSUPPORTED,
				       "the Vulkan loader found no driver (%s)", before.text);
		}
	}

	vk->report = NULL; /* ends the messages */
	if (vk->messenger != VK_NULL_HANDLE) {
		PFN_vkDestroyDebugUtilsMessengerEXT destroy =
			(PFN_vkDestroyDebugUtilsMessengerEXT)vk->get_address(
				vk->instance, "vkDestroyDebugUtilsMessengerEXT");
		if (destroy != NULL)
			destroy(vk->instance, vk->messenger, NULL);
		vk->messenger = VK_NULL_HANDLE;
	}
	return rc;
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
