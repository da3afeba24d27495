/* SPDX-License-Identifier: MIT */
#pragma once

/* What differs between Direct3D 12 of Windows (d3d12.dll) and vkd3d (libvkd3d.so.1, Direct3D 12 on
 * Vulkan): where the library comes from, the adapters, waiting. Implemented in platform_windows.c
 * and platform_vkd3d.c. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"
#include "workloads/directx/d3d12_headers.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef _WIN32
#define D3D12_LIBRARY "d3d12.dll"
#else
#define D3D12_LIBRARY "libvkd3d.so.1"
#endif

struct d3d12_platform;

/* Loads, lists the adapters and fills the report. Errors as for the `open` of an api_driver. */
int d3d12_platform_open(struct api_report *report, struct d3d12_platform **out, struct error *err);
void d3d12_platform_free(struct d3d12_platform *platform);

HRESULT d3d12_platform_create_device(struct d3d12_platform *platform, size_t index,
				     D3D_FEATURE_LEVEL level, ID3D12Device **out);
extern const char d3d12_platform_create_device_call[]; /* its name in the API */

HRESULT d3d12_platform_serialize(struct d3d12_platform *platform,
				 const D3D12_ROOT_SIGNATURE_DESC *signature, ID3DBlob **blob,
				 ID3DBlob **messages);

/* Waits until the fence reached the value or the time is over; whether it did is asked of the
 * fence. */
HRESULT d3d12_platform_wait(ID3D12Fence *fence, uint64_t value, uint64_t timeout_ms);
