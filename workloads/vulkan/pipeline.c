/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/device.h"

#include "base/cleanup.h"
#include "workloads/vulkan/work_spirv.h" /* generated from work.comp */

/* The push constants of work.comp, which knows the number of groups itself. */
enum { CONSTANTS_SIZE = offsetof(struct work_parameters, stride) };

static int create_layouts(struct vulkan_device *device, struct vulkan_pipeline *out,
			  struct error *err)
{
	VkDescriptorSetLayoutBinding bindings[WORK_ARRAYS] = {0};
	const VkPushConstantRange constants = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
					       .size = CONSTANTS_SIZE};
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
	int rc = VULKAN_CALL(device, err, vkCreateDescriptorSetLayout, device->handle, &set_info,
			     NULL, &out->set_layout);
	if (rc != 0)
		return rc;
	const VkPipelineLayoutCreateInfo layout_info = {
		.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
		.setLayoutCount = 1,
		.pSetLayouts = &out->set_layout,
		.pushConstantRangeCount = 1,
		.pPushConstantRanges = &constants,
	};
	return VULKAN_CALL(device, err, vkCreatePipelineLayout, device->handle, &layout_info, NULL,
			   &out->layout);
}

static int create_pipeline(struct vulkan_device *device, struct vulkan_pipeline *out,
			   struct error *err)
{
	const VkShaderModuleCreateInfo shader_info = {
		.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
		.codeSize = sizeof(work_spirv),
		.pCode = work_spirv,
	};
	int rc = VULKAN_CALL(device, err, vkCreateShaderModule, device->handle, &shader_info, NULL,
			     &out->shader);
	if (rc != 0)
		return rc;
	const VkComputePipelineCreateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
		.stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
			  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
			  .module = out->shader,
			  .pName = "main"},
		.layout = out->layout,
	};
	return VULKAN_CALL(device, err, vkCreateComputePipelines, device->handle, VK_NULL_HANDLE, 1,
			   &info, NULL, &out->pipeline);
}

static int create_descriptor_set(struct vulkan_device *device, struct vulkan_pipeline *out,
				 struct error *err)
{
	const VkDescriptorPoolSize size = {.type = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
					   .descriptorCount = WORK_ARRAYS};
	const VkDescriptorPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
		.maxSets = 1,
		.poolSizeCount = 1,
		.pPoolSizes = &size,
	};
	int rc = VULKAN_CALL(device, err, vkCreateDescriptorPool, device->handle, &pool_info, NULL,
			     &out->descriptor_pool);
	if (rc != 0)
		return rc;
	const VkDescriptorSetAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
		.descriptorPool = out->descriptor_pool,
		.descriptorSetCount = 1,
		.pSetLayouts = &out->set_layout,
	};
	return VULKAN_CALL(device, err, vkAllocateDescriptorSets, device->handle, &info, &out->set);
}

static int create_commands(struct vulkan_device *device, struct vulkan_pipeline *out,
			   struct error *err)
{
	const VkFenceCreateInfo fence_info = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
	const VkCommandPoolCreateInfo pool_info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
		.queueFamilyIndex = device->queue_family,
	};
	int rc = VULKAN_CALL(device, err, vkCreateCommandPool, device->handle, &pool_info, NULL,
			     &out->command_pool);
	if (rc != 0)
		return rc;
	const VkCommandBufferAllocateInfo info = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
		.commandPool = out->command_pool,
		.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
		.commandBufferCount = VULKAN_STEP_COUNT,
	};
	rc = VULKAN_CALL(device, err, vkAllocateCommandBuffers, device->handle, &info,
			 out->commands);
	for (size_t i = 0; rc == 0 && i < VULKAN_STEP_COUNT; i++)
		rc = VULKAN_CALL(device, err, vkCreateFence, device->handle, &fence_info, NULL,
				 &out->fences[i]);
	return rc;
}

int vulkan_pipeline_build(struct vulkan_device *device, struct vulkan_pipeline *out,
			  struct error *err)
{
	int rc = create_layouts(device, out, err);
	if (rc == 0)
		rc = create_pipeline(device, out, err);
	if (rc == 0)
		rc = create_descriptor_set(device, out, err);
	if (rc == 0)
		rc = create_commands(device, out, err);
	return rc;
}

