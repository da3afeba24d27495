/* SPDX-License-Identifier: MIT */
#include "workloads/opencl/opencl.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "workloads/opencl/work_source.h" /* generated from work.cl */

#include <stdlib.h>
#include <string.h>

enum {
	ARRAYS = 3,
	BUILD_LOG_MAX = 64 * 1024,
};

struct computation {
	struct opencl *cl;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffers[ARRAYS];
	void *arrays[ARRAYS]; /* values, x, y of struct work_data */
	size_t array_size;    /* bytes of one */
	size_t elements;
	uint32_t seed;
	uint64_t timeout_ms;
};

static int open_device(struct computation *c, cl_platform_id platform, struct error *err)
{
	const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
						    (cl_context_properties)platform, 0};
	cl_int code = CL_SUCCESS;

	c->context = c->cl->clCreateContext(properties, 1, &c->device, NULL, NULL, &code);
	if (code == CL_SUCCESS)
		c->queue = c->cl->clCreateCommandQueue(c->context, c->device, 0, &code);
	return opencl_check(c->cl, code,
			    c->context == NULL ? "clCreateContext" : "clCreateCommandQueue", err);
}

static char *read_build_log(struct computation *c)
{
	size_t size = 0;

	if (c->cl->clGetProgramBuildInfo(c->program, c->device, CL_PROGRAM_BUILD_LOG, 0, NULL,
					 &size) != CL_SUCCESS ||
	    size > BUILD_LOG_MAX)
		return NULL;
	char *log CLEANUP_FREE = calloc(1, size + 1);

	if (log == NULL || c->cl->clGetProgramBuildInfo(c->program, c->device, CL_PROGRAM_BUILD_LOG,
							size, log, NULL) != CL_SUCCESS)
		return NULL;
	return STEAL(log);
}

static int build(struct computation *c, struct work_report *report, struct error *err)
{
	const char *source = work_source;
	cl_int result = CL_SUCCESS;

	c->program = c->cl->clCreateProgramWithSource(c->context, 1, &source, NULL, &result);
	int code = opencl_check(c->cl, result, "clCreateProgramWithSource", err);

	if (code != 0)
		return code;
	result = c->cl->clBuildProgram(c->program, 1, &c->device, "", NULL, NULL);
	code = opencl_check(c->cl, result, "clBuildProgram", err);
	if (code != 0) {
		report->build_log = read_build_log(c);
		return code;
	}
	c->kernel = c->cl->clCreateKernel(c->program, "work", &result);
	return opencl_check(c->cl, result, "clCreateKernel", err);
}

static int create_memory(struct computation *c, struct error *err)
{
	cl_ulong largest = 0;
	cl_int result = c->cl->clGetDeviceInfo(c->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE,
					       sizeof(largest), &largest, NULL);
	int code = opencl_check(c->cl, result, "clGetDeviceInfo", err);

	if (code != 0)
		return code;
	if (c->array_size > largest)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%zu elements do not fit a buffer of %llu bytes", c->elements,
				 (unsigned long long)largest);
	for (size_t i = 0; i < ARRAYS; i++) {
		c->arrays[i] = malloc(c->array_size);
		if (c->arrays[i] == NULL)
			return error_memory(err);
		c->buffers[i] = c->cl->clCreateBuffer(c->context, CL_MEM_READ_WRITE, c->array_size,
						      NULL, &result);
		code = opencl_check(c->cl, result, "clCreateBuffer", err);
		if (code != 0)
			return code;
	}
	return 0;
}

static int set_arguments(struct computation *c, struct error *err)
{
	const cl_uint elements = (cl_uint)c->elements;
	const cl_uint key = work_key(c->seed);
	const cl_float scale = WORK_SCALE;
	const struct {
		size_t size;
		const void *value;
	} arguments[] = {
		{sizeof(cl_mem), &c->buffers[0]},
		{sizeof(cl_mem), &c->buffers[1]},
		{sizeof(cl_mem), &c->buffers[2]},
		{sizeof(elements), &elements},
		{sizeof(key), &key},
		{sizeof(scale), &scale},
	};
	int code = 0;

	for (cl_uint i = 0; code == 0 && i < ARRAY_SIZE(arguments); i++)
		code = opencl_check(
			c->cl,
			c->cl->clSetKernelArg(c->kernel, i, arguments[i].size, arguments[i].value),
			"clSetKernelArg", err);
	return code;
}

/* OpenCL has no wait with a time limit, so the state of the event is asked for until it is reached.
 */
