/* SPDX-License-Identifier: MIT */
#include "workloads/levelzero/levelzero.h"
#include "workloads/levelzero/work_spirv.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

enum { QUEUE_GROUPS_MAX = 64, BUILD_LOG_MAX = 64 * 1024, ALIGNMENT = 64 };

struct computation {
	struct levelzero *lz;
	const struct work_request *request;
	struct work_report *report;
	ze_device_handle_t device;
	ze_context_handle_t context;
	ze_command_queue_handle_t queue;
	ze_command_list_handle_t list;
	ze_fence_handle_t fence;
	ze_module_handle_t module;
	ze_kernel_handle_t kernel;
	void *memory[WORK_ARRAYS]; /* of the device */
	struct work_data data;	   /* in host memory that the device reads and writes */
	size_t array_size;	   /* bytes of one */
};

/* The first group of queues that run kernels. */
static int find_queues(struct computation *c, uint32_t *ordinal, struct error *err)
{
	ze_command_queue_group_properties_t groups[QUEUE_GROUPS_MAX] = {{0}};
	uint32_t count = QUEUE_GROUPS_MAX;
	for (size_t i = 0; i < QUEUE_GROUPS_MAX; i++)
		groups[i].stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
	int rc = LEVELZERO_CALL(c->lz, err, zeDeviceGetCommandQueueGroupProperties, c->device,
				&count, groups);
	for (uint32_t i = 0; rc == 0 && i < count && i < QUEUE_GROUPS_MAX; i++) {
		*ordinal = i;
		if ((groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0)
			return 0;
	}
	return rc == 0 ? error_set(err, ERROR_UNSUPPORTED, "no queue of the device runs kernels")
		       : rc;
}

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	const ze_context_desc_t context = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
	const ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
	ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
					 .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
	ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
	int rc = find_queues(c, &queue.ordinal, err);
	list.commandQueueGroupOrdinal = queue.ordinal;
	if (rc == 0)
		rc = LEVELZERO_CALL(c->lz, err, zeContextCreate,
				    c->lz->devices[c->request->device].driver, &context,
				    &c->context);
	if (rc == 0)
		rc = LEVELZERO_CALL(c->lz, err, zeCommandQueueCreate, c->context, c->device, &queue,
				    &c->queue);
	if (rc == 0)
		rc = LEVELZERO_CALL(c->lz, err, zeCommandListCreate, c->context, c->device, &list,
				    &c->list);
	return rc == 0 ? LEVELZERO_CALL(c->lz, err, zeFenceCreate, c->queue, &fence, &c->fence)
		       : rc;
}

static void keep_build_log(struct computation *c, ze_module_build_log_handle_t log)
{
	size_t size = 0;
	if (log == NULL || c->lz->zeModuleBuildLogGetString(log, &size, NULL) != ZE_RESULT_SUCCESS)
		return;
	char *text CLEANUP_FREE = size <= BUILD_LOG_MAX ? calloc(1, size + 1) : NULL;
	if (text != NULL && c->lz->zeModuleBuildLogGetString(log, &size, text) == ZE_RESULT_SUCCESS)
		c->report->build_log = STEAL(text);
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	const ze_module_desc_t module = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC,
					 .format = ZE_MODULE_FORMAT_IL_SPIRV,
					 .inputSize = sizeof(work_spirv),
					 .pInputModule = (const uint8_t *)work_spirv};
	const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC,
					 .pKernelName = "work"};
	ze_module_build_log_handle_t log = NULL;
	int rc = LEVELZERO_CALL(c->lz, err, zeModuleCreate, c->context, c->device, &module,
				&c->module, &log);
	if (rc != 0)
		keep_build_log(c, log);
	if (log != NULL)
		(void)c->lz->zeModuleBuildLogDestroy(log);
	if (rc == 0)
		rc = LEVELZERO_CALL(c->lz, err, zeKernelCreate, c->module, &kernel, &c->kernel);
	return rc == 0 ? LEVELZERO_CALL(c->lz, err, zeKernelSetGroupSize, c->kernel, WORK_GROUP, 1,
					1)
		       : rc;
}

/* Copies on the device are promised for memory of Level Zero's own alone. */
static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	const ze_device_mem_alloc_desc_t device = {.stype =
							   ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
	const ze_host_mem_alloc_desc_t host = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
	const uint64_t largest = c->lz->devices[c->request->device].largest;
	int rc = 0;
	if (largest != 0 && c->array_size > largest)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%zu elements do not fit an allocation of %llu bytes",
				 c->request->elements, (unsigned long long)largest);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++) {
		rc = LEVELZERO_CALL(c->lz, err, zeMemAllocDevice, c->context, &device,
				    c->array_size, ALIGNMENT, c->device, &c->memory[i]);
		if (rc == 0)
			rc = LEVELZERO_CALL(c->lz, err, zeMemAllocHost, c->context, &host,
					    c->array_size, ALIGNMENT, &c->data.arrays[i]);
		if (rc == 0 && (c->memory[i] == NULL || c->data.arrays[i] == NULL))
			rc = error_set(err, ERROR_REMOTE, "%s told success and no address",
				       c->memory[i] == NULL ? "zeMemAllocDevice"
							    : "zeMemAllocHost");
	}
	if (rc == 0)
		work_fill(&c->data);
	return rc;
}

