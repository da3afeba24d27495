/* SPDX-License-Identifier: MIT */
/* Defines the identifiers of the interfaces, which their headers only declare. */
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

static const struct code_advice results[] = {
#include "workloads/directx/results.h" /* generated from the headers of Windows, or of vkd3d */
	/* Not in the latter. */
	{HRESULT_DXGI_UNSUPPORTED, "DXGI_ERROR_UNSUPPORTED", NULL},
	{HRESULT_DXGI_DEVICE_REMOVED, "DXGI_ERROR_DEVICE_REMOVED", NULL},
	{HRESULT_DXGI_DEVICE_HUNG, "DXGI_ERROR_DEVICE_HUNG", NULL},
	{HRESULT_DXGI_DEVICE_RESET, "DXGI_ERROR_DEVICE_RESET", NULL},
};

static const char *name_of(int32_t result)
{
	return code_name(results, ARRAY_SIZE(results), result);
}

bool hresult_is_removal(int32_t result)
{
	return result >= HRESULT_DXGI_DEVICE_REMOVED && result <= HRESULT_DXGI_DEVICE_RESET;
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