static void bind_arrays(struct vulkan_device *device, const struct vulkan_pipeline *pipeline,
			const struct vulkan_layout *layout, VkBuffer storage)
{
	VkDescriptorBufferInfo arrays[WORK_ARRAYS] = {0};
	VkWriteDescriptorSet writes[WORK_ARRAYS] = {0};
	for (uint32_t i = 0; i < WORK_ARRAYS; i++) {
		arrays[i] = (VkDescriptorBufferInfo){.buffer = storage,
						     .offset = layout->offsets[i],
						     .range = layout->array_size};
		writes[i] = (VkWriteDescriptorSet){
			.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
			.dstSet = pipeline->set,
			.dstBinding = i,
			.descriptorCount = 1,
			.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.pBufferInfo = &arrays[i],
		};
	}
	device->vkUpdateDescriptorSets(device->handle, WORK_ARRAYS, writes, 0, NULL);
}

static void record_dispatch(struct vulkan_device *device, const struct vulkan_pipeline *pipeline,
			    VkCommandBuffer commands, const struct work_request *request)
{
	const struct work_parameters parameters = work_parameters(request);
	device->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
	device->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout,
					0, 1, &pipeline->set, 0, NULL);
	device->vkCmdPushConstants(commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
				   CONSTANTS_SIZE, &parameters);
	device->vkCmdDispatch(commands, parameters.stride / WORK_GROUP, work_groups_y(request),
			      work_groups_z(request));
}

/* Makes what a step wrote visible to the next one, and to the processor. */
static void record_barrier(struct vulkan_device *device, VkCommandBuffer commands)
{
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
		.dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT |
				 VK_ACCESS_HOST_READ_BIT,
	};
	device->vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
				     VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
					     VK_PIPELINE_STAGE_HOST_BIT,
				     0, 1, &barrier, 0, NULL, 0, NULL);
}

int vulkan_pipeline_record(struct vulkan_device *device, struct vulkan_pipeline *pipeline,
			   const struct vulkan_layout *layout, const struct work_request *request,
			   VkBuffer storage, VkBuffer staging, struct error *err)
{
	const VkCommandBufferBeginInfo begin = {
		.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
		.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
	};
	const VkBufferCopy whole = {.size = layout->size};
	int rc = 0;
	bind_arrays(device, pipeline, layout, storage);
	for (size_t i = 0; rc == 0 && i < VULKAN_STEP_COUNT; i++) {
		VkCommandBuffer commands = pipeline->commands[i];
		rc = VULKAN_CALL(device, err, vkBeginCommandBuffer, commands, &begin);
		if (rc != 0)
			break;
		if (i == VULKAN_STEP_UPLOAD)
			device->vkCmdCopyBuffer(commands, staging, storage, 1, &whole);
		else if (i == VULKAN_STEP_DOWNLOAD || i == VULKAN_STEP_LOOK)
			device->vkCmdCopyBuffer(commands, storage, staging, 1, &whole);
		else
			record_dispatch(device, pipeline, commands, request);
		record_barrier(device, commands);
		rc = VULKAN_CALL(device, err, vkEndCommandBuffer, commands);
	}
	return rc;
}

void vulkan_pipeline_free(struct vulkan_device *device, struct vulkan_pipeline *pipeline)
{
	VkDevice handle = device->handle;
	for (size_t i = 0; i < VULKAN_STEP_COUNT; i++)
		device->vkDestroyFence(handle, pipeline->fences[i], NULL);
	device->vkDestroyCommandPool(handle, pipeline->command_pool, NULL);
	device->vkDestroyDescriptorPool(handle, pipeline->descriptor_pool, NULL);
	device->vkDestroyPipeline(handle, pipeline->pipeline, NULL);
	device->vkDestroyShaderModule(handle, pipeline->shader, NULL);
	device->vkDestroyPipelineLayout(handle, pipeline->layout, NULL);
	device->vkDestroyDescriptorSetLayout(handle, pipeline->set_layout, NULL);
}
