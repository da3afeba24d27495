/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/vulkan_double.h"

#include "workloads/doubles/settings.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFERS_MAX = 8 };

/* The push constants of the probes' kernel. */
struct parameters {
	uint32_t elements;
	uint32_t key;
	float scale;
};

/* A command buffer holds one copy or one dispatch. */
struct commands {
	VK_LOADER_DATA loader;
	struct double_buffer *from, *to;
	VkBufferCopy region;
	struct double_set *set;
	struct parameters parameters;
	uint32_t groups;
	bool never_ends;
	struct double_video video;
};

struct double_video *double_video_of(VkCommandBuffer commands)
{
	return &((struct commands *)commands)->video;
}

struct pool {
	size_t count;
	struct commands *buffers[BUFFERS_MAX];
};

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateCommandPool(VkDevice device,
							  const VkCommandPoolCreateInfo *info,
							  const VkAllocationCallbacks *allocator,
							  VkCommandPool *out)
{
	(void)device;
	(void)info;
	(void)allocator;
	ENTER(vkCreateCommandPool);
	*out = (VkCommandPool)double_allocate(sizeof(struct pool));
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkDestroyCommandPool(VkDevice device, VkCommandPool handle,
						       const VkAllocationCallbacks *allocator)
{
	struct pool *pool = (struct pool *)handle;
	(void)device;
	(void)allocator;
	for (size_t i = 0; pool != NULL && i < pool->count; i++) {
		double_video_forget(&pool->buffers[i]->video);
		free(pool->buffers[i]);
	}
	free(pool);
}

static VKAPI_ATTR VkResult VKAPI_CALL vkAllocateCommandBuffers(
	VkDevice device, const VkCommandBufferAllocateInfo *info, VkCommandBuffer *out)
{
	struct pool *pool = (struct pool *)info->commandPool;
	(void)device;
	ENTER(vkAllocateCommandBuffers);
	for (uint32_t i = 0; i < info->commandBufferCount && pool->count < BUFFERS_MAX; i++) {
		struct commands *commands = double_allocate(sizeof(*commands));
		set_loader_magic_value(commands);
		pool->buffers[pool->count++] = commands;
		out[i] = (VkCommandBuffer)commands;
	}
	return VK_SUCCESS;
}

/* They are freed with their pool. Wine asks for it before. */
static VKAPI_ATTR void VKAPI_CALL vkFreeCommandBuffers(VkDevice device, VkCommandPool pool,
						       uint32_t count,
						       const VkCommandBuffer *commands)
{
	(void)device;
	(void)pool;
	(void)count;
	(void)commands;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkBeginCommandBuffer(VkCommandBuffer commands,
							   const VkCommandBufferBeginInfo *info)
{
	(void)info;
	ENTER(vkBeginCommandBuffer);
	double_video_forget(double_video_of(commands));
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkEndCommandBuffer(VkCommandBuffer commands)
{
	const char *wrong = double_video_of(commands)->wrong;
	ENTER(vkEndCommandBuffer);
	return wrong != NULL ? double_refuse(wrong) : VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkCmdBindPipeline(VkCommandBuffer commands,
						    VkPipelineBindPoint point, VkPipeline pipeline)
{
	(void)commands;
	(void)point;
	(void)pipeline;
}

static VKAPI_ATTR void VKAPI_CALL
vkCmdBindDescriptorSets(VkCommandBuffer commands, VkPipelineBindPoint point,
			VkPipelineLayout layout, uint32_t first, uint32_t count,
			const VkDescriptorSet *sets, uint32_t offset_count, const uint32_t *offsets)
{
	(void)point;
	(void)layout;
	(void)first;
	(void)count;
	(void)offset_count;
	(void)offsets;
	((struct commands *)commands)->set = (struct double_set *)sets[0];
}

static VKAPI_ATTR void VKAPI_CALL vkCmdPushConstants(VkCommandBuffer commands,
						     VkPipelineLayout layout,
						     VkShaderStageFlags stages, uint32_t offset,
						     uint32_t size, const void *values)
{
	(void)layout;
	(void)stages;
	memcpy((char *)&((struct commands *)commands)->parameters + offset, values, size);
}

static VKAPI_ATTR void VKAPI_CALL vkCmdDispatch(VkCommandBuffer commands, uint32_t x, uint32_t y,
						uint32_t z)
{
	((struct commands *)commands)->groups = x * y * z;
	((struct commands *)commands)->never_ends = y > 1;
}

static VKAPI_ATTR void VKAPI_CALL vkCmdCopyBuffer(VkCommandBuffer handle, VkBuffer from,
						  VkBuffer to, uint32_t count,
						  const VkBufferCopy *regions)
{
	struct commands *commands = (struct commands *)handle;
	(void)count;
	commands->from = (struct double_buffer *)from;
	commands->to = (struct double_buffer *)to;
	commands->region = regions[0];
}

static VKAPI_ATTR void VKAPI_CALL
vkCmdPipelineBarrier(VkCommandBuffer commands, VkPipelineStageFlags from, VkPipelineStageFlags to,
		     VkDependencyFlags flags, uint32_t memory_count, const VkMemoryBarrier *memory,
		     uint32_t buffer_count, const VkBufferMemoryBarrier *buffers,
		     uint32_t image_count, const VkImageMemoryBarrier *images)
{
	(void)commands;
	(void)from;
	(void)to;
	(void)flags;
	(void)memory_count;
	(void)memory;
	(void)buffer_count;
	(void)buffers;
	(void)image_count;
	(void)images;
}

static void *bytes_of(const struct double_buffer *buffer, VkDeviceSize offset)
{
	return buffer->memory->bytes + buffer->offset + offset;
}

static void *array_of(const struct double_set *set, size_t binding)
{
	const VkDescriptorBufferInfo *info = &set->bindings[binding];
	return bytes_of((const struct double_buffer *)info->buffer, info->offset);
}

static VkResult execute(struct commands *commands)
{
	if (commands->from != NULL)
		memcpy(bytes_of(commands->to, commands->region.dstOffset),
		       bytes_of(commands->from, commands->region.srcOffset),
		       (size_t)commands->region.size);
	double_work_began(commands->never_ends);
	if (commands->groups > 0)
		setting_work(array_of(commands->set, 0), array_of(commands->set, 1),
			     array_of(commands->set, 2), commands->parameters.elements,
			     commands->parameters.key, commands->parameters.scale);
	return double_video_run(&commands->video);
}

static VKAPI_ATTR VkResult VKAPI_CALL vkQueueSubmit(VkQueue queue, uint32_t count,
						    const VkSubmitInfo *submits, VkFence fence)
{
	(void)queue;
	(void)fence;
	ENTER(vkQueueSubmit);
	VkResult result = VK_SUCCESS;
	for (uint32_t i = 0; i < count && result == VK_SUCCESS; i++) {
		result = double_semaphores(&submits[i]);
		for (uint32_t j = 0; j < submits[i].commandBufferCount && result == VK_SUCCESS; j++)
			result = execute((struct commands *)submits[i].pCommandBuffers[j]);
	}
	return result;
}

PFN_vkVoidFunction double_command_function(const char *name)
{
	static const struct double_entry entries[] = {
		ENTRY(vkCreateCommandPool),
		ENTRY(vkDestroyCommandPool),
		ENTRY(vkAllocateCommandBuffers),
		ENTRY(vkFreeCommandBuffers),
		ENTRY(vkBeginCommandBuffer),
		ENTRY(vkEndCommandBuffer),
		ENTRY(vkCmdBindPipeline),
		ENTRY(vkCmdBindDescriptorSets),
		ENTRY(vkCmdPushConstants),
		ENTRY(vkCmdDispatch),
		ENTRY(vkCmdCopyBuffer),
		ENTRY(vkCmdPipelineBarrier),
		ENTRY(vkQueueSubmit),
	};
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, name) == 0)
			return entries[i].function;
	return NULL;
}
