/* SPDX-License-Identifier: MIT */
#include "workloads/hip/hip.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "workloads/common/compute.h"
#include "workloads/hip/code_objects.h" /* generated from code/, which compile.sh makes */
#include "workloads/hip/work_source.h"	/* generated from work.hip */

#include <stdlib.h>
#include <string.h>

enum { CODE_MAX = 16 * 1024 * 1024 };

static const struct code_object {
	const char *target;
	const char *image;
} code_objects[] = {
#define CODE(target) {#target, code_##target},
	CODE_OBJECTS
#undef CODE
};

static const struct code_advice compiler_results[] = {
	{1, "HIPRTC_ERROR_OUT_OF_MEMORY", NULL},
	{2, "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE", NULL},
	{3, "HIPRTC_ERROR_INVALID_INPUT", NULL},
	{4, "HIPRTC_ERROR_INVALID_PROGRAM", NULL},
	{5, "HIPRTC_ERROR_INVALID_OPTION", NULL},
	{6, "HIPRTC_ERROR_COMPILATION", NULL},
	{7, "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE", NULL},
	{11, "HIPRTC_ERROR_INTERNAL_ERROR", NULL},
};

static int check(struct hip *hip, hip_result result, const char *call, struct error *err)
{
	if (result == HIP_SUCCESS)
		return 0;
	return call_failed_advised(&hip->calls.failure, call, result, compiler_results,
				   ARRAY_SIZE(compiler_results), err);
}

/* check() of a function of the compiler. */
#define COMPILER_CALL(hip, err, function, ...)                                                     \
	check(hip, (hip)->function(__VA_ARGS__), #function, err)

/* Compiles the kernel for the device that is set. *image is an allocation. */
static int compile(struct hip *hip, void **image, struct work_report *report, struct error *err)
{
	hip_program program = NULL;
	size_t size = 0;
	int rc = COMPILER_CALL(hip, err, hiprtcCreateProgram, &program, work_source, "work.hip", 0,
			       NULL, NULL);
	if (rc != 0)
		return rc;

	rc = COMPILER_CALL(hip, err, hiprtcCompileProgram, program, 0, NULL);
	if (rc != 0) {
		if (hip->hiprtcGetProgramLogSize(program, &size) == HIP_SUCCESS &&
		    size <= WORK_BUILD_LOG_MAX) {
			char *log CLEANUP_FREE = memory_allocate(1, size + 1);
			if (hip->hiprtcGetProgramLog(program, log) == HIP_SUCCESS)
				report->build_log = STEAL(log);
		}
	} else {
		rc = COMPILER_CALL(hip, err, hiprtcGetCodeSize, program, &size);
		if (rc == 0 && (size == 0 || size > CODE_MAX))
			rc = error_set(
				err, ERROR_REMOTE,
				"hiprtcGetCodeSize reported %zu bytes of code for one kernel",
				size);
		if (rc == 0) {
			*image = memory_allocate(1, size);
			rc = COMPILER_CALL(hip, err, hiprtcGetCode, program, *image);
		}
	}
	(void)hip->hiprtcDestroyProgram(&program);
	return rc;
}

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
	size_t free_bytes = 0;
	size_t total = 0;
	int rc = API_CALL(c->hip, err, hipSetDevice, c->device->ordinal);
	if (rc == 0)
		rc = API_CALL(c->hip, err, hipStreamCreate, &c->stream);
	/* Work does not need it; isolation.lifetime says when it is unknown. */
	if (rc == 0 && c->hip->hipMemGetInfo(&free_bytes, &total) == 0)
		c->common.report->memory_free = free_bytes;
	return rc;
}

/* Loads a code object of this probe, or else the output of the runtime's compiler. */
static int build(void *work, struct error *err)
{
	struct computation *c = work;
	const char *arch = c->device->arch;
	const void *image = NULL;
	int rc = 0;

	for (size_t i = 0; image == NULL && i < ARRAY_SIZE(code_objects); i++) {
		if (strcmp(code_objects[i].target, arch) == 0)
			image = code_objects[i].image;
	}
	if (image == NULL && c->hip->hiprtcCreateProgram == NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "no code object for %s, and the runtime has no compiler (hiprtc)",
				 arch[0] != '\0' ? arch : "a device of unknown architecture");
	if (image == NULL) {
		rc = compile(c->hip, &c->compiled, c->common.report, err);
		image = c->compiled;
	}

	if (rc == 0)
		rc = API_CALL(c->hip, err, hipModuleLoadData, &c->module, image);
	if (rc == 0)
		rc = API_CALL(c->hip, err, hipModuleGetFunction, &c->function, c->module, "work");
	return rc;
}

/* On the host: memory that copies do not have to stage. */
static int allocate(void *work, struct compute_buffer *buffer, struct error *err)
{
	struct computation *c = work;
	int rc = API_CALL(c->hip, err, hipMalloc, &buffer->device, buffer->size);
	if (rc == 0)
		rc = API_CALL(c->hip, err, hipHostMalloc, &buffer->host, buffer->size, 0);
	return rc;
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
	const unsigned blocks = (c->common.parameters.elements + WORK_GROUP - 1) / WORK_GROUP;
	return API_CALL(c->hip, err, hipModuleLaunchKernel, c->function, blocks,
			work_groups_y(request), work_groups_z(request), WORK_GROUP, 1, 1, 0,
			c->stream, arguments, NULL);
}

static int is_complete(void *work, struct error *err)
{
	struct computation *c = work;
	return call_poll(&c->hip->calls, c->hip->hipStreamQuery(c->stream), HIP_NOT_READY,
			 "hipStreamQuery", err);
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
