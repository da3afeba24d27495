/* SPDX-License-Identifier: MIT */
#include "workloads/amf/amf.h"

#include "workloads/vulkan/vulkan.h"

#include <stdlib.h>

enum { FAMILIES_MAX = 32, EXTENSIONS_MAX = 64 };

/* What a device is made with: a queue of each family, and the extensions that AMF asks for. */
struct plan {
	uint32_t families;
	VkDeviceQueueCreateInfo queues[FAMILIES_MAX];
	size_t extensions;
	const char *names[EXTENSIONS_MAX];
};

int amf_devices_open(struct amf *amf, struct api_report *report, struct error *err)
{
	int rc = vulkan_api.open(report, &amf->devices, err);
	if (rc == ERROR_NOT_FOUND && report->missing == NULL)
		report->missing = VULKAN_LIBRARY;
	return rc;
}

void amf_devices_close(struct amf *amf)
{
	vulkan_api.close(amf->devices);
}

static int make_plan(struct amf *amf, VkPhysicalDevice physical, struct plan *plan,
		     struct error *err)
{
	static const float priority = 1.0f;
	const struct vulkan *vk = amf->devices;
	VkQueueFamilyProperties families[FAMILIES_MAX] = {0};
	plan->families = FAMILIES_MAX;
	vk->vkGetPhysicalDeviceQueueFamilyProperties(physical, &plan->families, families);
	for (uint32_t i = 0; i < plan->families; i++)
		plan->queues[i] = (VkDeviceQueueCreateInfo){
			.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
			.queueFamilyIndex = i,
			.queueCount = 1,
			.pQueuePriorities = &priority,
		};
	struct amf_context *context = amf->context;
	int rc = amf_check(context->calls->get_vulkan_extensions(context, &plan->extensions, NULL),
			   "AMFContext1::GetVulkanDeviceExtensions", &amf->failure, err);
	if (rc != 0)
		return rc;
	if (plan->extensions > EXTENSIONS_MAX)
		return error_set(err, ERROR_LIMIT, "AMF asks for %zu extensions of Vulkan",
				 plan->extensions);
	return plan->extensions == 0
		       ? 0
		       : amf_check(context->calls->get_vulkan_extensions(context, &plan->extensions,
									 plan->names),
				   "AMFContext1::GetVulkanDeviceExtensions", &amf->failure, err);
}

static int make_device(struct amf *amf, VkPhysicalDevice physical, struct error *err)
{
	struct vulkan *vk = amf->devices;
	struct plan plan = {0};
	VkDevice device = VK_NULL_HANDLE;
	int rc = make_plan(amf, physical, &plan, err);
	if (rc != 0)
		return rc;
	const VkDeviceCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
		.queueCreateInfoCount = plan.families,
		.pQueueCreateInfos = plan.queues,
		.enabledExtensionCount = (uint32_t)plan.extensions,
		.ppEnabledExtensionNames = plan.names,
	};
	rc = vulkan_check(vk, vk->vkCreateDevice(physical, &info, NULL, &device), "vkCreateDevice",
			  err);
	if (rc != 0)
		amf->failure = vk->failure;
	amf->device = device;
	return rc;
}

/* Of AMFContext the interface that knows Vulkan. */
static int make_context(struct amf *amf, struct error *err)
{
	static const struct amf_guid guid = AMF_CONTEXT1_GUID;
	struct amf_context *context = NULL;
	void *object = NULL;
	int rc = amf_check(amf->factory->calls->create_context(amf->factory, &context),
			   "AMFFactory::CreateContext", &amf->failure, err);
	if (rc != 0 || context == NULL)
		return rc != 0 ? rc
			       : error_set(err, ERROR_REMOTE,
					   "AMFFactory::CreateContext succeeded and made none");
	rc = amf_check(context->calls->query(context, &guid, &object), "AMFContext::QueryInterface",
		       &amf->failure, err);
	amf->context = object;
	amf_release(context);
	return rc;
}

int amf_device_open(struct amf *amf, size_t index, struct error *err)
{
	const struct vulkan *vk = amf->devices;
	int rc = make_context(amf, err);
	if (rc == 0)
		rc = make_device(amf, vk->devices[index], err);
	if (rc != 0)
		return rc;
	struct amf_vulkan_device device = {
		.size = sizeof(device),
		.instance = vk->instance,
		.physical = vk->devices[index],
		.device = amf->device,
	};
	const amf_result result = amf->context->calls->init_vulkan(amf->context, &device);
	struct error told = {0};
	rc = amf_check(result, "AMFContext1::InitVulkan", &amf->failure, &told);
	if (rc == 0)
		return 0;
	return error_set(err, amf_is_absent(result) ? ERROR_UNSUPPORTED : rc, "%s", told.text);
}

void amf_device_close(struct amf *amf)
{
	const struct vulkan *vk = amf->devices;
	if (amf->context != NULL)
		(void)amf->context->calls->terminate(amf->context);
	amf_release(amf->context);
	if (amf->device != NULL) {
		PFN_vkDestroyDevice destroy = (PFN_vkDestroyDevice)vk->vkGetDeviceProcAddr(
			amf->device, "vkDestroyDevice");
		destroy(amf->device, NULL);
	}
	amf->context = NULL;
	amf->device = NULL;
}
