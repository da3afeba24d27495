/* SPDX-License-Identifier: MIT */
#pragma once

/* What the APIs of DirectX share: their headers for C, what their calls return, shaders, and Wine in
 * the place of Windows. No API of its own: each has a folder beside this. */

#include "base/error.h"
#include "workloads/common/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the Windows SDK, or Direct3D 12 of vkd3d. Methods that return structures take a pointer to the
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

/* The device is gone, and the runtime has a reason to tell. */
bool hresult_is_removal(int32_t result);

/* 0 when the call succeeded; otherwise keeps call and code in `failure` (NULL: nowhere) and returns
 * ERROR_REMOTE, or ERROR_UNSUPPORTED for what the device or the system does not offer. */
int hresult_check(int32_t result, const char *call, struct call_failure *failure,
		  struct error *err);

/* Adds why the device was removed to an error of hresult_check(). */
void hresult_add_removal(int32_t reason, struct error *err);

/* Releases an object of any interface; NULL is none. */
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

/* Windows alone: "Wine 10.0" where Wine stands in for it, else "". Wine's Direct3D describes a
 * graphics card that it made up and draws through OpenGL (up to Direct3D 11) and Vulkan (12), so that
 * the vendor of an adapter says nothing about what does the work there. */
void wine_name(char *out, size_t size);
