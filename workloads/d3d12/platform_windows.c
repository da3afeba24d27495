/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/platform.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "workloads/directx/com.h"
#include "workloads/directx/hresult.h"
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
	struct dxgi *dxgi;
};

static int load(struct d3d12_platform *platform, struct api_report *report, struct error *err)
{
	void *library = NULL;
	int code = library_open(D3D12_LIBRARY, &library, err);

	if (code != 0)
		return code;
	api_report_loaded(report, library);
	if (library_function(library, "D3D12CreateDevice", &platform->create_device, NULL) != 0 ||
	    library_function(library, "D3D12SerializeRootSignature",
			     &platform->serialize_root_signature, NULL) != 0)
		return error_set(err, ERROR_UNAVAILABLE,
				 D3D12_LIBRARY " lacks functions of Direct3D 12");
	return 0;
}

int d3d12_platform_open(struct api_report *report, struct d3d12_platform **out, struct error *err)
{
	struct d3d12_platform *platform CLEANUP_FREE = calloc(1, sizeof(*platform));
	struct error reason = {0};
	int code = platform != NULL ? load(platform, report, &reason) : error_memory(&reason);

	if (code == ERROR_MEMORY)
		return error_memory(err);
	if (code == ERROR_NOT_FOUND)
		api_report_unsupported(report, D3D12_LIBRARY, &reason);
	else if (code != 0)
		api_report_failed(report, &reason);
	if (code != 0)
		return 0;
	if (dxgi_open(&platform->dxgi, &reason) != 0)
		return dxgi_report_failure(report, &reason, err);
	code = dxgi_report(platform->dxgi, report, err);
	if (code != 0)
		dxgi_free(platform->dxgi);
	else
		*out = STEAL(platform);
	return code;
}

void d3d12_platform_free(struct d3d12_platform *platform)
{
	dxgi_free(platform->dxgi);
	free(platform);
}

size_t d3d12_platform_count(const struct d3d12_platform *platform)
{
	return platform->dxgi->count;
}

HRESULT d3d12_platform_create_device(struct d3d12_platform *platform, size_t index,
				     D3D_FEATURE_LEVEL level, ID3D12Device **out)
{
	return platform->create_device((IUnknown *)platform->dxgi->adapters[index], level,
				       &IID_ID3D12Device, (void **)out);
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
