/* SPDX-License-Identifier: MIT */
#include "workloads/nvenc/nvenc.h"

#include "workloads/cuda/cuda.h"

const struct api_driver *const nvenc_devices = &cuda_api;
const NV_ENC_DEVICE_TYPE nvenc_device_type = NV_ENC_DEVICE_TYPE_CUDA;

/* The context becomes the thread's current one. */
int nvenc_device_open(struct nvenc *nvenc, size_t index, struct call_failure *failure,
		      struct error *err)
{
	struct cuda *cuda = nvenc->devices;
	cuda_context context = NULL;

	int rc = API_CALL(cuda, err, cuCtxCreate, &context, 0, cuda->devices[index]);
	*failure = cuda->calls.failure;
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
