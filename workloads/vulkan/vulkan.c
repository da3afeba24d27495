/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/vulkan.h"

static int vulkan_api_open(struct api_report *report, void **session, struct error *err)
{
	struct vulkan *vk = NULL;
	int code = vulkan_open(report, &vk, err);

	*session = vk;
	return code;
}

static int vulkan_api_work(void *session, const struct work_request *request,
			   struct work_report *report, struct error *err)
{
	struct vulkan *vk = session;
	struct error reason = {0};
	int code = 0;

	if (request->device >= vk->device_count)
		return work_report_absent(report, vk->device_count);
	vk->failure = (struct call_failure){0};
	code = vulkan_compute(vk, request, report, &reason);
	return code == 0 ? 0 : work_report_failure(report, &reason, &vk->failure, err);
}

static bool vulkan_api_close(void *session)
{
	struct vulkan *vk = session;
	bool orderly = !vk->abandoned;

	if (orderly)
		vulkan_free(vk);
	return orderly;
}

const struct api_driver vulkan_api = {
	.name = "vulkan",
	.library = VULKAN_LIBRARY,
	.open = vulkan_api_open,
	.work = vulkan_api_work,
	.close = vulkan_api_close,
};
