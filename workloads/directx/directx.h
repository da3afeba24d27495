/* SPDX-License-Identifier: MIT */
#pragma once

/* The common parts of the DirectX APIs: their headers for C, their results, shaders, and Wine in the
 * place of Windows. No API of its own: each has a folder next to this. */

#include "base/error.h"
#include "workloads/common/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The Windows SDK, or Direct3D 12 of vkd3d. Methods that return structures get a pointer to the
 * result as their first argument, as their callers in C++ do. */
#define COBJMACROS
#define WIDL_EXPLICIT_AGGREGATE_RETURNS
#ifdef _WIN32
#include <d3d11.h>
#include <d3d12.h>
#include <dxgi1_4.h>
#else
#include <vkd3d.h>
#endif

/* Source: winerror.h and dxgi.h of the Windows SDK. */
enum {
	HRESULT_DXGI_NOT_FOUND = (int32_t)0x887A0002,
	HRESULT_DXGI_UNSUPPORTED = (int32_t)0x887A0004,
	HRESULT_DXGI_DEVICE_REMOVED = (int32_t)0x887A0005,
	HRESULT_DXGI_DEVICE_HUNG = (int32_t)0x887A0006,
	HRESULT_DXGI_DEVICE_RESET = (int32_t)0x887A0007,
};

/* The device is gone, and the runtime knows the reason. */
bool hresult_is_removal(int32_t result);

/* 0 when the call succeeded; otherwise keeps call and code in `failure` (NULL: nowhere) and returns
 * ERROR_REMOTE, or ERROR_UNSUPPORTED for a feature that the device or the system does not offer. */
int hresult_check(int32_t result, const char *call, struct call_failure *failure,
		  struct error *err);

/* Adds the reason of the removal to an error of hresult_check(). */
void hresult_add_removal(int32_t reason, struct error *err);

/* Releases an object of any interface; NULL: nothing. */
void com_release(void *object);

/* com_release() of several objects, in this order. */
#define COM_RELEASE(...)                                                                           \
	com_release_all((void *const[]){__VA_ARGS__},                                              \
			sizeof((void *const[]){__VA_ARGS__}) / sizeof(void *))
void com_release_all(void *const *objects, size_t count);

/* The shaders of shaders/ as the Direct3D compilers made them. */
struct directx_shader {
	const char *bytecode;
	size_t size;
};
extern const struct directx_shader directx_work_dxbc, directx_work_dxil, directx_triangle_vertex,
	directx_triangle_pixel;

/* Only on Windows: "Wine 10.0" where Wine emulates it, else "". Wine's Direct3D describes an invented
 * graphics card and draws through OpenGL (up to Direct3D 11) and Vulkan (12), so that the vendor of an
 * adapter says nothing about the device that does the work. */
void wine_name(char *out, size_t size);
