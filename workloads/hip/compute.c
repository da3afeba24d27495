/* SPDX-License-Identifier: MIT */
#include "workloads/hip/hip.h"

#include "workloads/common/compute.h"

#include <stdlib.h>

struct computation {
	struct compute common; /* first */
	struct hip *hip;
	const struct hip_device *device;
	hip_stream stream;
	hip_module module;
	hip_function function;
	void *compiled;
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = API_CALL(c->hip, err, hipSetDevice, c->device->ordinal);
	return rc == 0 ? API_CALL(c->hip, err, hipStreamCreate, &c->stream) : rc;
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	const void *image = NULL;
	int rc = hip_build(c->hip, c->device, &image, &c->compiled, c->common.report, err);
	if (rc == 0)
		rc = API_CALL(c->hip, err, hipModuleLoadData, &c->module, image);
	return rc == 0 ? API_CALL(c->hip, err, hipModuleGetFunction, &c->function, c->module,
				  "work")
		       : rc;
}

/* On the host: memory that copies do not have to stage. */
static int allocate(void *work, struct compute_buffer *buffer, struct error *err)
{
	struct computation *c = work;
	int rc = API_CALL(c->hip, err, hipMalloc, &buffer->device, buffer->size);
	return rc == 0 ? API_CALL(c->hip, err, hipHostMalloc, &buffer->host, buffer->size, 0) : rc;
}

static int copy(void *work, const struct compute_buffer *buffer, bool to_device, struct error *err)
{
	struct computation *c = work;
	void *to = to_device ? buffer->device : buffer->host;
	const void *from = to_device ? buffer->host : buffer->device;
	return API_CALL(c->hip, err, hipMemcpyAsync, to, from, buffer->size,
			to_device ? HIP_TO_DEVICE : HIP_FROM_DEVICE, c->stream);
}

static int fill(void *work, const struct compute_buffer *buffer, const uint32_t *pattern,
		struct error *err)
{
	struct computation *c = work;
	return API_CALL(c->hip, err, hipMemsetD32Async, buffer->device, (int)*pattern,
			c->common.request->elements, c->stream);
}

static int launch(void *work, void *arguments[COMPUTE_ARGUMENTS], struct error *err)
{
	struct computation *c = work;
	const struct work_request *request = c->common.request;
	const unsigned blocks = (c->common.told.elements + WORK_GROUP - 1) / WORK_GROUP;
	return API_CALL(c->hip, err, hipModuleLaunchKernel, c->function, blocks,
			work_groups_y(request), work_groups_z(request), WORK_GROUP, 1, 1, 0,
			c->stream, arguments, NULL);
}

static int is_complete(void *work, struct error *err)
{
	struct computation *c = work;
	hip_result result = c->hip->hipStreamQuery(c->stream);
	if (result == HIP_NOT_READY)
		return 0;
	int rc = call_check(&c->hip->calls, result, "hipStreamQuery", err);
	return rc == 0 ? 1 : rc;
}

static void free_buffer(void *work, const struct compute_buffer *buffer)
{
	struct computation *c = work;
	API_RELEASE(c->hip, hipFree, buffer->device);
	API_RELEASE(c->hip, hipHostFree, buffer->host);
}

static void release(void *work)
{
	struct computation *c = work;
	API_RELEASE(c->hip, hipModuleUnload, c->module);
	API_RELEASE(c->hip, hipStreamDestroy, c->stream);
	free(c->compiled);
}

int hip_work(void *session, const struct work_request *request, struct work_report *report,
	     struct error *err)
{
	static const struct compute_calls calls = {
		.allocators = {"hipMalloc", "hipHostMalloc"},
		.open = open_device,
		.build = build,
		.allocate = allocate,
		.copy = copy,
		.fill = fill,
		.launch = launch,
		.is_complete = is_complete,
		.free = free_buffer,
		.release = release,
	};
	struct hip *hip = session;
	struct computation c = {.hip = hip, .device = &hip->devices[request->device]};
	return compute_work(&c.common, &calls, &hip->calls, request, report, err);
}
