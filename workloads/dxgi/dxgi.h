/* SPDX-License-Identifier: MIT */
#pragma once

/* The adapters that DXGI lists, on which Direct3D 11 and 12 work. Programs need dxgi_api. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/directx/directx.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define DXGI_LIBRARY "dxgi.dll"

struct dxgi {
	IDXGIFactory1 *factory;
	size_t count;
	IDXGIAdapter1 *adapters[API_DEVICES_MAX];
	bool emulated;	    /* Wine emulates Windows */
	char renderer[128]; /* with which an emulator draws; "" otherwise */
};

/* As the `open` and `close` of an api_driver; describes each adapter to the report. ERROR_NOT_FOUND,
 * ERROR_UNSUPPORTED: there is no dxgi.dll, or no adapter that it can use. */
int dxgi_open(struct api_report *report, void *session, struct error *err);
void dxgi_close(void *session);

/* One element of `devices`. */
cJSON *dxgi_describe(const struct dxgi *dxgi, size_t index);

/* A device of Direct3D 11 on an adapter, for encoders. Caller releases *device. Errors of api_load() and
 * hresult_check(). */
int dxgi_open_d3d11(const struct dxgi *dxgi, size_t index, void **device,
		    struct call_failure *failure, struct error *err);