/* Runs what the list holds to its end and empties it. */
static int finish(struct computation *c, struct error *err)
{
	struct levelzero *lz = c->lz;
	int rc = LEVELZERO_CALL(lz, err, zeCommandListClose, c->list);
	if (rc == 0)
		rc = LEVELZERO_CALL(lz, err, zeCommandQueueExecuteCommandLists, c->queue, 1,
				    &c->list, c->fence);
	if (rc != 0)
		return rc;
	ze_result_t code = lz->zeFenceHostSynchronize(c->fence, c->request->timeout_ms * 1000000);
	if (code == ZE_RESULT_NOT_READY)
		return error_set(err, ERROR_TIMEOUT,
				 "zeFenceHostSynchronize: the device did not finish within %llu ms",
				 (unsigned long long)c->request->timeout_ms);
	rc = levelzero_check(lz, code, "zeFenceHostSynchronize", err);
	if (rc == 0)
		rc = LEVELZERO_CALL(lz, err, zeFenceReset, c->fence);
	return rc == 0 ? LEVELZERO_CALL(lz, err, zeCommandListReset, c->list) : rc;
}

static int append_barrier(struct computation *c, struct error *err)
{
	return LEVELZERO_CALL(c->lz, err, zeCommandListAppendBarrier, c->list, NULL, 0, NULL);
}

static int append_copy(struct computation *c, void *to, const void *from, struct error *err)
{
	return LEVELZERO_CALL(c->lz, err, zeCommandListAppendMemoryCopy, c->list, to, from,
			      c->array_size, NULL, 0, NULL);
}

/* Fills the elements of one array, not the guard behind them, and reads it back. */
static int fill(struct computation *c, struct error *err)
{
	const uint32_t pattern = work_fill_pattern(c->request->seed);
	void *memory = c->memory[WORK_VALUES];
	int rc = append_copy(c, memory, c->data.arrays[WORK_VALUES], err);
	if (rc == 0)
		rc = append_barrier(c, err);
	if (rc == 0)
		rc = LEVELZERO_CALL(c->lz, err, zeCommandListAppendMemoryFill, c->list, memory,
				    &pattern, sizeof(pattern),
				    c->request->elements * WORK_ELEMENT_SIZE, NULL, 0, NULL);
	if (rc == 0)
		rc = finish(c, err);
	if (rc != 0)
		return rc;
	work_overwrite(&c->data);
	rc = append_copy(c, c->data.arrays[WORK_VALUES], memory, err);
	if (rc == 0)
		rc = finish(c, err);
	if (rc == 0)
		work_compare(c->report, "fill", c->data.arrays[WORK_VALUES]);
	return rc;
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = fill(c, err);
	if (rc == 0)
		work_fill(&c->data);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = append_copy(c, c->memory[i], c->data.arrays[i], err);
	if (rc == 0)
		rc = finish(c, err);
	if (rc == 0)
		work_overwrite(&c->data);
	return rc;
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	const struct work_parameters parameters = work_parameters(c->request);
	const ze_group_count_t groups = {(parameters.elements + WORK_GROUP - 1) / WORK_GROUP,
					 work_groups_y(c->request), work_groups_z(c->request)};
	const struct {
		size_t size;
		const void *value;
	} arguments[] = {
		{sizeof(void *), &c->memory[0]},     {sizeof(void *), &c->memory[1]},
		{sizeof(void *), &c->memory[2]},     {sizeof(uint32_t), &parameters.elements},
		{sizeof(uint32_t), &parameters.key}, {sizeof(float), &parameters.scale},
	};
	int rc = 0;
	for (uint32_t i = 0; rc == 0 && i < ARRAY_SIZE(arguments); i++)
		rc = LEVELZERO_CALL(c->lz, err, zeKernelSetArgumentValue, c->kernel, i,
				    arguments[i].size, arguments[i].value);
	if (rc == 0)
		rc = LEVELZERO_CALL(c->lz, err, zeCommandListAppendLaunchKernel, c->list, c->kernel,
				    &groups, NULL, 0, NULL);
	return rc == 0 ? finish(c, err) : rc;
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = append_copy(c, c->data.arrays[i], c->memory[i], err);
	return rc == 0 ? finish(c, err) : rc;
}

static void release(struct computation *c)
{
	struct levelzero *lz = c->lz;
	for (size_t i = 0; i < WORK_ARRAYS; i++) {
		if (c->memory[i] != NULL)
			(void)lz->zeMemFree(c->context, c->memory[i]);
		if (c->data.arrays[i] != NULL)
			(void)lz->zeMemFree(c->context, c->data.arrays[i]);
	}
	if (c->kernel != NULL)
		(void)lz->zeKernelDestroy(c->kernel);
	if (c->module != NULL)
		(void)lz->zeModuleDestroy(c->module);
	if (c->fence != NULL)
		(void)lz->zeFenceDestroy(c->fence);
	if (c->list != NULL)
		(void)lz->zeCommandListDestroy(c->list);
	if (c->queue != NULL)
		(void)lz->zeCommandQueueDestroy(c->queue);
	if (c->context != NULL)
		(void)lz->zeContextDestroy(c->context);
}

int levelzero_work(void *session, const struct work_request *request, struct work_report *report,
		   struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,   [WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,    [WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_LOOK] = download,
	};
	struct levelzero *lz = session;
	struct computation c = {
		.lz = lz,
		.request = request,
		.report = report,
		.device = lz->devices[request->device].id,
		.data = {.elements = request->elements, .seed = request->seed},
		.array_size = work_array_size(request),
	};
	lz->failure = (struct call_failure){0};
	int rc = work_run(steps, &c, &c.data, report, err);
	report->failure = lz->failure;
	if (rc != ERROR_TIMEOUT)
		release(&c);
	return rc;
}
