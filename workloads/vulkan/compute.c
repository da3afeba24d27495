/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/vulkan.h"

#include "workloads/vulkan/device.h"

#include <string.h>

struct computation {
	struct vulkan_device device;
	struct vulkan_pipeline pipeline;
	struct vulkan_layout layout;
	struct vulkan_buffer storage, staging;
	uint64_t timeout_ms;
};

static int create_memory(struct computation *c, const struct work_request *request,
			 struct error *err)
{
	int code = vulkan_layout_plan(&c->device, request->elements, &c->layout, err);

	if (code == 0)
		code = vulkan_buffer_create(&c->device, VULKAN_BUFFER_STORAGE, c->layout.size,
					    &c->storage, err);
	if (code == 0)
		code = vulkan_buffer_create(&c->device, VULKAN_BUFFER_STAGING, c->layout.size,
					    &c->staging, err);
	return code != 0 ? code
			 : vulkan_pipeline_record(&c->device, &c->pipeline, &c->layout, request,
						  c->storage.buffer, c->staging.buffer, err);
}

static struct work_data staged_data(const struct computation *c, const struct work_request *request)
{
	uint8_t *bytes = c->staging.mapped;

	return (struct work_data){
		.values = (void *)(bytes + c->layout.offsets[0]),
		.x = (void *)(bytes + c->layout.offsets[1]),
		.y = (void *)(bytes + c->layout.offsets[2]),
		.elements = request->elements,
		.seed = request->seed,
	};
}

/* Submits one step and waits for it. After a wait that timed out the objects belong to the device.
 */
static int run_step(struct computation *c, enum vulkan_step step, struct error *err)
{
	struct vulkan_device *device = &c->device;
	const VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &c->pipeline.commands[step],
	};
	VkFence fence = c->pipeline.fences[step];
	int code = vulkan_check(device->vk, device->vkQueueSubmit(device->queue, 1, &submit, fence),
				"vkQueueSubmit", err);

	if (code != 0)
		return code;
	VkResult result = device->vkWaitForFences(device->handle, 1, &fence, VK_TRUE,
						  c->timeout_ms * 1000000u);

	code = vulkan_check(device->vk, result, "vkWaitForFences", err);
	if (result != VK_TIMEOUT)
		return code;
	device->vk->abandoned = true;
	return error_set(err, ERROR_TIMEOUT,
			 "vkWaitForFences: the device did not finish within %llu ms",
			 (unsigned long long)c->timeout_ms);
}

static int compute(struct computation *c, VkPhysicalDevice physical,
		   const struct work_request *request, struct work_report *report,
		   struct vulkan *vk, struct error *err)
{
	struct work_data data = {0};
	int code = 0;

	work_stage_begin(report, WORK_STAGE_DEVICE);
	code = vulkan_device_open(vk, physical, &c->device, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_BUILD);
	code = vulkan_pipeline_build(&c->device, &c->pipeline, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_MEMORY);
	code = create_memory(c, request, err);
	if (code != 0)
		return code;
	data = staged_data(c, request);
	work_fill(&data);
	work_stage_begin(report, WORK_STAGE_UPLOAD);
	code = run_step(c, VULKAN_STEP_UPLOAD, err);
	if (code != 0)
		return code;
	/* What is read back must come from the device, not from what was staged. */
	memset(c->staging.mapped, 0xA5, (size_t)c->layout.size);
	work_stage_begin(report, WORK_STAGE_DISPATCH);
	code = run_step(c, VULKAN_STEP_DISPATCH, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_DOWNLOAD);
	code = run_step(c, VULKAN_STEP_DOWNLOAD, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_VERIFY);
	work_verify(&data, report);
	return 0;
}

int vulkan_compute(struct vulkan *vk, const struct work_request *request,
		   struct work_report *report, struct error *err)
{
	struct computation c = {.timeout_ms = request->timeout_ms};
	int code = compute(&c, vk->devices[request->device], request, report, vk, err);

	work_stage_end(report);
	if (c.device.queue != NULL) {
		vulkan_pipeline_free(&c.device, &c.pipeline);
		vulkan_buffer_free(&c.device, &c.staging);
		vulkan_buffer_free(&c.device, &c.storage);
	}
	vulkan_device_free(&c.device);
	return code;
}