static int wait_for(struct computation *c, cl_event event, struct error *err)
{
	const uint64_t deadline_ms = clock_monotonic_ms() + c->timeout_ms;
	cl_int state = CL_QUEUED;
	int code = opencl_check(c->cl, c->cl->clFlush(c->queue), "clFlush", err);

	while (code == 0) {
		cl_int result = c->cl->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
						      sizeof(state), &state, NULL);

		code = opencl_check(c->cl, result, "clGetEventInfo", err);
		if (code != 0 || state == CL_COMPLETE)
			return code;
		if (state < 0)
			return opencl_check(c->cl, state, "command execution", err);
		if (clock_monotonic_ms() >= deadline_ms) {
			c->cl->abandoned = true;
			return error_set(err, ERROR_TIMEOUT,
					 "the device did not finish within %llu ms",
					 (unsigned long long)c->timeout_ms);
		}
		clock_sleep_ms(1);
	}
	return code;
}

enum transfer { UPLOAD, DOWNLOAD };

/* The queue is in order: the last event stands for all. */
static int transfer(struct computation *c, enum transfer direction, struct error *err)
{
	cl_event event = NULL;
	int code = 0;

	for (size_t i = 0; code == 0 && i < ARRAYS; i++) {
		cl_event *last = i == ARRAYS - 1 ? &event : NULL;

		if (direction == UPLOAD)
			code = opencl_check(c->cl,
					    c->cl->clEnqueueWriteBuffer(
						    c->queue, c->buffers[i], CL_FALSE, 0,
						    c->array_size, c->arrays[i], 0, NULL, last),
					    "clEnqueueWriteBuffer", err);
		else
			code = opencl_check(c->cl,
					    c->cl->clEnqueueReadBuffer(c->queue, c->buffers[i],
								       CL_FALSE, 0, c->array_size,
								       c->arrays[i], 0, NULL, last),
					    "clEnqueueReadBuffer", err);
	}
	if (code == 0)
		code = wait_for(c, event, err);
	if (event != NULL && !c->cl->abandoned)
		(void)c->cl->clReleaseEvent(event);
	return code;
}

static int dispatch(struct computation *c, struct error *err)
{
	cl_event event = NULL;
	int code = set_arguments(c, err);

	if (code == 0)
		code = opencl_check(c->cl,
				    c->cl->clEnqueueNDRangeKernel(c->queue, c->kernel, 1, NULL,
								  &c->elements, NULL, 0, NULL,
								  &event),
				    "clEnqueueNDRangeKernel", err);
	if (code == 0)
		code = wait_for(c, event, err);
	if (event != NULL && !c->cl->abandoned)
		(void)c->cl->clReleaseEvent(event);
	return code;
}

static int compute(struct computation *c, cl_platform_id platform, struct work_report *report,
		   struct error *err)
{
	int code = 0;

	work_stage_begin(report, WORK_STAGE_DEVICE);
	code = open_device(c, platform, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_BUILD);
	code = build(c, report, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_MEMORY);
	code = create_memory(c, err);
	if (code != 0)
		return code;
	const struct work_data data = {.values = c->arrays[0],
				       .x = c->arrays[1],
				       .y = c->arrays[2],
				       .elements = c->elements,
				       .seed = c->seed};

	work_fill(&data);
	work_stage_begin(report, WORK_STAGE_UPLOAD);
	code = transfer(c, UPLOAD, err);
	if (code != 0)
		return code;
	/* What is read back must come from the device, not from what was sent. */
	for (size_t i = 0; i < ARRAYS; i++)
		memset(c->arrays[i], 0xA5, c->array_size);
	work_stage_begin(report, WORK_STAGE_DISPATCH);
	code = dispatch(c, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_DOWNLOAD);
	code = transfer(c, DOWNLOAD, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_VERIFY);
	work_verify(&data, report);
	return 0;
}

static void release(struct computation *c)
{
	for (size_t i = 0; i < ARRAYS; i++) {
		if (c->buffers[i] != NULL)
			(void)c->cl->clReleaseMemObject(c->buffers[i]);
		free(c->arrays[i]);
	}
	if (c->kernel != NULL)
		(void)c->cl->clReleaseKernel(c->kernel);
	if (c->program != NULL)
		(void)c->cl->clReleaseProgram(c->program);
	if (c->queue != NULL)
		(void)c->cl->clReleaseCommandQueue(c->queue);
	if (c->context != NULL)
		(void)c->cl->clReleaseContext(c->context);
}

int opencl_compute(struct opencl *cl, const struct work_request *request,
		   struct work_report *report, struct error *err)
{
	const struct opencl_device *device = &cl->devices[request->device];
	struct computation c = {
		.cl = cl,
		.device = device->id,
		.array_size = (request->elements + WORK_GUARD) * sizeof(uint32_t),
		.elements = request->elements,
		.seed = request->seed,
		.timeout_ms = request->timeout_ms,
	};
	int code = compute(&c, device->platform, report, err);

	work_stage_end(report);
	if (!cl->abandoned)
		release(&c);
	return code;
}
