/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/vulkan_double.h"

#include "workloads/doubles/settings.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT_BYTES = 256 << 20 };

static bool endless;

size_t double_memory_kept(void)
{
	char path[4096] = "";
	struct stat kept;
	return setting_text("keeps", path, sizeof(path)) && stat(path, &kept) == 0
		       ? (size_t)kept.st_size
		       : 0;
}

void double_work_began(bool never_ends)
{
	char path[4096] = "";
	endless = never_ends;
	if (endless && setting_text("keeps", path, sizeof(path)) && truncate(path, KEPT_BYTES) != 0)
		_Exit(98);
}

/* Objects that only have to exist: one byte, so that a leak checker sees one that is not destroyed.
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): the arguments are types and names */
#define CREATE(name, info_type, handle_type)                                                       \
	static VKAPI_ATTR VkResult VKAPI_CALL name(VkDevice device, const info_type *info,         \
						   const VkAllocationCallbacks *allocator,         \
						   handle_type *out)                               \
	{                                                                                          \
		(void)device;                                                                      \
		(void)info;                                                                        \
		(void)allocator;                                                                   \
		ENTER(name);                                                                       \
		*out = (handle_type)double_allocate(sizeof(struct double_set));                    \
		return VK_SUCCESS;                                                                 \
	}

#define DESTROY(name, handle_type)                                                                 \
	static VKAPI_ATTR void VKAPI_CALL name(VkDevice device, handle_type handle,                \
					       const VkAllocationCallbacks *allocator)             \
	{                                                                                          \
		(void)device;                                                                      \
		(void)allocator;                                                                   \
		free((void *)handle);                                                              \
	}

/* NOLINTEND(bugprone-macro-parentheses) */

CREATE(vkCreateShaderModule, VkShaderModuleCreateInfo, VkShaderModule)
CREATE(vkCreateDescriptorSetLayout, VkDescriptorSetLayoutCreateInfo, VkDescriptorSetLayout)
CREATE(vkCreatePipelineLayout, VkPipelineLayoutCreateInfo, VkPipelineLayout)
CREATE(vkCreateDescriptorPool, VkDescriptorPoolCreateInfo, VkDescriptorPool)
CREATE(vkCreateFence, VkFenceCreateInfo, VkFence)
CREATE(vkCreateSemaphore, VkSemaphoreCreateInfo, VkSemaphore)
DESTROY(vkDestroyShaderModule, VkShaderModule)
DESTROY(vkDestroyDescriptorSetLayout, VkDescriptorSetLayout)
DESTROY(vkDestroyPipelineLayout, VkPipelineLayout)
DESTROY(vkDestroyPipeline, VkPipeline)
DESTROY(vkDestroyDescriptorPool, VkDescriptorPool)
DESTROY(vkDestroyFence, VkFence)
DESTROY(vkDestroyBuffer, VkBuffer)
DESTROY(vkDestroySemaphore, VkSemaphore)
DESTROY(vkDestroyImage, VkImage)
DESTROY(vkDestroyImageView, VkImageView)
DESTROY(vkDestroyQueryPool, VkQueryPool)

