/* SPDX-License-Identifier: MIT */
#include "workloads/levelzero/levelzero.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "workloads/common/compute.h"
#include "workloads/levelzero/work_spirv.h" /* generated from work.spv */

#include <stdlib.h>

enum { QUEUE_GROUPS_MAX = 64, ALIGNMENT = 64, POLL_NS = 1000000 };

struct computation {
	struct compute common; /* first */
	struct levelzero *lz;
	const struct levelzero_device *device;
	ze_context_handle_t context;
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t list;
	ze_fence_handle_t fence;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	const ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
	ze_command_queue_group_properties_t groups[QUEUE_GROUPS_MAX] = {{0}};
	uint32_t count = QUEUE_GROUPS_MAX;
	uint32_t group = 0;

	/* The first group of queues that run kernels. */
	for (size_t i = 0; i < QUEUE_GROUPS_MAX; i++)
		groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
	int rc = API_CALL(c->lz, err, zeDeviceGetCommandQueueGroupProperties, c->device->id, &count,
			  groups);
	if (rc != 0)
		return rc;
	if (count > QUEUE_GROUPS_MAX)
		count = QUEUE_GROUPS_MAX;
	while (group < count &&
	       (groups[group].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) == 0)
		group++;
	if (group == count)
		return error_set(err, ERROR_UNSUPPORTED, "no queue of the device runs kernels");

	const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					       .ordinal = group,
					       .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
	const ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC,
					     .commandQueueGroupOrdinal = group};
	rc = API_CALL(c->lz, err, zeContextCreate, c->device->driver, &context, &c->context);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeCommandQueueCreate, c->context, c->device->id, &queue,
			      &c->queue);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeCommandListCreate, c->context, c->device->id, &list,
			      &c->list);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeFenceCreate, c->queue, &fence, &c->fence);
	return rc;
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	const ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
					 .format = ZE_MODULE_FORMAT_IL_SPIRV,
					 .inputSize = sizeof(work_spirv) - 1,
					 .pInputModule = (const uint8_t *)work_spirv};
	const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
					 .pKernelName = "work"};
	ze_module_build_log_handle_t log = NULL;
	size_t size = 0;

	int rc = API_CALL(c->lz, err, zeModuleCreate, c->context, c->device->id, &module,
			  &c->module, &log);
	if (rc != 0 && log != NULL &&
	    c->lz->zeModuleBuildLogGetString(log, &size, NULL) == ZE_RESULT_SUCCESS &&
	    size <= WORK_BUILD_LOG_MAX) {
		char *text CLEANUP_FREE = memory_allocate(1, size + 1);
		if (c->lz->zeModuleBuildLogGetString(log, &size, text) == ZE_RESULT_SUCCESS)
			c->common.report->build_log = STEAL(text);
	}
	API_RELEASE(c->lz, zeModuleBuildLogDestroy, log);

	if (rc == 0)
		rc = API_CALL(c->lz, err, zeKernelCreate, c->module, &kernel, &c->kernel);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeKernelSetGroupSize, c->kernel, WORK_GROUP, 1, 1);
	return rc;
}

/* Copies on the device are only guaranteed for memory that Level Zero allocated. */
static int allocate(void *work, struct compute_buffer *buffer, struct error *err)
{
	struct computation *c = work;
	const ze_device_mem_alloc_desc_t device = {.stype =
							   ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	int rc = API_CALL(c->lz, err, zeMemAllocDevice, c->context, &device, buffer->size,
			  ALIGNMENT, c->device->id, &buffer->device);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeMemAllocHost, c->context, &host, buffer->size,
			      ALIGNMENT, &buffer->host);
	return rc;
}

static int copy(void *work, const struct compute_buffer *buffer, bool to_device, struct error *err)
{
	struct computation *c = work;
	void *to = to_device ? buffer->device : buffer->host;
	const void *from = to_device ? buffer->host : buffer->device;
	return API_CALL(c->lz, err, zeCommandListAppendMemoryCopy, c->list, to, from, buffer->size,
			NULL, 0, NULL);
}

static int fill(void *work, const struct compute_buffer *buffer, const uint32_t *pattern,
		struct error *err)
{
	struct computation *c = work;
	int rc = API_CALL(c->lz, err, zeCommandListAppendBarrier, c->list, NULL, 0, NULL);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeCommandListAppendMemoryFill, c->list, buffer->device,
			      pattern, sizeof(*pattern),
			      c->common.request->elements * WORK_ELEMENT_SIZE, NULL, 0, NULL);
	return rc;
}

static int launch(void *work, void *arguments[COMPUTE_ARGUMENTS], struct error *err)
{
	struct computation *c = work;
	const struct work_request *request = c->common.request;
	const ze_group_count_t groups = {(c->common.parameters.elements + WORK_GROUP - 1) /
						 WORK_GROUP,
					 work_groups_y(request), work_groups_z(request)};
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < COMPUTE_ARGUMENTS; i++)
		rc = API_CALL(c->lz, err, zeKernelSetArgumentValue, c->kernel, i,
			      compute_argument_size(i), arguments[i]);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeCommandListAppendLaunchKernel, c->list, c->kernel,
			      &groups, NULL, 0, NULL);
	return rc;
}

static int submit(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = API_CALL(c->lz, err, zeCommandListClose, c->list);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeCommandQueueExecuteCommandLists, c->queue, 1, &c->list,
			      c->fence);
	return rc;
}

/* Empties the list for the next commands. */
static int is_complete(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = call_poll(&c->lz->calls, (int)c->lz->zeFenceHostSynchronize(c->fence, POLL_NS),
			   ZE_RESULT_NOT_READY, "zeFenceHostSynchronize", err);
	if (rc != 1)
		return rc;
	rc = API_CALL(c->lz, err, zeFenceReset, c->fence);
	if (rc == 0)
		rc = API_CALL(c->lz, err, zeCommandListReset, c->list);
	return rc == 0 ? 1 : rc;
}

static void free_buffer(void *work, const struct compute_buffer *buffer)
{
	struct computation *c = work;
	if (buffer->device != NULL)
		(void)c->lz->zeMemFree(c->context, buffer->device);
	if (buffer->host != NULL)
		(void)c->lz->zeMemFree(c->context, buffer->host);
}

static void release(void *work)
{
	struct computation *c = work;
	struct levelzero *lz = c->lz;
	API_RELEASE(lz, zeKernelDestroy, c->kernel);
	API_RELEASE(lz, zeModuleDestroy, c->module);
	API_RELEASE(lz, zeFenceDestroy, c->fence);
	API_RELEASE(lz, zeCommandListDestroy, c->list);
	API_RELEASE(lz, zeCommandQueueDestroy, c->queue);
	API_RELEASE(lz, zeContextDestroy, c->context);
}

int levelzero_work(void *session, const struct work_request *request, struct work_report *report,
		   struct error *err)
{
	static const struct compute_calls calls = {
		.allocators = {"zeMemAllocDevice", "zeMemAllocHost"},
		.open = open_device,
		.build = build,
		.allocate = allocate,
		.copy = copy,
		.fill = fill,
		.launch = launch,
		.submit = submit,
		.is_complete = is_complete,
		.free = free_buffer,
		.release = release,
	};
	struct levelzero *lz = session;
	const struct levelzero_device *device = &lz->devices[request->device];
	struct computation c = {.common = {.largest = device->largest}, .lz = lz, .device = device};
	return compute_work(&c.common, &calls, &lz->calls, request, report, err);
}
