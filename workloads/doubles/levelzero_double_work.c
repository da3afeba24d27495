/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/levelzero_double.h"

#include "workloads/doubles/settings.h"
#include "workloads/levelzero/work_spirv.h" /* generated from work.spv */

#include <stdlib.h>
#include <string.h>

#define BUILD_LOG "double: error: the module does not please"

#define UNUSED __attribute__((unused))

static char build_log;

/* A call that creates an object without content, and the one that destroys it. */
#define OBJECT(create, destroy, type, ...)                                                         \
	ze_result_t ZE_APICALL create(__VA_ARGS__, type *out)                                      \
	{                                                                                          \
		ENTER(create);                                                                     \
		*out = (type)double_object_new();                                                  \
		return ZE_RESULT_SUCCESS;                                                          \
	}                                                                                          \
	ze_result_t ZE_APICALL destroy(type object)                                                \
	{                                                                                          \
		free(object);                                                                      \
		return ZE_RESULT_SUCCESS;                                                          \
	}

OBJECT(zeContextCreate, zeContextDestroy, ze_context_handle_t, ze_driver_handle_t driver UNUSED,
       const ze_context_desc_t *desc UNUSED)
OBJECT(zeCommandQueueCreate, zeCommandQueueDestroy, ze_command_queue_handle_t,
       ze_context_handle_t context UNUSED, ze_device_handle_t device UNUSED,
       const ze_command_queue_desc_t *desc UNUSED)
OBJECT(zeCommandListCreate, zeCommandListDestroy, ze_command_list_handle_t,
       ze_context_handle_t context UNUSED, ze_device_handle_t device UNUSED,
       const ze_command_list_desc_t *desc UNUSED)
OBJECT(zeFenceCreate, zeFenceDestroy, ze_fence_handle_t, ze_command_queue_handle_t queue UNUSED,
       const ze_fence_desc_t *desc UNUSED)
OBJECT(zeKernelCreate, zeKernelDestroy, ze_kernel_handle_t, ze_module_handle_t module UNUSED,
       const ze_kernel_desc_t *desc UNUSED)

