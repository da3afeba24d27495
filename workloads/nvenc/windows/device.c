/* SPDX-License-Identifier: MIT */
#include "workloads/nvenc/nvenc.h"

#include "workloads/dxgi/dxgi.h"

const struct api_driver *const nvenc_devices = &dxgi_api;
const NV_ENC_DEVICE_TYPE nvenc_device_type = NV_ENC_DEVICE_TYPE_DIRECTX;

int nvenc_device_open(struct nvenc *nvenc, size_t index, struct call_failure *failure,
		      struct error *err)
{
	return dxgi_open_d3d11(nvenc->devices, index, &nvenc->device, failure, err);
}

void nvenc_device_close(struct nvenc *nvenc)
{
	com_release(nvenc->device);
	nvenc->device = NULL;
}
