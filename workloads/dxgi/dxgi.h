/* SPDX-License-Identifier: MIT */
#pragma once

/* The adapters that DXGI tells: what Direct3D 11 and 12 work on. dxgi_api is what programs need. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/program.h"
#include "workloads/common/work.h"

#define COBJMACROS
#include <dxgi.h>

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define DXGI_LIBRARY "dxgi.dll"

struct dxgi {
	IDXGIFactory1 *factory;
	size_t count;
	IDXGIAdapter1 *adapters[API_DEVICES_MAX];
	struct call_failure failure;
	char emulator[32];  /* "Wine 10.0"; "" on Windows itself */
	char renderer[128]; /* what the emulator draws with; "" otherwise */
};

extern const struct api_driver dxgi_api;

/* Loads and enumerates. ERROR_NOT_FOUND: there is no dxgi.dll. ERROR_UNSUPPORTED: there is no
 * adapter that it can use. ERROR_REMOTE, ERROR_UNAVAILABLE, ERROR_MEMORY. */
int dxgi_open(struct dxgi **out, struct error *err);
void dxgi_free(struct dxgi *dxgi);

/* One element of `devices`. NULL: out of memory. */
cJSON *dxgi_describe(struct dxgi *dxgi, size_t index);

/* Adds every adapter to the report, and the emulator. ERROR_MEMORY. */
int dxgi_report(struct dxgi *dxgi, struct api_report *report, struct error *err);

/* Turns an error of dxgi_open() into the report. Returns 0 or ERROR_MEMORY. */
int dxgi_report_failure(struct api_report *report, const struct error *reason, struct error *err);
