/* SPDX-License-Identifier: MIT */
#include "workloads/cuda/cuda.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "workloads/common/compute.h"
#include "workloads/common/kernel.h"
#include "workloads/cuda/kernels_ptx.h" /* generated from kernels.ptx */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct computation {
	struct compute common; /* first */
	struct cuda *cuda;
	cuda_context context;
	cuda_stream stream;
	cuda_event began, ended; /* of copies */
	cuda_module module;
	cuda_function work, monte_carlo;
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	struct cuda *cuda = c->cuda;
	const cuda_device device = cuda->devices[c->common.request->device];
	size_t free_bytes = 0;
	size_t total = 0;

	int rc = API_CALL(cuda, err, cuCtxCreate, &c->context, 0, device);
	if (rc == 0)
		rc = API_CALL(cuda, err, cuStreamCreate, &c->stream, CUDA_STREAM_NON_BLOCKING);
	if (rc == 0)
		rc = API_CALL(cuda, err, cuEventCreate, &c->began, 0);
	if (rc == 0)
		rc = API_CALL(cuda, err, cuEventCreate, &c->ended, 0);
	/* Work does not need it; isolation.lifetime says when it is unknown. */
	if (rc == 0 && cuda->cuMemGetInfo(&free_bytes, &total) == 0)
		c->common.report->memory_free = free_bytes;
	return rc;
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	char *log CLEANUP_FREE = memory_allocate(1, WORK_BUILD_LOG_MAX + 1);
	enum cuda_jit_option options[] = {CUDA_JIT_ERROR_LOG_BUFFER,
					  CUDA_JIT_ERROR_LOG_BUFFER_SIZE};
	/* Numbers travel as pointers. */
	void *values[] = {log, (void *)(uintptr_t)WORK_BUILD_LOG_MAX};

	int rc = API_CALL(c->cuda, err, cuModuleLoadDataEx, &c->module, kernels_ptx,
			  ARRAY_SIZE(options), options, values);
	if (rc != 0 && log[0] != '\0')
		c->common.report->build_log = STEAL(log);
	if (rc == 0)
		rc = API_CALL(c->cuda, err, cuModuleGetFunction, &c->work, c->module, "work");
	if (rc == 0)
		rc = API_CALL(c->cuda, err, cuModuleGetFunction, &c->monte_carlo, c->module,
			      "monte_carlo");
	return rc;
}

/* On the host: page-locked memory, so that copies are asynchronous. */
static int allocate(void *work, struct compute_buffer *buffer, struct error *err)
{
	struct computation *c = work;
	int rc = API_CALL(c->cuda, err, cuMemAllocHost, &buffer->host, buffer->size);
	if (rc == 0)
		rc = API_CALL(c->cuda, err, cuMemAlloc, &buffer->device, buffer->size);
	return rc;
}

static int copy(void *work, const struct compute_buffer *buffer, bool to_device, struct error *err)
{
	struct computation *c = work;
	if (to_device)
		return API_CALL(c->cuda, err, cuMemcpyHtoDAsync, buffer->device, buffer->host,
				buffer->size, c->stream);
	return API_CALL(c->cuda, err, cuMemcpyDtoHAsync, buffer->host, buffer->device, buffer->size,
			c->stream);
}

static int mark(void *work, bool end, struct error *err)
{
	struct computation *c = work;
	return API_CALL(c->cuda, err, cuEventRecord, end ? c->ended : c->began, c->stream);
}

static int elapsed(void *work, float *milliseconds, struct error *err)
{
	struct computation *c = work;
	return API_CALL(c->cuda, err, cuEventElapsedTime, milliseconds, c->began, c->ended);
}

static int is_complete(void *work, struct error *err)
{
	struct computation *c = work;
	return call_poll(&c->cuda->calls, c->cuda->cuStreamQuery(c->stream), CUDA_ERROR_NOT_READY,
			 "cuStreamQuery", err);
}

