/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/device.h"

#include "workloads/vulkan/work_spirv.h" /* generated from work.comp */

/* The push constants of work.comp, which knows the number of groups itself. */
enum { CONSTANTS_SIZE = offsetof(struct work_parameters, stride) };

/* Each has a command buffer and a fence. */
enum step { STEP_LOOK, STEP_UPLOAD, STEP_DISPATCH, STEP_DOWNLOAD, STEP_COUNT };

struct computation {
	struct vulkan_device device;
	const struct work_request *request;
	VkShaderModule shader;
	VkDescriptorSetLayout set_layout;
	VkPipelineLayout layout;
	VkPipeline pipeline;
	VkDescriptorPool descriptor_pool;
	VkDescriptorSet set;
	VkCommandPool command_pool;
	VkCommandBuffer commands[STEP_COUNT];
	VkFence fences[STEP_COUNT];
	VkDeviceSize array_size, stride; /* bytes: of an array, and from one to the next */
	struct vulkan_buffer storage, staging;
	struct work_data data; /* in the staging buffer */
};

static int create_pipeline(struct computation *c, struct error *err)
{
	VkDescriptorSetLayoutBinding bindings[WORK_ARRAYS] = {0};
	for (uint32_t i = 0; i < WORK_ARRAYS; i++)
		bindings[i] = (VkDescriptorSetLayoutBinding){
			.binding = i,
			.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.descriptorCount = 1,
			.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
		};
	const VkDescriptorSetLayoutCreateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = WORK_ARRAYS,
		.pBindings = bindings,
	};
	int rc = VULKAN_CALL(&c->device, err, vkCreateDescriptorSetLayout, c->device.handle,
			     &set_info, NULL, &c->set_layout);
	if (rc != 0)
		return rc;

	const VkPushConstantRange constants = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
					       .size = CONSTANTS_SIZE};
	const VkPipelineLayoutCreateInfo layout_info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &c->set_layout,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &constants,
	};
	const VkShaderModuleCreateInfo shader_info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = sizeof(work_spirv),
		.pCode = work_spirv,
	};
	rc = VULKAN_CALL(&c->device, err, vkCreatePipelineLayout, c->device.handle, &layout_info,
			 NULL, &c->layout);
	if (rc == 0)
		rc = VULKAN_CALL(&c->device, err, vkCreateShaderModule, c->device.handle,
				 &shader_info, NULL, &c->shader);
	if (rc != 0)
		return rc;

	const VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
			  .module = c->shader,
			  .pName = "main"},
		.layout = c->layout,
	};
	return VULKAN_CALL(&c->device, err, vkCreateComputePipelines, c->device.handle,
			   VK_NULL_HANDLE, 1, &info, NULL, &c->pipeline);
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = create_pipeline(c, err);
	if (rc != 0)
		return rc;

	const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
					   .descriptorCount = WORK_ARRAYS};
	const VkDescriptorPoolCreateInfo sets_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 1,
		.pPoolSizes = &size,
	};
	rc = VULKAN_CALL(&c->device, err, vkCreateDescriptorPool, c->device.handle, &sets_info,
			 NULL, &c->descriptor_pool);
	if (rc != 0)
		return rc;
	const VkDescriptorSetAllocateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = c->descriptor_pool,
		.descriptorSetCount = 1,
		.pSetLayouts = &c->set_layout,
	};
	const VkCommandPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = c->device.queue_family,
	};
	rc = VULKAN_CALL(&c->device, err, vkAllocateDescriptorSets, c->device.handle, &set_info,
			 &c->set);
	if (rc == 0)
		rc = VULKAN_CALL(&c->device, err, vkCreateCommandPool, c->device.handle, &pool_info,
				 NULL, &c->command_pool);
	if (rc != 0)
		return rc;

	const VkCommandBufferAllocateInfo commands_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = c->command_pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = STEP_COUNT,
	};
	const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
	rc = VULKAN_CALL(&c->device, err, vkAllocateCommandBuffers, c->device.handle,
			 &commands_info, c->commands);
	for (size_t i = 0; rc == 0 && i < STEP_COUNT; i++)
		rc = VULKAN_CALL(&c->device, err, vkCreateFence, c->device.handle, &fence_info,
				 NULL, &c->fences[i]);
	return rc;
}

