/* SPDX-License-Identifier: MIT */
#include "workloads/cuda/cuda.h"

#include "base/cleanup.h"
#include "workloads/common/kernel.h"
#include "workloads/cuda/kernels_ptx.h" /* generated from kernels.ptx */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	BUILD_LOG_MAX = 64 * 1024,
	HITS = WORK_ARRAYS, /* the buffer behind those of the work */
	BUFFERS,
};

/* On both sides. The host's is of the driver's making, so that copies do not hold the caller up. */
struct buffer {
	void *host;
	cuda_pointer device;
	size_t size;
};

struct computation {
	struct cuda *cuda;
	const struct work_request *request;
	struct work_report *report;
	cuda_context context;
	cuda_stream stream;
	cuda_event began, ended; /* of copies */
	cuda_module module;
	cuda_function work, monte_carlo;
	struct buffer buffers[BUFFERS];
	struct work_data data;			 /* in the buffers */
	double uploaded_per_s, downloaded_per_s; /* bytes; 0: not known */
};

static int ask_memory(struct computation *c, struct error *err)
{
	size_t free_bytes = 0;
	size_t total = 0;
	int rc = CUDA_CALL(c->cuda, err, cuMemGetInfo, &free_bytes, &total);
	c->report->memory_free = free_bytes;
	return rc;
}

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	struct cuda *cuda = c->cuda;
	const cuda_device device = cuda->devices[c->request->device];
	int rc = CUDA_CALL(cuda, err, cuCtxCreate, &c->context, 0, device);
	if (rc == 0)
		rc = CUDA_CALL(cuda, err, cuStreamCreate, &c->stream, CUDA_STREAM_NON_BLOCKING);
	if (rc == 0)
		rc = CUDA_CALL(cuda, err, cuEventCreate, &c->began, 0);
	if (rc == 0)
		rc = CUDA_CALL(cuda, err, cuEventCreate, &c->ended, 0);
	return rc == 0 ? ask_memory(c, err) : rc;
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	char *log CLEANUP_FREE = calloc(1, BUILD_LOG_MAX + 1);
	enum cuda_jit_option options[] = {CUDA_JIT_ERROR_LOG_BUFFER,
					  CUDA_JIT_ERROR_LOG_BUFFER_SIZE};
	/* Numbers travel as pointers. */
	void *values[] = {log, (void *)(uintptr_t)BUILD_LOG_MAX};
	if (log == NULL)
		return error_memory(err);
	int rc = CUDA_CALL(c->cuda, err, cuModuleLoadDataEx, &c->module, kernels_ptx,
			   ARRAY_SIZE(options), options, values);
	if (rc != 0 && log[0] != '\0')
		c->report->build_log = STEAL(log);
	if (rc == 0)
		rc = CUDA_CALL(c->cuda, err, cuModuleGetFunction, &c->work, c->module, "work");
	return rc == 0 ? CUDA_CALL(c->cuda, err, cuModuleGetFunction, &c->monte_carlo, c->module,
				   "monte_carlo")
		       : rc;
}

static size_t size_of(const struct computation *c, size_t buffer)
{
	return buffer == HITS ? (MONTE_CARLO_STREAMS + WORK_GUARD) * WORK_ELEMENT_SIZE
			      : work_array_size(c->request);
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < BUFFERS; i++) {
		struct buffer *buffer = &c->buffers[i];
		buffer->size = size_of(c, i);
		rc = CUDA_CALL(c->cuda, err, cuMemAllocHost, &buffer->host, buffer->size);
		if (rc == 0)
			rc = CUDA_CALL(c->cuda, err, cuMemAlloc, &buffer->device, buffer->size);
	}
	if (rc != 0)
		return rc;
	c->data = (struct work_data){.elements = c->request->elements, .seed = c->request->seed};
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		c->data.arrays[i] = c->buffers[i].host;
	work_fill(&c->data);
	return 0;
}

static int is_complete(void *work, struct error *err)
{
	struct computation *c = work;
	const cuda_result result = c->cuda->cuStreamQuery(c->stream);
	if (result == CUDA_ERROR_NOT_READY)
		return 0;
	int rc = cuda_check(c->cuda, result, "cuStreamQuery", err);
	return rc == 0 ? 1 : rc;
}

/* Copies all buffers by `copy` and measures how fast, by the device's own clock. */
static int transfer(struct computation *c,
		    int (*copy)(struct computation *c, const struct buffer *buffer,
				struct error *err),
		    double *bytes_per_s, struct error *err)
{
	float elapsed_ms = 0;
	double bytes = 0;
	int rc = CUDA_CALL(c->cuda, err, cuEventRecord, c->began, c->stream);
	for (size_t i = 0; rc == 0 && i < BUFFERS; i++) {
		bytes += (double)c->buffers[i].size;
		rc = copy(c, &c->buffers[i], err);
	}
	if (rc == 0)
		rc = CUDA_CALL(c->cuda, err, cuEventRecord, c->ended, c->stream);
	if (rc == 0)
		rc = work_wait(c->request, is_complete, c, err);
	if (rc == 0)
		rc = CUDA_CALL(c->cuda, err, cuEventElapsedTime, &elapsed_ms, c->began, c->ended);
	if (rc == 0 && elapsed_ms > 0)
		*bytes_per_s = bytes * 1000 / (double)elapsed_ms;
	return rc;
}

