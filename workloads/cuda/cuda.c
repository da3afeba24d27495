/* SPDX-License-Identifier: MIT */
#include "workloads/cuda/cuda.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>

static int load(struct cuda *cuda, struct api_report *report, struct error *err)
{
#define FUNCTION(member, name, parameters) {name, &cuda->member},
	const struct api_function functions[] = {CUDA_FUNCTIONS(FUNCTION){NULL, NULL}};
#undef FUNCTION
	/* The second version tells the UUID of a part of a device (MIG) instead of the whole one's.
	 */
	const struct api_function uuid[] = {{"cuDeviceGetUuid_v2", &cuda->cuDeviceGetUuid},
					    {NULL, NULL}};
	const struct api_function old[] = {{"cuDeviceGetUuid", &cuda->cuDeviceGetUuid},
					   {NULL, NULL}};
	const struct api_function luid[] = {{"cuDeviceGetLuid", &cuda->cuDeviceGetLuid},
					    {NULL, NULL}};
	int rc = api_load(report, CUDA_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	if (api_load(NULL, CUDA_LIBRARY, uuid, NULL) != 0)
		(void)api_load(NULL, CUDA_LIBRARY, old, NULL);
	(void)api_load(NULL, CUDA_LIBRARY, luid, NULL);
	return 0;
}

/* A driver without any device is a driver that works. */
static int initialize(struct cuda *cuda, struct api_report *report, int *count, struct error *err)
{
	int version = 0;
	if (cuda->cuDriverGetVersion(&version) == CUDA_SUCCESS)
		(void)snprintf(report->version, sizeof(report->version), "%d.%d", version / 1000,
			       version % 1000 / 10);
	cuda_result result = cuda->cuInit(0);
	struct error why = {0};
	if (result == CUDA_ERROR_NO_DEVICE) {
		(void)cuda_check(cuda, result, "cuInit", &why);
		api_report_message(report, why.text);
		return 0;
	}
	int rc = cuda_check(cuda, result, "cuInit", err);
	return rc == 0 ? CUDA_CALL(cuda, err, cuDeviceGetCount, count) : rc;
}

static int enumerate(struct cuda *cuda, struct api_report *report, struct error *err)
{
	int count = 0;
	int rc = initialize(cuda, report, &count, err);
	for (int i = 0; rc == 0 && i < count && i < API_DEVICES_MAX; i++) {
		rc = CUDA_CALL(cuda, err, cuDeviceGet, &cuda->devices[i], i);
		if (rc == 0)
			cuda->device_count++;
	}
	for (int i = 0; rc == 0 && i < cuda->device_count; i++)
		rc = api_report_device(report, cuda_describe(cuda, report, i), err);
	return rc;
}

static int cuda_open(struct api_report *report, void **session, struct error *err)
{
	struct cuda *cuda CLEANUP_FREE = calloc(1, sizeof(*cuda));
	if (cuda == NULL)
		return error_memory(err);
	int rc = load(cuda, report, err);
	if (rc == 0)
		rc = enumerate(cuda, report, err);
	if (rc == 0)
		*session = STEAL(cuda);
	return rc;
}

const struct api_driver cuda_api = {
	.name = "cuda",
	.library = CUDA_LIBRARY,
	.summary = "Run verified work on a CUDA device and report what happened",
	.description =
		"Opens the library of NVIDIA's driver, enumerates the devices, has the driver compile kernels for one of "
		"them, runs them and verifies every element of the results on the CPU. An estimate of pi by random points "
		"is judged by its statistical error. How fast data went to the device and back is recorded.",
	.open = cuda_open,
	.work = cuda_work,
	.close = free,
};
