/* SPDX-License-Identifier: MIT */
#include "workloads/opencl/opencl.h"

#include "base/cleanup.h"
#include "workloads/opencl/work_source.h" /* generated from work.cl */

#include <stdlib.h>

enum { BUILD_LOG_MAX = 64 * 1024 };

struct computation {
	struct opencl *cl;
	const struct work_request *request;
	struct work_report *report;
	cl_device_id device;
	cl_context context;
	cl_command_queue queue;
	cl_program program;
	cl_kernel kernel;
	cl_mem buffers[WORK_ARRAYS];
	cl_event event; /* of the last command */
	struct work_data data;
	size_t array_size; /* bytes of one */
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	cl_platform_id platform = c->cl->devices[c->request->device].platform;
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
	char *log CLEANUP_FREE = calloc(1, BUILD_LOG_MAX + 1);
	if (log == NULL || c->cl->clGetProgramBuildInfo(c->program, c->device, CL_PROGRAM_BUILD_LOG,
							BUILD_LOG_MAX, log, NULL) != CL_SUCCESS)
		return NULL;
	return STEAL(log);
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	const char *source = work_source;
	cl_int result = CL_SUCCESS;
	c->program = c->cl->clCreateProgramWithSource(c->context, 1, &source, NULL, &result);
	int rc = opencl_check(c->cl, result, "clCreateProgramWithSource", err);
	if (rc != 0)
		return rc;
	result = c->cl->clBuildProgram(c->program, 1, &c->device, "", NULL, NULL);
	rc = opencl_check(c->cl, result, "clBuildProgram", err);
	if (rc != 0) {
		c->report->build_log = read_build_log(c);
		return rc;
	}
	c->kernel = c->cl->clCreateKernel(c->program, "work", &result);
	return opencl_check(c->cl, result, "clCreateKernel", err);
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	cl_ulong largest = 0;
	cl_int result = c->cl->clGetDeviceInfo(c->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE,
					       sizeof(largest), &largest, NULL);
	int rc = opencl_check(c->cl, result, "clGetDeviceInfo", err);
	if (rc != 0)
		return rc;
	if (c->array_size > largest)
		return error_set(err, ERROR_UNSUPPORTED,
				 "%zu elements do not fit a buffer of %llu bytes",
				 c->request->elements, (unsigned long long)largest);
	for (size_t i = 0; i < WORK_ARRAYS; i++) {
		c->buffers[i] = c->cl->clCreateBuffer(c->context, CL_MEM_READ_WRITE, c->array_size,
						      NULL, &result);
		rc = opencl_check(c->cl, result, "clCreateBuffer", err);
		if (rc != 0)
			return rc;
	}
	return work_data_new(&c->data, c->request, err);
}

static int set_arguments(struct computation *c, struct error *err)
{
	const struct work_parameters parameters = work_parameters(c->request);
	const struct {
		size_t size;
		const void *value;
	} arguments[] = {
		{sizeof(cl_mem), &c->buffers[0]},   {sizeof(cl_mem), &c->buffers[1]},
		{sizeof(cl_mem), &c->buffers[2]},   {sizeof(cl_uint), &parameters.elements},
		{sizeof(cl_uint), &parameters.key}, {sizeof(cl_float), &parameters.scale},
	};
	int rc = 0;
	for (cl_uint i = 0; rc == 0 && i < ARRAY_SIZE(arguments); i++)
		rc = OPENCL_CALL(c->cl, err, clSetKernelArg, c->kernel, i, arguments[i].size,
				 arguments[i].value);
	return rc;
}

static int is_complete(void *work, struct error *err)
{
	struct computation *c = work;
	cl_int state = CL_QUEUED;
	cl_int result = c->cl->clGetEventInfo(c->event, CL_EVENT_COMMAND_EXECUTION_STATUS,
					      sizeof(state), &state, NULL);
	int rc = opencl_check(c->cl, result, "clGetEventInfo", err);
	if (rc == 0 && state < 0)
		rc = opencl_check(c->cl, state, "command execution", err);
	return rc == 0 ? state == CL_COMPLETE : rc;
}

/* Waits for the event of the last command: the queue is in order, so that it stands for all. */
static int finish(struct computation *c, struct error *err)
{
	int rc = OPENCL_CALL(c->cl, err, clFlush, c->queue);
	if (rc == 0)
		rc = work_wait(c->request, is_complete, c, err);
	if (rc != ERROR_TIMEOUT)
		(void)c->cl->clReleaseEvent(c->event);
	return rc;
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	const struct work_parameters parameters = work_parameters(c->request);
	const size_t items[] = {parameters.elements, work_groups_y(c->request),
				work_groups_z(c->request)};
	int rc = set_arguments(c, err);
	if (rc == 0)
		rc = OPENCL_CALL(c->cl, err, clEnqueueNDRangeKernel, c->queue, c->kernel,
				 items[1] == 1 ? 1 : ARRAY_SIZE(items), NULL, items, NULL, 0, NULL,
				 &c->event);
	return rc == 0 ? finish(c, err) : rc;
}

static cl_event *event_of(struct computation *c, size_t array)
{
	return array == WORK_ARRAYS - 1 ? &c->event : NULL;
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = OPENCL_CALL(c->cl, err, clEnqueueWriteBuffer, c->queue, c->buffers[i],
				 CL_FALSE, 0, c->array_size, c->data.arrays[i], 0, NULL,
				 event_of(c, i));
	if (rc == 0)
		rc = finish(c, err);
	if (rc == 0)
		work_overwrite(&c->data);
	return rc;
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = OPENCL_CALL(c->cl, err, clEnqueueReadBuffer, c->queue, c->buffers[i], CL_FALSE,
				 0, c->array_size, c->data.arrays[i], 0, NULL, event_of(c, i));
	return rc == 0 ? finish(c, err) : rc;
}

static void release(struct computation *c)
{
	work_data_free(&c->data);
	for (size_t i = 0; i < WORK_ARRAYS; i++) {
		if (c->buffers[i] != NULL)
			(void)c->cl->clReleaseMemObject(c->buffers[i]);
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

int opencl_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,   [WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,    [WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_LOOK] = download,
	};
	struct opencl *cl = session;
	struct computation c = {
		.cl = cl,
		.request = request,
		.report = report,
		.device = cl->devices[request->device].id,
		.array_size = work_array_size(request),
	};
	cl->failure = (struct call_failure){0};
	int rc = work_run(steps, &c, &c.data, report, err);
	report->failure = cl->failure;
	if (rc != ERROR_TIMEOUT)
		release(&c);
	return rc;
}
