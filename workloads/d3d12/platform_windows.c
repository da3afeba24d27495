/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/platform.h"

#include "workloads/directx/com.h"
#include "workloads/directx/hresult.h"
#include "workloads/dxcore/dxcore.h"
#include "workloads/dxgi/dxgi.h"

#include <stdlib.h>

const char d3d12_platform_create_device_call[] = "D3D12CreateDevice";

/* Not in every MinGW-w64. */
typedef HRESULT(WINAPI *serialize_root_signature)(const D3D12_ROOT_SIGNATURE_DESC *signature,
						  D3D_ROOT_SIGNATURE_VERSION version,
						  ID3DBlob **blob, ID3DBlob **messages);

struct d3d12_platform {
	PFN_D3D12_CREATE_DEVICE create_device;
	serialize_root_signature serialize_root_signature;
	struct dxgi *dxgi;     /* NULL: no graphics adapter */
	struct dxcore *dxcore; /* NULL: this system has none */
	size_t count;
	IUnknown *adapters[API_DEVICES_MAX]; /* of one of the two */
};

static bool dxgi_has(struct dxgi *dxgi, const LUID *luid)
{
	for (size_t i = 0; dxgi != NULL && i < dxgi->count; i++) {
		DXGI_ADAPTER_DESC1 description = {0};
		if (IDXGIAdapter1_GetDesc1(dxgi->adapters[i], &description) >= 0 &&
		    memcmp(&description.AdapterLuid, luid, sizeof(*luid)) == 0)
			return true;
	}
	return false;
}

/* DXGI knows no compute-only adapters: those come from DXCore, behind the others. */
static int add_compute_only(struct d3d12_platform *platform, struct api_report *report,
			    struct error *err)
{
	struct dxcore *dxcore = platform->dxcore;
	int rc = 0;
	for (size_t i = 0; rc == 0 && dxcore != NULL && i < dxcore->count; i++) {
		const struct dxcore_adapter *adapter = &dxcore->adapters[i];
		if (!adapter->attributes[DXCORE_CORE_COMPUTE] ||
		    dxgi_has(platform->dxgi, &adapter->luid) || platform->count == API_DEVICES_MAX)
			continue;
		rc = api_report_device(report, dxcore_describe(adapter, platform->count), err);
		platform->adapters[platform->count++] = (IUnknown *)adapter->object;
	}
	return rc;
}

/* Where there are compute-only adapters alone, it is no failure that DXGI has none. */
static int list_adapters(struct d3d12_platform *platform, struct api_report *report,
			 struct error *err)
{
	struct error reason = {0};
	struct error ignored = {0};
	int found = dxgi_open(report, &platform->dxgi, &reason);
	for (size_t i = 0; found == 0 && i < platform->dxgi->count; i++)
		platform->adapters[platform->count++] = (IUnknown *)platform->dxgi->adapters[i];
	(void)dxcore_open(NULL, &platform->dxcore, &ignored);
	int rc = add_compute_only(platform, report, err);
	if (rc == 0 && found != 0 && platform->count == 0) {
		*err = reason;
		return found;
	}
	return rc;
}

int d3d12_platform_open(struct api_report *report, struct d3d12_platform **out, struct error *err)
{
	struct d3d12_platform *platform = calloc(1, sizeof(*platform));
	if (platform == NULL)
		return error_memory(err);
	const struct api_function functions[] = {
		{"D3D12CreateDevice", &platform->create_device},
		{"D3D12SerializeRootSignature", &platform->serialize_root_signature},
		{NULL, NULL},
	};
	int rc = api_load(report, D3D12_LIBRARY, functions, err);
	if (rc == 0)
		rc = list_adapters(platform, report, err);
	if (rc == 0)
		*out = platform;
	else
		d3d12_platform_free(platform);
	return rc;
}

void d3d12_platform_free(struct d3d12_platform *platform)
{
	if (platform == NULL)
		return;
	dxcore_free(platform->dxcore);
	dxgi_free(platform->dxgi);
	free(platform);
}

HRESULT d3d12_platform_create_device(struct d3d12_platform *platform, size_t index,
				     D3D_FEATURE_LEVEL level, ID3D12Device **out)
{
	return platform->create_device(platform->adapters[index], level, &IID_ID3D12Device,
				       (void **)out);
}

HRESULT d3d12_platform_serialize(struct d3d12_platform *platform,
				 const D3D12_ROOT_SIGNATURE_DESC *signature, ID3DBlob **blob,
				 ID3DBlob **messages)
{
	return platform->serialize_root_signature(signature, D3D_ROOT_SIGNATURE_VERSION_1, blob,
						  messages);
}

HRESULT d3d12_platform_wait(ID3D12Fence *fence, uint64_t value, uint64_t timeout_ms)
{
	HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
	HRESULT result = 0;
	if (event == NULL)
		return HRESULT_FROM_WIN32(GetLastError());
	result = ID3D12Fence_SetEventOnCompletion(fence, value, event);
	if (result >= 0 && WaitForSingleObject(event, (DWORD)timeout_ms) == WAIT_TIMEOUT)
		return result; /* the event stays: the fence may still signal it */
	(void)CloseHandle(event);
	return result;
}