/* A barrier after each step makes its results visible to the next one, and to the processor. */
static int record(struct computation *c, enum step step, struct error *err)
{
	const struct vulkan_device *device = &c->device;
	const struct work_parameters parameters = work_parameters(c->request);
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
	};
	const VkBufferCopy whole = {.size = WORK_ARRAYS * c->stride};
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT |
				 VK_ACCESS_HOST_READ_BIT,
	};
	VkCommandBuffer commands = c->commands[step];
	VkBuffer storage = c->storage.buffer, staging = c->staging.buffer;

	int rc = VULKAN_CALL(device, err, vkBeginCommandBuffer, commands, &begin);
	if (rc != 0)
		return rc;
	if (step == STEP_UPLOAD) {
		device->vkCmdCopyBuffer(commands, staging, storage, 1, &whole);
	} else if (step == STEP_DISPATCH) {
		device->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, c->pipeline);
		device->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, c->layout,
						0, 1, &c->set, 0, NULL);
		device->vkCmdPushConstants(commands, c->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
					   CONSTANTS_SIZE, &parameters);
		device->vkCmdDispatch(commands, parameters.stride / WORK_GROUP,
				      work_groups_y(c->request), work_groups_z(c->request));
	} else {
		device->vkCmdCopyBuffer(commands, storage, staging, 1, &whole);
	}
	device->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
				     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
					     VK_PIPELINE_STAGE_HOST_BIT,
				     0, 1, &barrier, 0, NULL, 0, NULL);
	return VULKAN_CALL(device, err, vkEndCommandBuffer, commands);
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	VkPhysicalDeviceProperties properties = {0};
	VkDescriptorBufferInfo arrays[WORK_ARRAYS] = {0};
	VkWriteDescriptorSet writes[WORK_ARRAYS] = {0};

	/* The arrays follow each other in one buffer. */
	c->device.vk->vkGetPhysicalDeviceProperties(c->device.physical, &properties);
	const VkDeviceSize least = properties.limits.minStorageBufferOffsetAlignment;
	const VkDeviceSize alignment = least > 0 ? least : 1;
	c->array_size = work_array_size(c->request);
	c->stride = (c->array_size + alignment - 1) / alignment * alignment;
	if (c->array_size > properties.limits.maxStorageBufferRange)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%zu elements do not fit a storage buffer of %u bytes",
				 c->request->elements, properties.limits.maxStorageBufferRange);
	int rc = vulkan_buffer_create(&c->device, VULKAN_BUFFER_STORAGE, WORK_ARRAYS * c->stride,
				      &c->storage, err);
	if (rc == 0)
		rc = vulkan_buffer_create(&c->device, VULKAN_BUFFER_STAGING,
					  WORK_ARRAYS * c->stride, &c->staging, err);
	if (rc != 0)
		return rc;

	for (uint32_t i = 0; i < WORK_ARRAYS; i++) {
		arrays[i] = (VkDescriptorBufferInfo){.buffer = c->storage.buffer,
						     .offset = i * c->stride,
						     .range = c->array_size};
		writes[i] = (VkWriteDescriptorSet){
			.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
			.dstSet = c->set,
			.dstBinding = i,
			.descriptorCount = 1,
			.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.pBufferInfo = &arrays[i],
		};
		c->data.arrays[i] = (uint8_t *)c->staging.mapped + i * c->stride;
	}
	c->device.vkUpdateDescriptorSets(c->device.handle, WORK_ARRAYS, writes, 0, NULL);
	for (int step = 0; rc == 0 && step < STEP_COUNT; step++)
		rc = record(c, (enum step)step, err);
	work_fill(&c->data);
	return rc;
}

/* Submits one step and waits for it. After a wait that timed out the objects belong to the device.
 */
static int run_step(struct computation *c, enum step step, struct error *err)
{
	struct vulkan_device *device = &c->device;
	const VkSubmitInfo submit = {
		.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
		.commandBufferCount = 1,
		.pCommandBuffers = &c->commands[step],
	};
	VkFence fence = c->fences[step];
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
	return run_step(work, STEP_LOOK, err);
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = run_step(c, STEP_UPLOAD, err);
	if (rc == 0)
		work_overwrite(&c->data);
	return rc;
}

static int dispatch(void *work, struct error *err)
{
	return run_step(work, STEP_DISPATCH, err);
}

static int download(void *work, struct error *err)
{
	return run_step(work, STEP_DOWNLOAD, err);
}

int vulkan_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = vulkan_device_open,
		[WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory,
		[WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,
		[WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_LOOK] = look,
	};
	struct vulkan *vk = session;
	struct computation c = {
		.device = {.vk = vk, .physical = vk->devices[request->device]},
		.request = request,
		.data = {.elements = request->elements, .seed = request->seed},
	};
	vk->failure = &report->failure;
	report->memory_free = vulkan_free_bytes(vk, c.device.physical);
	int rc = work_run(steps, &c, &c.data, report, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	struct vulkan_device *device = &c.device;
	if (device->queue != NULL) {
		for (size_t i = 0; i < STEP_COUNT; i++)
			device->vkDestroyFence(device->handle, c.fences[i], NULL);
		device->vkDestroyCommandPool(device->handle, c.command_pool, NULL);
		device->vkDestroyDescriptorPool(device->handle, c.descriptor_pool, NULL);
		device->vkDestroyPipeline(device->handle, c.pipeline, NULL);
		device->vkDestroyShaderModule(device->handle, c.shader, NULL);
		device->vkDestroyPipelineLayout(device->handle, c.layout, NULL);
		device->vkDestroyDescriptorSetLayout(device->handle, c.set_layout, NULL);
		vulkan_buffer_free(device, &c.staging);
		vulkan_buffer_free(device, &c.storage);
	}
	vulkan_device_free(device);
	return rc;
}
