/* SPDX-License-Identifier: MIT */
#pragma once

/* Direct3D 12 as probes use it. Shared by the files of this folder and by DirectML, which works on a
 * device of Direct3D 12. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"
#include "workloads/d3d12/platform.h"
#include "workloads/directx/d3d12_headers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct d3d12 {
	struct d3d12_platform *platform;
	bool abandoned; /* the device did not finish: nothing may be released */
};

/* Loads and enumerates; as the `open` and `close` of an api_driver. */
int d3d12_open(struct api_report *report, void **session, struct error *err);
bool d3d12_close(void *session);

/* device.c: a device with one queue, and one command list that is recorded, run and waited for. */
struct d3d12_device {
	struct d3d12 *d3d;
	const struct work_request *request;
	struct work_report *report;
	ID3D12Device *device;
	bool graphics; /* false: compute and copies alone (feature level 1_0_CORE) */
	ID3D12CommandQueue *queue;
	ID3D12CommandAllocator *allocator;
	ID3D12GraphicsCommandList *list; /* being recorded */
	ID3D12Fence *fence;
	uint64_t fence_value;
};

/* Errors as hresult_check() tells them, with the reason of the removal when the device is gone. */
int d3d12_check(struct d3d12_device *gpu, HRESULT result, const char *call, struct error *err);

/* d3d12_check() of a method. */
#define D3D12_CALL(gpu, err, interface, method, ...)                                               \
	d3d12_check(gpu, interface##_##method(__VA_ARGS__), #interface "::" #method, err)

/* Opens the device that is asked for, at feature level 11_0 or as a compute-only one; tells the
 * level. */
int d3d12_device_open(struct d3d12_device *gpu, struct error *err);
void d3d12_device_free(struct d3d12_device *gpu);

/* Runs what was recorded, waits for it, and begins to record anew. ERROR_TIMEOUT: the device did
 * not finish and d3d->abandoned is set. */
int d3d12_device_run(struct d3d12_device *gpu, struct error *err);

/* memory.c */
int d3d12_create_buffer(struct d3d12_device *gpu, D3D12_HEAP_TYPE heap, size_t size,
			D3D12_RESOURCE_FLAGS flags, ID3D12Resource **out, struct error *err);
/* Of buffers that the processor sees; they stay mapped as long as they live. */
int d3d12_map(struct d3d12_device *gpu, ID3D12Resource *buffer, uint8_t **out, struct error *err);
void d3d12_record_transition(struct d3d12_device *gpu, ID3D12Resource *resource,
			     D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after);

/* pipeline.c: `constants` 32-bit constants at b0, then `buffers` unordered access views from u0 on.
 */
int d3d12_create_root_signature(struct d3d12_device *gpu, unsigned constants, unsigned buffers,
				ID3D12RootSignature **out, struct error *err);

/* compute.c, render.c: the work and the picture. Errors as for the `work` of an api_driver. */
int d3d12_work(void *session, const struct work_request *request, struct work_report *report,
	       struct error *err);
int d3d12_render(struct d3d12_device *gpu, struct error *err);
