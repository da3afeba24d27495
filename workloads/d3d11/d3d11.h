/* SPDX-License-Identifier: MIT */
#pragma once

/* Direct3D 11 as probes use it. d3d11_api is what programs need; the rest is shared by the files of
 * this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/program.h"
#include "workloads/common/work.h"
#include "workloads/dxgi/dxgi.h"

#include <d3d11.h>

#include "workloads/directx/com.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define D3D11_LIBRARY "d3d11.dll"

struct d3d11 {
	PFN_D3D11_CREATE_DEVICE create_device;
	struct dxgi *dxgi;
	struct call_failure failure; /* the last call that failed */
	bool abandoned;		     /* the device did not finish: nothing may be released */
};

extern const struct api_driver d3d11_api;

/* device.c: a device and its immediate context. */
struct d3d11_device {
	struct d3d11 *d3d;
	ID3D11Device *device;
	ID3D11DeviceContext *context;
	ID3D11Query *finished; /* of the event kind */
	uint64_t timeout_ms;
};

/* Errors as hresult_check() tells them, with the reason of the removal when the device is gone. */
int d3d11_check(struct d3d11_device *gpu, HRESULT result, const char *call, struct error *err);

/* Opens device `index` of DXGI at feature level 11_0 or higher; tells the level. */
int d3d11_device_open(struct d3d11 *d3d, const struct work_request *request,
		      struct d3d11_device *gpu, struct work_report *report, struct error *err);
void d3d11_device_free(struct d3d11_device *gpu);

/* Waits for everything that was asked of the context. ERROR_TIMEOUT: it did not finish and
 * d3d->abandoned is set. */
int d3d11_device_wait(struct d3d11_device *gpu, struct error *err);

/* A buffer with four-byte elements, of `data` when that is not NULL. */
int d3d11_create_buffer(struct d3d11_device *gpu, const D3D11_BUFFER_DESC *description,
			const void *data, ID3D11Buffer **out, struct error *err);

/* compute.c, render.c: the work and the picture. ERROR_REMOTE, ERROR_TIMEOUT, ERROR_UNSUPPORTED,
 * ERROR_MEMORY. */
int d3d11_compute(struct d3d11 *d3d, const struct work_request *request, struct work_report *report,
		  struct error *err);
int d3d11_render(struct d3d11_device *gpu, struct work_report *report, struct error *err);
