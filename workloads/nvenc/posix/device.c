/* SPDX-License-Identifier: MIT */
#include "workloads/nvenc/nvenc.h"

#include "workloads/cuda/cuda.h"

int nvenc_devices_open(struct nvenc *nvenc, struct api_report *report, struct error *err)
{
	int rc = cuda_api.open(report, &nvenc->devices, err);
	if (rc == ERROR_NOT_FOUND && report->missing == NULL)
		report->missing = CUDA_LIBRARY;
	return rc;
}

void nvenc_devices_close(struct nvenc *nvenc)
{
	cuda_api.close(nvenc->devices);
}

/* The context is the thread's from here on. */
int nvenc_device_open(struct nvenc *nvenc, size_t index, struct error *err)
{
	struct cuda *cuda = nvenc->devices;
	cuda_context context = NULL;
	int rc = CUDA_CALL(cuda, err, cuCtxCreate, &context, 0, cuda->devices[index]);
	nvenc->failure = cuda->failure;
	nvenc->device_type = NV_ENC_DEVICE_TYPE_CUDA;
	nvenc->device = context;
	return rc;
}

void nvenc_device_close(struct nvenc *nvenc)
{
	const struct cuda *cuda = nvenc->devices;
	if (nvenc->device != NULL)
		(void)cuda->cuCtxDestroy(nvenc->device);
	nvenc->device = NULL;
}
