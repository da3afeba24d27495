/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/vulkan.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENSIONS_MAX = 256 };

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

bool vulkan_messages_offered(const struct vulkan *vk)
{
	PFN_vkEnumerateInstanceExtensionProperties enumerate =
		VULKAN_GLOBAL(vk, vkEnumerateInstanceExtensionProperties);
	uint32_t count = EXTENSIONS_MAX;
	VkExtensionProperties *list CLEANUP_FREE = calloc(EXTENSIONS_MAX, sizeof(*list));
	return enumerate != NULL && list != NULL && enumerate(NULL, &count, list) >= 0 &&
	       vulkan_has_extension(list, count, VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
}

VkDebugUtilsMessengerCreateInfoEXT vulkan_messages_info(struct vulkan *vk)
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

void vulkan_messages_begin(struct vulkan *vk)
{
	const VkDebugUtilsMessengerCreateInfoEXT info = vulkan_messages_info(vk);
	PFN_vkCreateDebugUtilsMessengerEXT create =
		(PFN_vkCreateDebugUtilsMessengerEXT)vk->vkGetInstanceProcAddr(
			vk->instance, "vkCreateDebugUtilsMessengerEXT");
	if (create == NULL || create(vk->instance, &info, NULL, &vk->messenger) != VK_SUCCESS)
		vk->messenger = VK_NULL_HANDLE;
}

void vulkan_messages_end(struct vulkan *vk)
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
