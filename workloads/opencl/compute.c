/* SPDX-License-Identifier: MIT */
#include "workloads/opencl/opencl.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "workloads/common/compute.h"
#include "workloads/opencl/work_source.h" /* generated from work.cl */

#include <stdlib.h>

struct computation {
	struct compute common; /* first */
	struct opencl *cl;
	const struct opencl_device *device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_event event; /* of the last command; the queue is in order, so it covers all */
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
						    (cl_context_properties)c->device->platform, 0};
	cl_int code = CL_SUCCESS;

	c->context = c->cl->clCreateContext(properties, 1, &c->device->id, NULL, NULL, &code);
	if (code == CL_SUCCESS)
		c->queue = c->cl->clCreateCommandQueue(c->context, c->device->id, 0, &code);
	int rc = call_check(&c->cl->calls, code,
			    c->context == NULL ? "clCreateContext" : "clCreateCommandQueue", err);
	if (rc == 0)
		rc = API_CALL(c->cl, err, clGetDeviceInfo, c->device->id,
			      CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(c->common.largest),
			      &c->common.largest, NULL);
	return rc;
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	const char *source = work_source;
	cl_int result = CL_SUCCESS;

	c->program = c->cl->clCreateProgramWithSource(c->context, 1, &source, NULL, &result);
	int rc = call_check(&c->cl->calls, result, "clCreateProgramWithSource", err);
	if (rc != 0)
		return rc;
	rc = API_CALL(c->cl, err, clBuildProgram, c->program, 1, &c->device->id, "", NULL, NULL);
	if (rc != 0) {
		char *log CLEANUP_FREE = memory_allocate(1, WORK_BUILD_LOG_MAX + 1);
		if (c->cl->clGetProgramBuildInfo(c->program, c->device->id, CL_PROGRAM_BUILD_LOG,
						 WORK_BUILD_LOG_MAX, log, NULL) == CL_SUCCESS)
			c->common.report->build_log = STEAL(log);
		return rc;
	}
	c->kernel = c->cl->clCreateKernel(c->program, "work", &result);
	return call_check(&c->cl->calls, result, "clCreateKernel", err);
}

static int allocate(void *work, struct compute_buffer *buffer, struct error *err)
{
	struct computation *c = work;
	cl_int result = CL_SUCCESS;
	buffer->device =
		c->cl->clCreateBuffer(c->context, CL_MEM_READ_WRITE, buffer->size, NULL, &result);
	buffer->host = memory_allocate(1, buffer->size);
	return call_check(&c->cl->calls, result, "clCreateBuffer", err);
}

/* Releases the event, for that of the next command. */
static cl_event *next_event(struct computation *c)
{
	API_RELEASE(c->cl, clReleaseEvent, c->event);
	c->event = NULL;
	return &c->event;
}

static int copy(void *work, const struct compute_buffer *buffer, bool to_device, struct error *err)
{
	struct computation *c = work;
	cl_event *event = next_event(c);
	if (to_device)
		return API_CALL(c->cl, err, clEnqueueWriteBuffer, c->queue, buffer->device,
				CL_FALSE, 0, buffer->size, buffer->host, 0, NULL, event);
	return API_CALL(c->cl, err, clEnqueueReadBuffer, c->queue, buffer->device, CL_FALSE, 0,
			buffer->size, buffer->host, 0, NULL, event);
}

static int launch(void *work, void *arguments[COMPUTE_ARGUMENTS], struct error *err)
{
	struct computation *c = work;
	const struct work_request *request = c->common.request;
	const size_t items[] = {c->common.parameters.elements, work_groups_y(request),
				work_groups_z(request)};
	int rc = 0;
	for (cl_uint i = 0; rc == 0 && i < COMPUTE_ARGUMENTS; i++)
		rc = API_CALL(c->cl, err, clSetKernelArg, c->kernel, i, compute_argument_size(i),
			      arguments[i]);
	if (rc == 0)
		rc = API_CALL(c->cl, err, clEnqueueNDRangeKernel, c->queue, c->kernel,
			      items[1] == 1 ? 1 : ARRAY_SIZE(items), NULL, items, NULL, 0, NULL,
			      next_event(c));
	return rc;
}

static int submit(void *work, struct error *err)
{
	struct computation *c = work;
	return API_CALL(c->cl, err, clFlush, c->queue);
}

static int is_complete(void *work, struct error *err)
{
	struct computation *c = work;
	cl_int state = CL_QUEUED;
	int rc = API_CALL(c->cl, err, clGetEventInfo, c->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
			  sizeof(state), &state, NULL);
	if (rc == 0 && state < 0)
		rc = call_check(&c->cl->calls, state, "command execution", err);
	if (rc != 0)
		return rc;
	return state == CL_COMPLETE;
}

static void free_buffer(void *work, const struct compute_buffer *buffer)
{
	struct computation *c = work;
	API_RELEASE(c->cl, clReleaseMemObject, buffer->device);
	free(buffer->host);
}

static void release(void *work)
{
	struct computation *c = work;
	(void)next_event(c);
	API_RELEASE(c->cl, clReleaseKernel, c->kernel);
	API_RELEASE(c->cl, clReleaseProgram, c->program);
	API_RELEASE(c->cl, clReleaseCommandQueue, c->queue);
	API_RELEASE(c->cl, clReleaseContext, c->context);
}

int opencl_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err)
{
	static const struct compute_calls calls = {
		.allocators = {"clCreateBuffer", "malloc"},
		.open = open_device,
		.build = build,
		.allocate = allocate,
		.copy = copy,
		.launch = launch,
		.submit = submit,
		.is_complete = is_complete,
		.free = free_buffer,
		.release = release,
	};
	struct opencl *cl = session;
	struct computation c = {.cl = cl, .device = &cl->devices[request->device]};
	return compute_work(&c.common, &calls, &cl->calls, request, report, err);
}
