/* SPDX-License-Identifier: MIT */
#include "workloads/d3d11/d3d11.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "workloads/directx/hresult.h"

#include <stdio.h>

int d3d11_check(struct d3d11_device *gpu, HRESULT result, const char *call, struct error *err)
{
	int code = hresult_check((int32_t)result, call, &gpu->d3d->failure, err);

	if (code != 0 && hresult_is_removal((int32_t)result) && gpu->device != NULL)
		hresult_add_removal((int32_t)ID3D11Device_GetDeviceRemovedReason(gpu->device), err);
	return code;
}

/* A runtime that does not know a level refuses the whole list, so that each is tried alone. */
static HRESULT create(struct d3d11_device *gpu, IDXGIAdapter1 *adapter, D3D_FEATURE_LEVEL *level)
{
	static const D3D_FEATURE_LEVEL levels[] = {D3D_FEATURE_LEVEL_12_1, D3D_FEATURE_LEVEL_12_0,
						   D3D_FEATURE_LEVEL_11_1, D3D_FEATURE_LEVEL_11_0};
	HRESULT result = 0;

	for (size_t i = 0; i < ARRAY_SIZE(levels) && gpu->device == NULL; i++)
		result = gpu->d3d->create_device((IDXGIAdapter *)adapter, D3D_DRIVER_TYPE_UNKNOWN,
						 NULL, 0, &levels[i], 1, D3D11_SDK_VERSION,
						 &gpu->device, level, &gpu->context);
	return result;
}

int d3d11_device_open(struct d3d11 *d3d, const struct work_request *request,
		      struct d3d11_device *gpu, struct work_report *report, struct error *err)
{
	const D3D11_QUERY_DESC query = {.Query = D3D11_QUERY_EVENT};
	D3D_FEATURE_LEVEL level = 0;

	*gpu = (struct d3d11_device){.d3d = d3d, .timeout_ms = request->timeout_ms};
	int code = d3d11_check(gpu, create(gpu, d3d->dxgi->adapters[request->device], &level),
			       "D3D11CreateDevice", err);

	if (code != 0)
		return code;
	if (gpu->device == NULL || gpu->context == NULL)
		return error_set(err, ERROR_REMOTE,
				 "D3D11CreateDevice succeeded and made no device");
	(void)snprintf(report->feature_level, sizeof(report->feature_level), "%u_%u",
		       (unsigned)level >> 12, ((unsigned)level >> 8) & 0xFu);
	return d3d11_check(gpu, ID3D11Device_CreateQuery(gpu->device, &query, &gpu->finished),
			   "ID3D11Device::CreateQuery", err);
}

void d3d11_device_free(struct d3d11_device *gpu)
{
	if (gpu->d3d == NULL || gpu->d3d->abandoned)
		return;
	com_release(gpu->finished);
	com_release(gpu->context);
	com_release(gpu->device);
}

/* Direct3D 11 has no wait with a time limit, so the query is asked until it is answered. */
int d3d11_device_wait(struct d3d11_device *gpu, struct error *err)
{
	const uint64_t deadline_ms = clock_monotonic_ms() + gpu->timeout_ms;
	ID3D11Asynchronous *query = (ID3D11Asynchronous *)gpu->finished;
	WINBOOL finished = FALSE;
	HRESULT result = S_FALSE;

	ID3D11DeviceContext_End(gpu->context, query);
	for (;;) {
		result = ID3D11DeviceContext_GetData(gpu->context, query, &finished,
						     sizeof(finished), 0);
		if (result < 0)
			return d3d11_check(gpu, result, "ID3D11DeviceContext::GetData", err);
		if (result == S_OK)
			break;
		if (clock_monotonic_ms() >= deadline_ms) {
			gpu->d3d->abandoned = true;
			return error_set(err, ERROR_TIMEOUT,
					 "the event query was not answered within %llu ms: the "
					 "device did not finish",
					 (unsigned long long)gpu->timeout_ms);
		}
		clock_sleep_ms(1);
	}
	return d3d11_check(gpu, ID3D11Device_GetDeviceRemovedReason(gpu->device),
			   "ID3D11Device::GetDeviceRemovedReason", err);
}

int d3d11_create_buffer(struct d3d11_device *gpu, const D3D11_BUFFER_DESC *description,
			const void *data, ID3D11Buffer **out, struct error *err)
{
	const D3D11_SUBRESOURCE_DATA initial = {.pSysMem = data};

	return d3d11_check(gpu,
			   ID3D11Device_CreateBuffer(gpu->device, description,
						     data != NULL ? &initial : NULL, out),
			   "ID3D11Device::CreateBuffer", err);
}
