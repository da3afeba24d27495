/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/opencl_double.h"

#include "workloads/doubles/settings.h"
#include "workloads/doubles/shared.h"

#include <stdlib.h>
#include <string.h>

static bool endless; /* work that never ends was started */

#define BUILD_LOG "double: error: the kernel does not please"

static cl_context CL_API_CALL create_context(const cl_context_properties *properties, cl_uint count,
					     const cl_device_id *ids,
					     void(CL_CALLBACK *notify)(const char *, const void *,
								       size_t, void *),
					     void *user, cl_int *result)
{
	(void)properties;
	(void)count;
	(void)ids;
	(void)notify;
	(void)user;
	ENTER_CREATE(clCreateContext, result);
	shared_open();
	return (cl_context)double_object_new();
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
						 cl_command_queue_properties properties,
						 cl_int *result)
{
	(void)context;
	(void)device;
	(void)properties;
	ENTER_CREATE(clCreateCommandQueue, result);
	return (cl_command_queue)double_object_new();
}

static cl_program CL_API_CALL create_program(cl_context context, cl_uint count,
					     const char **sources, const size_t *sizes,
					     cl_int *result)
{
	(void)context;
	(void)count;
	(void)sizes;
	ENTER_CREATE(clCreateProgramWithSource, result);
	if (strstr(sources[0], "__kernel void work(") == NULL) {
		*result = CL_INVALID_VALUE;
		return NULL;
	}
	return (cl_program)double_object_new();
}

static cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id *ids,
					const char *options,
					void(CL_CALLBACK *notify)(cl_program, void *), void *user)
{
	(void)program;
	(void)count;
	(void)ids;
	(void)options;
	(void)notify;
	(void)user;
	ENTER(clBuildProgram);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL get_build_info(cl_program program, cl_device_id device,
					 cl_program_build_info what, size_t room, void *out,
					 size_t *needed)
{
	(void)program;
	(void)device;
	if (what != CL_PROGRAM_BUILD_LOG)
		return CL_INVALID_VALUE;
	if (needed != NULL)
		*needed = sizeof(BUILD_LOG);
	if (out != NULL && room >= sizeof(BUILD_LOG))
		memcpy(out, BUILD_LOG, sizeof(BUILD_LOG));
	return CL_SUCCESS;
}

static cl_kernel CL_API_CALL create_kernel(cl_program program, const char *name, cl_int *result)
{
	(void)program;
	(void)name;
	ENTER_CREATE(clCreateKernel, result);
	return (cl_kernel)double_object_new();
}

static cl_int CL_API_CALL set_argument(cl_kernel handle, cl_uint index, size_t size,
				       const void *value)
{
	struct double_argument *arguments = ((struct double_object *)handle)->arguments;
	ENTER(clSetKernelArg);
	if (index < 3)
		memcpy(&arguments[index].buffer, value, size);
	else if (index < 5)
		memcpy(&arguments[index].number, value, size);
	else
		memcpy(&arguments[index].scale, value, size);
	return CL_SUCCESS;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
					void *host, cl_int *result)
{
	(void)context;
	(void)flags;
	(void)host;
	ENTER_CREATE(clCreateBuffer, result);
	struct double_object *buffer = double_object_new();
	buffer->bytes = shared_allocate(size);
	buffer->size = size;
	if (buffer->bytes != NULL)
		return (cl_mem)buffer;
	free(buffer);
	*result = CL_MEM_OBJECT_ALLOCATION_FAILURE;
	return NULL;
}

static cl_int finish(cl_event *event)
{
	if (event != NULL)
		*event = (cl_event)double_object_new();
	return CL_SUCCESS;
}

static unsigned char *bytes_of(cl_mem buffer)
{
	return ((struct double_object *)buffer)->bytes;
}

static cl_int CL_API_CALL write_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				       size_t offset, size_t size, const void *from, cl_uint count,
				       const cl_event *wait, cl_event *event)
{
	(void)queue;
	(void)blocking;
	(void)count;
	(void)wait;
	ENTER(clEnqueueWriteBuffer);
	memcpy(bytes_of(buffer) + offset, from, size);
	return finish(event);
}

static cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
				      size_t offset, size_t size, void *to, cl_uint count,
				      const cl_event *wait, cl_event *event)
{
	(void)queue;
	(void)blocking;
	(void)count;
	(void)wait;
	ENTER(clEnqueueReadBuffer);
	memcpy(to, bytes_of(buffer) + offset, size);
	return finish(event);
}

static cl_int CL_API_CALL run_kernel(cl_command_queue queue, cl_kernel handle, cl_uint dimensions,
				     const size_t *offsets, const size_t *global,
				     const size_t *local, cl_uint count, const cl_event *wait,
				     cl_event *event)
{
	const struct double_argument *arguments = ((struct double_object *)handle)->arguments;
	const struct double_object *values = (const void *)arguments[0].buffer;
	(void)queue;
	(void)offsets;
	(void)global;
	(void)local;
	(void)count;
	(void)wait;
	ENTER(clEnqueueNDRangeKernel);
	if (shared_is_lost())
		return CL_OUT_OF_RESOURCES;
	if (arguments[3].number > values->size / sizeof(uint32_t)) {
		shared_fail();
		setting_crash();
	}
	endless = dimensions > 1;
	if (endless) {
		shared_fail();
		return finish(event);
	}
	const bool wrong = shared_begin();
	setting_work((void *)bytes_of(arguments[0].buffer), (void *)bytes_of(arguments[1].buffer),
		     (void *)bytes_of(arguments[2].buffer), arguments[3].number,
		     arguments[4].number, arguments[5].scale);
	if (wrong)
		values->bytes[0] ^= 1u;
	return finish(event);
}

static cl_int CL_API_CALL flush(cl_command_queue queue)
{
	(void)queue;
	ENTER(clFlush);
	return CL_SUCCESS;
}

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info what, size_t room, void *out,
					 size_t *needed)
{
	cl_int state = endless || setting_has("hang") ? CL_RUNNING : CL_COMPLETE;
	const cl_int execution = setting_enter("execution");
	(void)event;
	(void)needed;
	ENTER(clGetEventInfo);
	if (what != CL_EVENT_COMMAND_EXECUTION_STATUS || room < sizeof(state))
		return CL_INVALID_VALUE;
	if (execution != CL_SUCCESS)
		state = execution;
	memcpy(out, &state, sizeof(state));
	return CL_SUCCESS;
}

static cl_int release(void *handle)
{
	struct double_object *object = handle;
	if (object->bytes != NULL)
		shared_free(object->bytes, object->size);
	free(object);
	return CL_SUCCESS;
}

#define RELEASE(name, type)                                                                        \
	static cl_int CL_API_CALL name(type handle)                                                \
	{                                                                                          \
		return release(handle);                                                            \
	}

RELEASE(release_context, cl_context)
RELEASE(release_queue, cl_command_queue)
RELEASE(release_program, cl_program)
RELEASE(release_kernel, cl_kernel)
RELEASE(release_buffer, cl_mem)
RELEASE(release_event, cl_event)

void double_add_work(cl_icd_dispatch *dispatch)
{
	dispatch->clCreateContext = create_context;
	dispatch->clReleaseContext = release_context;
	dispatch->clCreateCommandQueue = create_queue;
	dispatch->clReleaseCommandQueue = release_queue;
	dispatch->clCreateProgramWithSource = create_program;
	dispatch->clBuildProgram = build_program;
	dispatch->clGetProgramBuildInfo = get_build_info;
	dispatch->clReleaseProgram = release_program;
	dispatch->clCreateKernel = create_kernel;
	dispatch->clSetKernelArg = set_argument;
	dispatch->clReleaseKernel = release_kernel;
	dispatch->clCreateBuffer = create_buffer;
	dispatch->clReleaseMemObject = release_buffer;
	dispatch->clEnqueueWriteBuffer = write_buffer;
	dispatch->clEnqueueReadBuffer = read_buffer;
	dispatch->clEnqueueNDRangeKernel = run_kernel;
	dispatch->clFlush = flush;
	dispatch->clGetEventInfo = get_event_info;
	dispatch->clReleaseEvent = release_event;
}
