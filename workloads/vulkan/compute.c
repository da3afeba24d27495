/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/vulkan.h"

#include "workloads/vulkan/device.h"

struct computation {
	struct vulkan *vk;
	const struct work_request *request;
	struct vulkan_device device;
	struct vulkan_pipeline pipeline;
	struct vulkan_layout layout;
	struct vulkan_buffer storage, staging;
	struct work_data data; /* in the staging buffer */
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	return vulkan_device_open(c->vk, c->vk->devices[c->request->device], &c->device, err);
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	return vulkan_pipeline_build(&c->device, &c->pipeline, err);
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = vulkan_layout_plan(&c->device, c->request->elements, &c->layout, err);
	if (rc == 0)
		rc = vulkan_buffer_create(&c->device, VULKAN_BUFFER_STORAGE, c->layout.size,
					  &c->storage, err);
	if (rc == 0)
		rc = vulkan_buffer_create(&c->device, VULKAN_BUFFER_STAGING, c->layout.size,
					  &c->staging, err);
	if (rc == 0)
		rc = vulkan_pipeline_record(&c->device, &c->pipeline, &c->layout, c->request,
					    c->storage.buffer, c->staging.buffer, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		c->data.arrays[i] = (uint8_t *)c->staging.mapped + c->layout.offsets[i];
	work_fill(&c->data);
	return 0;
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
	int rc = VULKAN_CALL(device, err, vkQueueSubmit, device->queue, 1, &submit, fence);
	if (rc != 0)
		return rc;
	VkResult result = device->vkWaitForFences(device->handle, 1, &fence, VK_TRUE,
						  c->request->timeout_ms * 1000000u);
	rc = vulkan_check(device->vk, result, "vkWaitForFences", err);
	if (result != VK_TIMEOUT)
		return rc;
	return error_set(err, ERROR_TIMEOUT,
			 "vkWaitForFences: the device did not finish within %llu ms",
			 (unsigned long long)c->request->timeout_ms);
}

static int look(void *work, struct error *err)
{
	return run_step(work, VULKAN_STEP_LOOK, err);
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = run_step(c, VULKAN_STEP_UPLOAD, err);
	if (rc == 0)
		work_overwrite(&c->data);
	return rc;
}

static int dispatch(void *work, struct error *err)
{
	return run_step(work, VULKAN_STEP_DISPATCH, err);
}

static int download(void *work, struct error *err)
{
	return run_step(work, VULKAN_STEP_DOWNLOAD, err);
}

static void release(struct computation *c)
{
	if (c->device.queue != NULL) {
		vulkan_pipeline_free(&c->device, &c->pipeline);
		vulkan_buffer_free(&c->device, &c->staging);
		vulkan_buffer_free(&c->device, &c->storage);
	}
	vulkan_device_free(&c->device);
}

int vulkan_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,
		[WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory,
		[WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,
		[WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_LOOK] = look,
	};
	struct computation c = {
		.vk = session,
		.request = request,
		.data = {.elements = request->elements, .seed = request->seed},
	};
	c.vk->failure = (struct call_failure){0};
	int rc = work_run(steps, &c, &c.data, report, err);
	report->failure = c.vk->failure;
	if (rc != ERROR_TIMEOUT)
		release(&c);
	return rc;
}
