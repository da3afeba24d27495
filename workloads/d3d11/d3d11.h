/* SPDX-License-Identifier: MIT */
#pragma once

/* Direct3D 11 as probes use it. Shared by the files of this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"
#include "workloads/dxgi/dxgi.h"

#define D3D11_LIBRARY "d3d11.dll"

struct d3d11 {
	struct dxgi dxgi; /* first: dxgi_close() closes it */
	PFN_D3D11_CREATE_DEVICE create_device;
};

/* A device and its immediate context. */
struct d3d11_device {
	struct d3d11 *d3d;
	const struct work_request *request;
	struct work_report *report;
	ID3D11Device *device;
	ID3D11DeviceContext *context;
	ID3D11Query *finished; /* of the event kind */
};

/* Errors of hresult_check(), with the reason of the removal when the device is gone. */
int d3d11_check(struct d3d11_device *gpu, HRESULT result, const char *call, struct error *err);

/* d3d11_check() of a method. */
#define D3D11_CALL(gpu, err, interface, method, ...)                                               \
	d3d11_check(gpu, interface##_##method(__VA_ARGS__), #interface "::" #method, err)

/* Opens the requested device at feature level 11_0 or higher, and reports the level. A step of work that
 * begins with the device. */
int d3d11_device_open(void *device, struct error *err);
void d3d11_device_free(struct d3d11_device *gpu);

/* Waits for everything that was asked of the context. ERROR_TIMEOUT: it did not finish, and nothing
 * may be released any more. */
int d3d11_device_wait(struct d3d11_device *gpu, struct error *err);

/* work.c: errors as for the `work` of an api_driver. */
int d3d11_work(void *session, const struct work_request *request, struct work_report *report,
	       struct error *err);
