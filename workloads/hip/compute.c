/* SPDX-License-Identifier: MIT */
#include "workloads/hip/hip.h"

#include "base/cleanup.h"

#include <stdlib.h>

struct computation {
	struct hip *hip;
	const struct work_request *request;
	struct work_report *report;
	hip_stream stream;
	hip_module module;
	hip_function function;
	void *image;
	void *memory[WORK_ARRAYS]; /* of the device */
	struct work_data data;	   /* in host memory that copies do not have to stage */
	size_t array_size;	   /* bytes of one */
};

static const struct hip_device *device_of(const struct computation *c)
{
	return &c->hip->devices[c->request->device];
}

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = HIP_CALL(c->hip, err, hipSetDevice, device_of(c)->ordinal);
	return rc == 0 ? HIP_CALL(c->hip, err, hipStreamCreate, &c->stream) : rc;
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = hip_build(c->hip, device_of(c), &c->image, c->report, err);
	if (rc == 0)
		rc = HIP_CALL(c->hip, err, hipModuleLoadData, &c->module, c->image);
	return rc == 0 ? HIP_CALL(c->hip, err, hipModuleGetFunction, &c->function, c->module,
				  "work")
		       : rc;
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++) {
		rc = HIP_CALL(c->hip, err, hipMalloc, &c->memory[i], c->array_size);
		if (rc == 0)
			rc = HIP_CALL(c->hip, err, hipHostMalloc, &c->data.arrays[i], c->array_size,
				      0);
		if (rc == 0 && (c->memory[i] == NULL || c->data.arrays[i] == NULL))
			rc = error_set(err, ERROR_REMOTE, "%s told success and no address",
				       c->memory[i] == NULL ? "hipMalloc" : "hipHostMalloc");
	}
	if (rc == 0)
		work_fill(&c->data);
	return rc;
}

static int is_finished(void *work, struct error *err)
{
	struct computation *c = work;
	hip_result result = c->hip->hipStreamQuery(c->stream);
	if (result == HIP_NOT_READY)
		return 0;
	int rc = hip_check(c->hip, result, "hipStreamQuery", err);
	return rc == 0 ? 1 : rc;
}

static int finish(struct computation *c, struct error *err)
{
	return work_wait(c->request, is_finished, c, err);
}

static int send(struct computation *c, size_t array, struct error *err)
{
	return HIP_CALL(c->hip, err, hipMemcpyAsync, c->memory[array], c->data.arrays[array],
			c->array_size, HIP_TO_DEVICE, c->stream);
}

static int receive(struct computation *c, size_t array, struct error *err)
{
	return HIP_CALL(c->hip, err, hipMemcpyAsync, c->data.arrays[array], c->memory[array],
			c->array_size, HIP_FROM_DEVICE, c->stream);
}

/* Fills the elements of one array, not the guard behind them, and reads it back. */
static int fill(struct computation *c, struct error *err)
{
	const uint32_t pattern = work_fill_pattern(c->request->seed);
	int rc = send(c, WORK_VALUES, err);
	if (rc == 0)
		rc = HIP_CALL(c->hip, err, hipMemsetD32Async, c->memory[WORK_VALUES], (int)pattern,
			      c->request->elements, c->stream);
	if (rc == 0)
		rc = finish(c, err);
	if (rc != 0)
		return rc;
	work_overwrite(&c->data);
	rc = receive(c, WORK_VALUES, err);
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
		rc = send(c, i, err);
	if (rc == 0)
		rc = finish(c, err);
	if (rc == 0)
		work_overwrite(&c->data);
	return rc;
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	struct work_parameters parameters = work_parameters(c->request);
	const unsigned blocks = (parameters.elements + WORK_GROUP - 1) / WORK_GROUP;
	void *arguments[] = {&c->memory[0],	   &c->memory[1],   &c->memory[2],
			     &parameters.elements, &parameters.key, &parameters.scale};
	int rc = HIP_CALL(c->hip, err, hipModuleLaunchKernel, c->function, blocks,
			  work_groups_y(c->request), work_groups_z(c->request), WORK_GROUP, 1, 1, 0,
			  c->stream, arguments, NULL);
	return rc == 0 ? finish(c, err) : rc;
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = receive(c, i, err);
	return rc == 0 ? finish(c, err) : rc;
}

static void release(struct computation *c)
{
	for (size_t i = 0; i < WORK_ARRAYS; i++) {
		if (c->memory[i] != NULL)
			(void)c->hip->hipFree(c->memory[i]);
		if (c->data.arrays[i] != NULL)
			(void)c->hip->hipHostFree(c->data.arrays[i]);
	}
	if (c->module != NULL)
		(void)c->hip->hipModuleUnload(c->module);
	if (c->stream != NULL)
		(void)c->hip->hipStreamDestroy(c->stream);
	free(c->image);
}

int hip_work(void *session, const struct work_request *request, struct work_report *report,
	     struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,   [WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,    [WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_LOOK] = download,
	};
	struct hip *hip = session;
	struct computation c = {
		.hip = hip,
		.request = request,
		.report = report,
		.data = {.elements = request->elements, .seed = request->seed},
		.array_size = work_array_size(request),
	};
	hip->failure = (struct call_failure){0};
	int rc = work_run(steps, &c, &c.data, report, err);
	report->failure = hip->failure;
	if (rc != ERROR_TIMEOUT)
		release(&c);
	return rc;
}
