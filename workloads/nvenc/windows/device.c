/* SPDX-License-Identifier: MIT */
#include "workloads/nvenc/nvenc.h"

#include "workloads/directx/wine.h"
#include "workloads/dxgi/dxgi.h"

#define D3D11_LIBRARY "d3d11.dll"

int nvenc_devices_open(struct nvenc *nvenc, struct api_report *report, struct error *err)
{
	struct dxgi *dxgi = NULL;
	wine_name(report->emulator, sizeof(report->emulator));
	int rc = dxgi_open(report, &dxgi, err);
	nvenc->devices = dxgi;
	return rc;
}

void nvenc_devices_close(struct nvenc *nvenc)
{
	dxgi_free(nvenc->devices);
}

int nvenc_device_open(struct nvenc *nvenc, size_t index, struct error *err)
{
	const struct dxgi *dxgi = nvenc->devices;
	PFN_D3D11_CREATE_DEVICE create = NULL;
	const struct api_function functions[] = {{"D3D11CreateDevice", &create}, {NULL, NULL}};
	ID3D11Device *device = NULL;
	int rc = api_load(NULL, D3D11_LIBRARY, functions, err);
	if (rc == 0)
		rc = hresult_check(create((IDXGIAdapter *)dxgi->adapters[index],
					  D3D_DRIVER_TYPE_UNKNOWN, NULL, 0, NULL, 0,
					  D3D11_SDK_VERSION, &device, NULL, NULL),
				   "D3D11CreateDevice", &nvenc->failure, err);
	nvenc->device_type = NV_ENC_DEVICE_TYPE_DIRECTX;
	nvenc->device = device;
	return rc;
}

void nvenc_device_close(struct nvenc *nvenc)
{
	com_release(nvenc->device);
	nvenc->device = NULL;
}
