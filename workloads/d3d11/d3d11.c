/* SPDX-License-Identifier: MIT */
#include "workloads/d3d11/d3d11.h"

#include "base/cleanup.h"

#include <stdio.h>

int d3d11_check(struct d3d11_device *gpu, HRESULT result, const char *call, struct error *err)
{
	int rc = hresult_check(result, call, &gpu->report->failure, err);
	if (rc != 0 && hresult_is_removal(result) && gpu->device != NULL)
		hresult_add_removal(ID3D11Device_GetDeviceRemovedReason(gpu->device), err);
	return rc;
}

int d3d11_device_open(void *device, struct error *err)
{
	static const D3D_FEATURE_LEVEL levels[] = {D3D_FEATURE_LEVEL_12_1, D3D_FEATURE_LEVEL_12_0,
						   D3D_FEATURE_LEVEL_11_1, D3D_FEATURE_LEVEL_11_0};
	struct d3d11_device *gpu = device;
	const D3D11_QUERY_DESC query = {.Query = D3D11_QUERY_EVENT};
	D3D_FEATURE_LEVEL level = 0;
	HRESULT result = 0;

	/* A runtime that does not know a level refuses the whole list, so each is tried separately. */
	for (size_t i = 0; i < ARRAY_SIZE(levels) && gpu->device == NULL; i++)
		result = gpu->d3d->create_device(
			(IDXGIAdapter *)gpu->d3d->dxgi.adapters[gpu->request->device],
			D3D_DRIVER_TYPE_UNKNOWN, NULL, 0, &levels[i], 1, D3D11_SDK_VERSION,
			&gpu->device, &level, &gpu->context);
	int rc = d3d11_check(gpu, result, "D3D11CreateDevice", err);
	if (rc != 0)
		return rc;
	if (gpu->device == NULL || gpu->context == NULL)
		return error_set(err, ERROR_REMOTE,
				 "D3D11CreateDevice succeeded and made no device");
	(void)snprintf(gpu->report->feature_level, sizeof(gpu->report->feature_level), "%u_%u",
		       (unsigned)level >> 12, ((unsigned)level >> 8) & 0xFu);
	return D3D11_CALL(gpu, err, ID3D11Device, CreateQuery, gpu->device, &query, &gpu->finished);
}

void d3d11_device_free(struct d3d11_device *gpu)
{
	COM_RELEASE(gpu->finished, gpu->context, gpu->device);
}

static int is_finished(void *work, struct error *err)
{
	struct d3d11_device *gpu = work;
	WINBOOL finished = FALSE;
	HRESULT result = ID3D11DeviceContext_GetData(
		gpu->context, (ID3D11Asynchronous *)gpu->finished, &finished, sizeof(finished), 0);
	int rc = d3d11_check(gpu, result, "ID3D11DeviceContext::GetData", err);
	if (rc != 0)
		return rc;
	return result == S_OK;
}

int d3d11_device_wait(struct d3d11_device *gpu, struct error *err)
{
	ID3D11DeviceContext_End(gpu->context, (ID3D11Asynchronous *)gpu->finished);
	int rc = work_wait(gpu->request, is_finished, gpu, err);
	if (rc != 0)
		return rc;
	return D3D11_CALL(gpu, err, ID3D11Device, GetDeviceRemovedReason, gpu->device);
}

static int d3d11_open(struct api_report *report, void *session, struct error *err)
{
	struct d3d11 *d3d = session;
	int rc = api_load_one(report, D3D11_LIBRARY, "D3D11CreateDevice", &d3d->create_device, err);
	if (rc == 0)
		rc = dxgi_open(report, &d3d->dxgi, err);
	return rc;
}

const struct api_driver d3d11_api = {
	.name = "d3d11",
	.library = D3D11_LIBRARY,
	.summary = "Run verified work on a Direct3D 11 device and report what happened",
	.description =
		"Opens Direct3D 11, enumerates the adapters, runs a compute shader on one of them and draws a triangle "
		"off-screen, and verifies every element and every pixel on the CPU.",
	.session_size = sizeof(struct d3d11),
	.open = d3d11_open,
	.work = d3d11_work,
	.close = dxgi_close,
};