static int launch(void *work, void *arguments[COMPUTE_ARGUMENTS], struct error *err)
{
	struct computation *c = work;
	const struct work_request *request = c->common.request;
	const unsigned y = work_groups_y(request);
	const unsigned z = work_groups_z(request);
	uint32_t streams = MONTE_CARLO_STREAMS;
	cuda_pointer hits = c->common.buffers[WORK_ARRAYS].device;
	void *monte_carlo_arguments[] = {&hits, &streams, &c->common.parameters.key};

	int rc = API_CALL(c->cuda, err, cuLaunchKernel, c->work,
			  c->common.parameters.stride / WORK_GROUP, y, z, WORK_GROUP, 1, 1, 0,
			  c->stream, arguments, NULL);
	if (rc == 0)
		rc = API_CALL(c->cuda, err, cuLaunchKernel, c->monte_carlo, streams / WORK_GROUP, y,
			      z, WORK_GROUP, 1, 1, 0, c->stream, monte_carlo_arguments, NULL);
	return rc;
}

struct monte_carlo_estimate monte_carlo_estimate(const uint32_t *hits)
{
	static const double pi = 3.14159265358979323846;
	const double samples = (double)MONTE_CARLO_STREAMS * MONTE_CARLO_SAMPLES;
	struct monte_carlo_estimate out = {.samples = (uint64_t)samples};
	for (size_t i = 0; i < MONTE_CARLO_STREAMS; i++)
		out.hits += hits[i];
	/* Each point hits with the probability pi / 4: a binomial distribution. */
	const double error = sqrt(samples * (pi / 4) * (1 - pi / 4));
	out.pi = 4 * (double)out.hits / samples;
	out.standard_errors = fabs((double)out.hits - samples * pi / 4) / error;
	return out;
}

/* The estimate does not depend on the kernel's source, from which the reference is made. */
static int verify(void *work, struct error *err)
{
	struct computation *c = work;
	struct work_report *report = c->common.report;
	const struct {
		const char *key;
		double bytes_per_s;
	} speeds[] = {{"uploadBytesPerSecond", c->common.uploaded_per_s},
		      {"downloadBytesPerSecond", c->common.downloaded_per_s}};
	struct members measured CLEANUP_MEMBERS = members_new();
	const struct monte_carlo_estimate estimate =
		monte_carlo_estimate(c->common.buffers[WORK_ARRAYS].host);

	(void)err;
	if (report->status == WORK_OK && estimate.standard_errors > MONTE_CARLO_ERRORS_MAX) {
		report->status = WORK_WRONG;
		(void)snprintf(report->reason, sizeof(report->reason),
			       "%llu random points estimate pi as %.6f, %.1f standard errors off",
			       (unsigned long long)estimate.samples, estimate.pi,
			       estimate.standard_errors);
	}

	for (size_t i = 0; i < ARRAY_SIZE(speeds); i++) {
		if (speeds[i].bytes_per_s > 0)
			member_number(&measured, speeds[i].key, floor(speeds[i].bytes_per_s));
		else
			member_null(&measured, speeds[i].key);
	}
	struct members monte_carlo = member_object(&measured, "monteCarlo");
	member_number(&monte_carlo, "samples", (double)estimate.samples);
	member_number(&monte_carlo, "hits", (double)estimate.hits);
	member_number(&monte_carlo, "pi", estimate.pi);
	member_number(&monte_carlo, "standardErrors", estimate.standard_errors);
	report->measured = members_take(&measured);
	return 0;
}

static void free_buffer(void *work, const struct compute_buffer *buffer)
{
	struct computation *c = work;
	API_RELEASE(c->cuda, cuMemFree, buffer->device);
	API_RELEASE(c->cuda, cuMemFreeHost, buffer->host);
}

/* The context releases everything that is left on the device. */
static void release(void *work)
{
	struct computation *c = work;
	API_RELEASE(c->cuda, cuModuleUnload, c->module);
	API_RELEASE(c->cuda, cuEventDestroy, c->began);
	API_RELEASE(c->cuda, cuEventDestroy, c->ended);
	API_RELEASE(c->cuda, cuStreamDestroy, c->stream);
	API_RELEASE(c->cuda, cuCtxDestroy, c->context);
}

int cuda_work(void *session, const struct work_request *request, struct work_report *report,
	      struct error *err)
{
	static const struct compute_calls calls = {
		.allocators = {"cuMemAlloc", "cuMemAllocHost"},
		.extra = "hits",
		.open = open_device,
		.build = build,
		.allocate = allocate,
		.copy = copy,
		.mark = mark,
		.elapsed = elapsed,
		.launch = launch,
		.is_complete = is_complete,
		.verify = verify,
		.free = free_buffer,
		.release = release,
	};
	struct cuda *cuda = session;
	struct computation c = {.cuda = cuda};
	return compute_work(&c.common, &calls, &cuda->calls, request, report, err);
}