static VKAPI_ATTR VkResult VKAPI_CALL
vkCreateComputePipelines(VkDevice device, VkPipelineCache cache, uint32_t count,
			 const VkComputePipelineCreateInfo *infos,
			 const VkAllocationCallbacks *allocator, VkPipeline *out)
{
	(void)device;
	(void)cache;
	(void)infos;
	(void)allocator;
	ENTER(vkCreateComputePipelines);
	for (uint32_t i = 0; i < count; i++)
		out[i] = (VkPipeline)double_allocate(1);
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkDestroyDevice(VkDevice device,
						  const VkAllocationCallbacks *allocator)
{
	(void)allocator;
	(void)setting_enter("vkDestroyDevice");
	free(device);
}

static VKAPI_ATTR void VKAPI_CALL vkGetDeviceQueue(VkDevice device, uint32_t family, uint32_t index,
						   VkQueue *out)
{
	(void)index;
	*out = (VkQueue) & ((struct double_device *)device)->queues[family % DOUBLE_FAMILIES];
}

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateBuffer(VkDevice device,
						     const VkBufferCreateInfo *info,
						     const VkAllocationCallbacks *allocator,
						     VkBuffer *out)
{
	(void)device;
	(void)allocator;
	ENTER(vkCreateBuffer);
	struct double_buffer *buffer = double_allocate(sizeof(*buffer));
	buffer->size = info->size;
	*out = (VkBuffer)buffer;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkGetBufferMemoryRequirements(VkDevice device, VkBuffer buffer,
								VkMemoryRequirements *out)
{
	(void)device;
	*out = (VkMemoryRequirements){.size = ((struct double_buffer *)buffer)->size,
				      .alignment = 64,
				      .memoryTypeBits = 3};
}

static VKAPI_ATTR VkResult VKAPI_CALL vkAllocateMemory(VkDevice device,
						       const VkMemoryAllocateInfo *info,
						       const VkAllocationCallbacks *allocator,
						       VkDeviceMemory *out)
{
	(void)device;
	(void)allocator;
	ENTER(vkAllocateMemory);
	struct double_memory *memory = double_allocate(sizeof(*memory));
	memory->bytes = double_allocate(info->allocationSize);
	*out = (VkDeviceMemory)memory;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkFreeMemory(VkDevice device, VkDeviceMemory handle,
					       const VkAllocationCallbacks *allocator)
{
	struct double_memory *memory = (struct double_memory *)handle;
	(void)device;
	(void)allocator;
	if (memory != NULL)
		free(memory->bytes);
	free(memory);
}

static VKAPI_ATTR VkResult VKAPI_CALL vkBindBufferMemory(VkDevice device, VkBuffer handle,
							 VkDeviceMemory memory, VkDeviceSize offset)
{
	struct double_buffer *buffer = (struct double_buffer *)handle;
	(void)device;
	ENTER(vkBindBufferMemory);
	buffer->memory = (struct double_memory *)memory;
	buffer->offset = offset;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkMapMemory(VkDevice device, VkDeviceMemory memory,
						  VkDeviceSize offset, VkDeviceSize size,
						  VkMemoryMapFlags flags, void **out)
{
	(void)device;
	(void)size;
	(void)flags;
	ENTER(vkMapMemory);
	*out = ((struct double_memory *)memory)->bytes + offset;
	return VK_SUCCESS;
}

/* A pool has one set, and is that set. */
static VKAPI_ATTR VkResult VKAPI_CALL vkAllocateDescriptorSets(
	VkDevice device, const VkDescriptorSetAllocateInfo *info, VkDescriptorSet *out)
{
	(void)device;
	ENTER(vkAllocateDescriptorSets);
	out[0] = (VkDescriptorSet)info->descriptorPool;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkUpdateDescriptorSets(VkDevice device, uint32_t count,
							 const VkWriteDescriptorSet *writes,
							 uint32_t copy_count,
							 const VkCopyDescriptorSet *copies)
{
	(void)device;
	(void)copy_count;
	(void)copies;
	for (uint32_t i = 0; i < count; i++)
		((struct double_set *)writes[i].dstSet)->bindings[writes[i].dstBinding] =
			writes[i].pBufferInfo[0];
}

static VKAPI_ATTR VkResult VKAPI_CALL vkWaitForFences(VkDevice device, uint32_t count,
						      const VkFence *fences, VkBool32 all,
						      uint64_t timeout_ns)
{
	(void)device;
	(void)count;
	(void)fences;
	(void)all;
	ENTER(vkWaitForFences);
	if (endless)
		(void)usleep((useconds_t)(timeout_ns / 1000));
	return endless || setting_has("hang") ? VK_TIMEOUT : VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateImage(VkDevice device, const VkImageCreateInfo *info,
						    const VkAllocationCallbacks *allocator,
						    VkImage *out)
{
	(void)device;
	(void)allocator;
	ENTER(vkCreateImage);
	struct double_image *image = double_allocate(sizeof(*image));
	image->width = info->extent.width;
	image->height = info->extent.height;
	*out = (VkImage)image;
	return VK_SUCCESS;
}

static VKAPI_ATTR void VKAPI_CALL vkGetImageMemoryRequirements(VkDevice device, VkImage handle,
							       VkMemoryRequirements *out)
{
	const struct double_image *image = (const struct double_image *)handle;
	(void)device;
	*out = (VkMemoryRequirements){.size = (VkDeviceSize)image->width * image->height * 4,
				      .alignment = 64,
				      .memoryTypeBits = 1};
}

static VKAPI_ATTR VkResult VKAPI_CALL vkBindImageMemory(VkDevice device, VkImage handle,
							VkDeviceMemory memory, VkDeviceSize offset)
{
	(void)device;
	(void)offset;
	ENTER(vkBindImageMemory);
	((struct double_image *)handle)->memory = (struct double_memory *)memory;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkCreateImageView(VkDevice device,
							const VkImageViewCreateInfo *info,
							const VkAllocationCallbacks *allocator,
							VkImageView *out)
{
	(void)device;
	(void)allocator;
	ENTER(vkCreateImageView);
	struct double_view *view = double_allocate(sizeof(*view));
	view->image = (struct double_image *)info->image;
	*out = (VkImageView)view;
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkDeviceWaitIdle(VkDevice device)
{
	(void)device;
	ENTER(vkDeviceWaitIdle);
	return VK_SUCCESS;
}

static VKAPI_ATTR VkResult VKAPI_CALL vkResetFences(VkDevice device, uint32_t count,
						    const VkFence *fences)
{
	(void)device;
	(void)count;
	(void)fences;
	ENTER(vkResetFences);
	return VK_SUCCESS;
}

PFN_vkVoidFunction double_device_function(const char *name)
{
	static const struct double_entry entries[] = {
		ENTRY(vkDestroyDevice),
		ENTRY(vkGetDeviceQueue),
		ENTRY(vkCreateBuffer),
		ENTRY(vkDestroyBuffer),
		ENTRY(vkGetBufferMemoryRequirements),
		ENTRY(vkAllocateMemory),
		ENTRY(vkFreeMemory),
		ENTRY(vkBindBufferMemory),
		ENTRY(vkMapMemory),
		ENTRY(vkCreateShaderModule),
		ENTRY(vkDestroyShaderModule),
		ENTRY(vkCreateDescriptorSetLayout),
		ENTRY(vkDestroyDescriptorSetLayout),
		ENTRY(vkCreatePipelineLayout),
		ENTRY(vkDestroyPipelineLayout),
		ENTRY(vkCreateComputePipelines),
		ENTRY(vkDestroyPipeline),
		ENTRY(vkCreateDescriptorPool),
		ENTRY(vkDestroyDescriptorPool),
		ENTRY(vkAllocateDescriptorSets),
		ENTRY(vkUpdateDescriptorSets),
		ENTRY(vkCreateFence),
		ENTRY(vkDestroyFence),
		ENTRY(vkWaitForFences),
		ENTRY(vkResetFences),
		ENTRY(vkDeviceWaitIdle),
		ENTRY(vkCreateSemaphore),
		ENTRY(vkDestroySemaphore),
		ENTRY(vkCreateImage),
		ENTRY(vkDestroyImage),
		ENTRY(vkGetImageMemoryRequirements),
		ENTRY(vkBindImageMemory),
		ENTRY(vkCreateImageView),
		ENTRY(vkDestroyImageView),
		ENTRY(vkDestroyQueryPool),
	};
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		if (strcmp(entries[i].name, name) == 0)
			return entries[i].function;
	return NULL;
}