static int copy_in(struct computation *c, const struct buffer *buffer, struct error *err)
{
	return CUDA_CALL(c->cuda, err, cuMemcpyHtoDAsync, buffer->device, buffer->host,
			 buffer->size, c->stream);
}

static int copy_out(struct computation *c, const struct buffer *buffer, struct error *err)
{
	return CUDA_CALL(c->cuda, err, cuMemcpyDtoHAsync, buffer->host, buffer->device,
			 buffer->size, c->stream);
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	uint32_t *hits = c->buffers[HITS].host;
	for (size_t i = 0; i < MONTE_CARLO_STREAMS + WORK_GUARD; i++)
		hits[i] = work_input_value(c->request->seed, i);
	int rc = transfer(c, copy_in, &c->uploaded_per_s, err);
	if (rc != 0)
		return rc;
	work_overwrite(&c->data);
	memset(c->buffers[HITS].host, 0xA5, c->buffers[HITS].size);
	return 0;
}

static int launch(struct computation *c, cuda_function kernel, uint32_t invocations,
		  void **parameters, struct error *err)
{
	return CUDA_CALL(c->cuda, err, cuLaunchKernel, kernel, invocations / WORK_GROUP,
			 work_groups_y(c->request), work_groups_z(c->request), WORK_GROUP, 1, 1, 0,
			 c->stream, parameters, NULL);
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	struct work_parameters told = work_parameters(c->request);
	uint32_t streams = MONTE_CARLO_STREAMS;
	void *of_work[] = {
		&c->buffers[WORK_VALUES].device,
		&c->buffers[WORK_X].device,
		&c->buffers[WORK_Y].device,
		&told.elements,
		&told.key,
		&told.scale,
	};
	void *of_monte_carlo[] = {&c->buffers[HITS].device, &streams, &told.key};
	int rc = launch(c, c->work, told.stride, of_work, err);
	if (rc == 0)
		rc = launch(c, c->monte_carlo, streams, of_monte_carlo, err);
	return rc == 0 ? work_wait(c->request, is_complete, c, err) : rc;
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	return transfer(c, copy_out, &c->downloaded_per_s, err);
}

static void add_speed(struct members *measured, const char *key, double bytes_per_s)
{
	if (bytes_per_s > 0)
		member_number(measured, key, floor(bytes_per_s));
	else
		member_null(measured, key);
}

static cJSON *measured_json(const struct computation *c,
			    const struct monte_carlo_estimate *estimate)
{
	struct members monte_carlo CLEANUP_MEMBERS = members_new();
	struct members measured CLEANUP_MEMBERS = members_new();
	member_number(&monte_carlo, "samples", (double)estimate->samples);
	member_number(&monte_carlo, "hits", (double)estimate->hits);
	member_number(&monte_carlo, "pi", estimate->pi);
	member_number(&monte_carlo, "standardErrors", estimate->standard_errors);
	add_speed(&measured, "uploadBytesPerSecond", c->uploaded_per_s);
	add_speed(&measured, "downloadBytesPerSecond", c->downloaded_per_s);
	member_item(&measured, "monteCarlo", members_take(&monte_carlo));
	return members_take(&measured);
}

/* The estimate knows nothing of the kernel's source, from which the reference is made. */
static int verify(void *work, struct error *err)
{
	struct computation *c = work;
	const struct monte_carlo_estimate estimate = monte_carlo_estimate(c->buffers[HITS].host);
	work_verify(&c->data, c->report);
	work_compare(c->report, "hits", c->buffers[HITS].host);
	work_judge(c->report);
	if (c->report->status == WORK_OK && estimate.standard_errors > MONTE_CARLO_ERRORS_MAX) {
		c->report->status = WORK_WRONG;
		(void)snprintf(
			c->report->reason, sizeof(c->report->reason),
			"%llu random points estimate pi as %.6f, %.1f standard errors beside it",
			(unsigned long long)estimate.samples, estimate.pi,
			estimate.standard_errors);
	}
	c->report->measured = measured_json(c, &estimate);
	return c->report->measured != NULL ? 0 : error_memory(err);
}

/* The context takes everything with it that is left on the device. */
static void release(struct computation *c)
{
	for (size_t i = 0; i < BUFFERS; i++) {
		if (c->buffers[i].device != 0)
			(void)c->cuda->cuMemFree(c->buffers[i].device);
		if (c->buffers[i].host != NULL)
			(void)c->cuda->cuMemFreeHost(c->buffers[i].host);
	}
	if (c->module != NULL)
		(void)c->cuda->cuModuleUnload(c->module);
	if (c->began != NULL)
		(void)c->cuda->cuEventDestroy(c->began);
	if (c->ended != NULL)
		(void)c->cuda->cuEventDestroy(c->ended);
	if (c->stream != NULL)
		(void)c->cuda->cuStreamDestroy(c->stream);
	if (c->context != NULL)
		(void)c->cuda->cuCtxDestroy(c->context);
}

int cuda_work(void *session, const struct work_request *request, struct work_report *report,
	      struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,   [WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,    [WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_VERIFY] = verify,	     [WORK_STAGE_LOOK] = download,
	};
	struct cuda *cuda = session;
	struct computation c = {.cuda = cuda, .request = request, .report = report};
	cuda->failure = (struct call_failure){0};
	int rc = work_run(steps, &c, &c.data, report, err);
	report->failure = cuda->failure;
	if (rc != ERROR_TIMEOUT)
		release(&c);
	return rc;
}