ze_result_t ZE_APICALL zeModuleCreate(ze_context_handle_t context, ze_device_handle_t device,
				      const ze_module_desc_t *desc, ze_module_handle_t *out,
				      ze_module_build_log_handle_t *log)
{
	(void)context;
	(void)device;
	if (log != NULL)
		*log = (ze_module_build_log_handle_t)&build_log;
	ENTER(zeModuleCreate);
	if (desc->format != ZE_MODULE_FORMAT_IL_SPIRV ||
	    desc->inputSize != sizeof(work_spirv) - 1 ||
	    memcmp(desc->pInputModule, work_spirv, desc->inputSize) != 0)
		return ZE_RESULT_ERROR_INVALID_NATIVE_BINARY;
	*out = (ze_module_handle_t)double_object_new();
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleDestroy(ze_module_handle_t module)
{
	free(module);
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleBuildLogGetString(ze_module_build_log_handle_t log, size_t *size,
						 char *text)
{
	(void)log;
	if (text != NULL && *size >= sizeof(BUILD_LOG))
		memcpy(text, BUILD_LOG, sizeof(BUILD_LOG));
	*size = setting_has("boast") ? SIZE_MAX : sizeof(BUILD_LOG);
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeModuleBuildLogDestroy(ze_module_build_log_handle_t log)
{
	(void)log;
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeKernelSetGroupSize(ze_kernel_handle_t kernel, uint32_t x, uint32_t y,
					    uint32_t z)
{
	(void)kernel;
	ENTER(zeKernelSetGroupSize);
	return x == 64 && y == 1 && z == 1 ? ZE_RESULT_SUCCESS
					   : ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
}

ze_result_t ZE_APICALL zeKernelSetArgumentValue(ze_kernel_handle_t kernel, uint32_t index,
						size_t size, const void *value)
{
	struct double_argument *arguments = ((struct double_object *)kernel)->arguments;
	ENTER(zeKernelSetArgumentValue);
	if (index >= DOUBLE_ARGUMENTS)
		return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
	if (size != (index < 3 ? sizeof(void *) : sizeof(uint32_t)))
		return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
	if (index < 3)
		memcpy(&arguments[index].memory, value, size);
	else if (index < 5)
		memcpy(&arguments[index].number, value, size);
	else
		memcpy(&arguments[index].scale, value, size);
	return ZE_RESULT_SUCCESS;
}

static ze_result_t allocate(size_t size, void **out)
{
	if (setting_has("no-address"))
		return ZE_RESULT_SUCCESS;
	*out = malloc(size);
	return *out != NULL ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

ze_result_t ZE_APICALL zeMemAllocDevice(ze_context_handle_t context,
					const ze_device_mem_alloc_desc_t *desc, size_t size,
					size_t alignment, ze_device_handle_t device, void **out)
{
	(void)context;
	(void)desc;
	(void)alignment;
	(void)device;
	ENTER(zeMemAllocDevice);
	return allocate(size, out);
}

ze_result_t ZE_APICALL zeMemAllocHost(ze_context_handle_t context,
				      const ze_host_mem_alloc_desc_t *desc, size_t size,
				      size_t alignment, void **out)
{
	(void)context;
	(void)desc;
	(void)alignment;
	ENTER(zeMemAllocHost);
	return allocate(size, out);
}

ze_result_t ZE_APICALL zeMemFree(ze_context_handle_t context, void *memory)
{
	(void)context;
	free(memory);
	return ZE_RESULT_SUCCESS;
}

/* The place for the next command of a list; NULL: the list accepts no more. */
static struct double_command *append(ze_command_list_handle_t handle)
{
	struct double_object *list = (struct double_object *)handle;
	if (list->closed || list->command_count == DOUBLE_COMMANDS_MAX)
		return NULL;
	return &list->commands[list->command_count++];
}

ze_result_t ZE_APICALL zeCommandListAppendBarrier(ze_command_list_handle_t list,
						  ze_event_handle_t event, uint32_t count,
						  ze_event_handle_t *events)
{
	(void)list;
	(void)event;
	(void)count;
	(void)events;
	ENTER(zeCommandListAppendBarrier);
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryCopy(ze_command_list_handle_t list, void *to,
						     const void *from, size_t size,
						     ze_event_handle_t event, uint32_t count,
						     ze_event_handle_t *events)
{
	ENTER(zeCommandListAppendMemoryCopy);
	struct double_command *command = append(list);
	(void)event;
	(void)count;
	(void)events;
	if (command == NULL)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*command =
		(struct double_command){.kind = DOUBLE_COPY, .to = to, .from = from, .size = size};
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListAppendMemoryFill(ze_command_list_handle_t list, void *to,
						     const void *pattern, size_t pattern_size,
						     size_t size, ze_event_handle_t event,
						     uint32_t count, ze_event_handle_t *events)
{
	ENTER(zeCommandListAppendMemoryFill);
	struct double_command *command = append(list);
	(void)event;
	(void)count;
	(void)events;
	if (command == NULL || pattern_size != sizeof(command->pattern))
		return ZE_RESULT_ERROR_INVALID_SIZE;
	*command = (struct double_command){.kind = DOUBLE_FILL, .to = to, .size = size};
	memcpy(&command->pattern, pattern, pattern_size);
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListAppendLaunchKernel(ze_command_list_handle_t list,
						       ze_kernel_handle_t kernel,
						       const ze_group_count_t *groups,
						       ze_event_handle_t event, uint32_t count,
						       ze_event_handle_t *events)
{
	ENTER(zeCommandListAppendLaunchKernel);
	struct double_command *command = append(list);
	(void)event;
	(void)count;
	(void)events;
	if (command == NULL)
		return ZE_RESULT_ERROR_INVALID_ARGUMENT;
	*command = (struct double_command){.kind = DOUBLE_KERNEL,
					   .size = (size_t)groups->groupCountX * 64};
	memcpy(command->arguments, ((struct double_object *)kernel)->arguments,
	       sizeof(command->arguments));
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListClose(ze_command_list_handle_t list)
{
	ENTER(zeCommandListClose);
	((struct double_object *)list)->closed = true;
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeCommandListReset(ze_command_list_handle_t handle)
{
	struct double_object *list = (struct double_object *)handle;
	ENTER(zeCommandListReset);
	list->closed = false;
	list->command_count = 0;
	return ZE_RESULT_SUCCESS;
}

static void fill(const struct double_command *command)
{
	for (size_t i = 0; i + sizeof(command->pattern) <= command->size;
	     i += sizeof(command->pattern))
		memcpy((char *)command->to + i, &command->pattern, sizeof(command->pattern));
}

static void run(const struct double_command *command)
{
	const struct double_argument *arguments = command->arguments;
	size_t elements = arguments[3].number;
	if (elements > command->size)
		elements = command->size; /* the size of the launch */
	if (command->kind == DOUBLE_COPY)
		memcpy(command->to, command->from, command->size);
	else if (command->kind == DOUBLE_FILL && !setting_has("unfilled"))
		fill(command);
	else if (command->kind == DOUBLE_KERNEL)
		setting_work(arguments[0].memory, arguments[1].memory, arguments[2].memory,
			     elements, arguments[4].number, arguments[5].scale);
}

ze_result_t ZE_APICALL zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t queue,
							 uint32_t count,
							 ze_command_list_handle_t *lists,
							 ze_fence_handle_t fence)
{
	(void)queue;
	ENTER(zeCommandQueueExecuteCommandLists);
	if (setting_has("hang"))
		return ZE_RESULT_SUCCESS;
	for (uint32_t i = 0; i < count; i++) {
		const struct double_object *list = (const struct double_object *)lists[i];
		if (!list->closed)
			return ZE_RESULT_ERROR_INVALID_ARGUMENT;
		for (size_t k = 0; k < list->command_count && !setting_has("null"); k++)
			run(&list->commands[k]);
	}
	((struct double_object *)fence)->closed = true;
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeFenceHostSynchronize(ze_fence_handle_t fence, uint64_t timeout)
{
	(void)timeout;
	ENTER(zeFenceHostSynchronize);
	return ((struct double_object *)fence)->closed ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t ZE_APICALL zeFenceReset(ze_fence_handle_t fence)
{
	ENTER(zeFenceReset);
	((struct double_object *)fence)->closed = false;
	return ZE_RESULT_SUCCESS;
}
