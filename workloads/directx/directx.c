/* SPDX-License-Identifier: MIT */
/* So that the identifiers of the interfaces, which their headers only declare, are here. */
#define INITGUID
#include "workloads/directx/directx.h"

#include "base/cleanup.h"
#include "workloads/directx/triangle_pixel.h" /* generated from shaders/ */
#include "workloads/directx/triangle_vertex.h"
#include "workloads/directx/work_dxbc.h"
#include "workloads/directx/work_dxil.h"

/* Embedded files end with a NUL of their own. */
#define SHADER(name) const struct directx_shader directx_##name = {name, sizeof(name) - 1}
SHADER(work_dxbc);
SHADER(work_dxil);
SHADER(triangle_vertex);
SHADER(triangle_pixel);

static const struct code_name names[] = {
	{0x80004001u, "E_NOTIMPL"},
	{0x80004002u, "E_NOINTERFACE"},
	{0x80004003u, "E_POINTER"},
	{0x80004004u, "E_ABORT"},
	{0x80004005u, "E_FAIL"},
	{0x8000FFFFu, "E_UNEXPECTED"},
	{0x80070005u, "E_ACCESSDENIED"},
	{0x80070006u, "E_HANDLE"},
	{0x8007000Eu, "E_OUTOFMEMORY"},
	{0x80070057u, "E_INVALIDARG"},
	{0x887A0001u, "DXGI_ERROR_INVALID_CALL"},
	{0x887A0002u, "DXGI_ERROR_NOT_FOUND"},
	{0x887A0004u, "DXGI_ERROR_UNSUPPORTED"},
	{0x887A0005u, "DXGI_ERROR_DEVICE_REMOVED"},
	{0x887A0006u, "DXGI_ERROR_DEVICE_HUNG"},
	{0x887A0007u, "DXGI_ERROR_DEVICE_RESET"},
	{0x887A0020u, "DXGI_ERROR_DRIVER_INTERNAL_ERROR"},
	{0x887A0022u, "DXGI_ERROR_NOT_CURRENTLY_AVAILABLE"},
	{0x887A0024u, "DXGI_ERROR_REMOTE_OUTOFMEMORY"},
	{0x887A002Bu, "DXGI_ERROR_ACCESS_DENIED"},
	{0x887A002Du, "DXGI_ERROR_SDK_COMPONENT_MISSING"},
	{0x887C0001u, "D3D11_ERROR_TOO_MANY_UNIQUE_STATE_OBJECTS"},
	{0x887E0001u, "D3D12_ERROR_ADAPTER_NOT_FOUND"},
	{0x887E0002u, "D3D12_ERROR_DRIVER_VERSION_MISMATCH"},
	{0xC00D36B2u, "MF_E_INVALIDREQUEST"},
	{0xC00D36B3u, "MF_E_INVALIDSTREAMNUMBER"},
	{0xC00D36B4u, "MF_E_INVALIDMEDIATYPE"},
	{0xC00D36B5u, "MF_E_NOTACCEPTING"},
	{0xC00D36B6u, "MF_E_NOT_INITIALIZED"},
	{0xC00D36B9u, "MF_E_NO_MORE_TYPES"},
	{0xC00D36BAu, "MF_E_UNSUPPORTED_SERVICE"},
	{0xC00D36D5u, "MF_E_NOT_FOUND"},
	{0xC00D36E6u, "MF_E_ATTRIBUTENOTFOUND"},
	{0xC00D3E85u, "MF_E_SHUTDOWN"},
	{0xC00D6D60u, "MF_E_TRANSFORM_TYPE_NOT_SET"},
	{0xC00D6D61u, "MF_E_TRANSFORM_STREAM_CHANGE"},
	{0xC00D6D72u, "MF_E_TRANSFORM_NEED_MORE_INPUT"},
	{0xC00D6D77u, "MF_E_TRANSFORM_ASYNC_LOCKED"},
};

static const char *name_of(int32_t result)
{
	return code_name(names, ARRAY_SIZE(names), (uint32_t)result);
}

bool hresult_is_removal(int32_t result)
{
	return (uint32_t)result >= 0x887A0005u && (uint32_t)result <= 0x887A0007u;
}

int hresult_check(int32_t result, const char *call, struct call_failure *failure, struct error *err)
{
	const char *name = name_of(result);
	if (result >= 0)
		return 0;
	if (failure != NULL)
		*failure = (struct call_failure){.call = call, .code = result, .code_name = name};
	return error_set(err, result == HRESULT_DXGI_UNSUPPORTED ? ERROR_UNSUPPORTED : ERROR_REMOTE,
			 "%s: %s (0x%08x)", call, name != NULL ? name : "unknown error",
			 (unsigned)result);
}

void hresult_add_removal(int32_t reason, struct error *err)
{
	const char *name = name_of(reason);
	const struct error before = *err;
	if (reason < 0)
		(void)error_set(err, before.code, "%s; the device was removed: %s (0x%08x)",
				before.text, name != NULL ? name : "for an unknown reason",
				(unsigned)reason);
}

void com_release(void *object)
{
	IUnknown *unknown = object;
	if (unknown != NULL)
		(void)unknown->lpVtbl->Release(unknown);
}

void com_release_all(void *const *objects, size_t count)
{
	for (size_t i = 0; i < count; i++)
		com_release(objects[i]);
}
