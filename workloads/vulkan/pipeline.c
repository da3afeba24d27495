/* SPDX-License-Identifier: MIT */
#include "workloads/vulkan/device.h"

#include "base/cleanup.h"
#include "workloads/vulkan/work_spirv.h" /* generated from work.comp */

enum {
	LOCAL_SIZE = 64, /* as in work.comp */
	BINDINGS = 3,
	GROUPS_MAX = 65535, /* what every device offers: maxComputeWorkGroupCount[0] */
};

/* The push constants of work.comp. */
struct parameters {
	uint32_t elements;
	uint32_t key;
	float scale;
};

static int create_layouts(struct vulkan_device *device, struct vulkan_pipeline *out,
			  struct error *err)
{
	VkDescriptorSetLayoutBinding bindings[BINDINGS] = {0};
	const VkPushConstantRange constants = {.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
					       .size = sizeof(struct parameters)};
	for (uint32_t i = 0; i < BINDINGS; i++)
		bindings[i] = (VkDescriptorSetLayoutBinding){
			.binding = i,
			.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
			.descriptorCount = 1,
			.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT,
		};
	const VkDescriptorSetLayoutCreateInfo set_info = {
		.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
		.bindingCount = BINDINGS,
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
					   .descriptorCount = BINDINGS};
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
	VkDescriptorBufferInfo arrays[BINDINGS] = {0};
	VkWriteDescriptorSet writes[BINDINGS] = {0};
	for (uint32_t i = 0; i < BINDINGS; i++) {
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
	device->vkUpdateDescriptorSets(device->handle, BINDINGS, writes, 0, NULL);
}

static void record_dispatch(struct vulkan_device *device, const struct vulkan_pipeline *pipeline,
			    VkCommandBuffer commands, const struct work_request *request)
{
	const struct parameters parameters = {.elements = (uint32_t)request->elements,
					      .key = work_key(request->seed),
					      .scale = WORK_SCALE};
	const size_t groups = (request->elements + LOCAL_SIZE - 1) / LOCAL_SIZE;
	device->vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->pipeline);
	device->vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline->layout,
					0, 1, &pipeline->set, 0, NULL);
	device->vkCmdPushConstants(commands, pipeline->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
				   sizeof(parameters), &parameters);
	device->vkCmdDispatch(commands, groups < GROUPS_MAX ? (uint32_t)groups : GROUPS_MAX, 1, 1);
}

/* Makes what this step wrote visible to the next one. */
static void record_barrier(struct vulkan_device *device, VkCommandBuffer commands,
			   enum vulkan_step step)
{
	static const struct {
		VkPipelineStageFlags from, to;
		VkAccessFlags written, read;
	} barriers[VULKAN_STEP_COUNT] = {
		[VULKAN_STEP_UPLOAD] = {VK_PIPELINE_STAGE_TRANSFER_BIT,
					VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
					VK_ACCESS_TRANSFER_WRITE_BIT,
					VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT},
		[VULKAN_STEP_DISPATCH] = {VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
					  VK_PIPELINE_STAGE_TRANSFER_BIT,
					  VK_ACCESS_SHADER_WRITE_BIT, VK_ACCESS_TRANSFER_READ_BIT},
		[VULKAN_STEP_DOWNLOAD] = {VK_PIPELINE_STAGE_TRANSFER_BIT,
					  VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
					  VK_ACCESS_HOST_READ_BIT},
	};
	const VkMemoryBarrier barrier = {
		.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
		.srcAccessMask = barriers[step].written,
		.dstAccessMask = barriers[step].read,
	};
	device->vkCmdPipelineBarrier(commands, barriers[step].from, barriers[step].to, 0, 1,
				     &barrier, 0, NULL, 0, NULL);
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
		else if (i == VULKAN_STEP_DOWNLOAD)
			device->vkCmdCopyBuffer(commands, storage, staging, 1, &whole);
		else
			record_dispatch(device, pipeline, commands, request);
		record_barrier(device, commands, (enum vulkan_step)i);
		rc = VULKAN_CALL(device, err, vkEndCommandBuffer, commands);
	}
	return rc;
}

void vulkan_pipeline_free(struct vulkan_device *device, struct vulkan_pipeline *pipeline)
{
	VkDevice handle = device->handle;
	if (device->vk->abandoned)
		return;
	/* Vulkan lets VK_NULL_HANDLE be destroyed. */
	for (size_t i = 0; i < VULKAN_STEP_COUNT; i++)
		device->vkDestroyFence(handle, pipeline->fences[i], NULL);
	device->vkDestroyCommandPool(handle, pipeline->command_pool, NULL);
	device->vkDestroyDescriptorPool(handle, pipeline->descriptor_pool, NULL);
	device->vkDestroyPipeline(handle, pipeline->pipeline, NULL);
	device->vkDestroyShaderModule(handle, pipeline->shader, NULL);
	device->vkDestroyPipelineLayout(handle, pipeline->layout, NULL);
	device->vkDestroyDescriptorSetLayout(handle, pipeline->set_layout, NULL);
	*pipeline = (struct vulkan_pipeline){0};
}
