/* SPDX-License-Identifier: MIT */
#pragma once

/* The adapters that DXCore tells: those of DXGI, and compute-only ones. dxcore_api is what programs
 * need. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/program.h"
#include "workloads/common/work.h"
#include "workloads/dxcore/dxcore_abi.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define DXCORE_LIBRARY "dxcore.dll"

struct dxcore_adapter {
	IDXCoreAdapter *object;
	LUID luid;
	bool attributes[DXCORE_ATTRIBUTES];
};

struct dxcore {
	IDXCoreAdapterFactory *factory;
	size_t count;
	struct dxcore_adapter adapters[API_DEVICES_MAX]; /* each once, in the order of the lists */
	struct call_failure failure;
};

extern const struct api_driver dxcore_api;

/* Loads and lists. ERROR_NOT_FOUND: there is no dxcore.dll. ERROR_UNSUPPORTED: it offers no adapter
 * factory. ERROR_REMOTE, ERROR_UNAVAILABLE, ERROR_MEMORY. */
int dxcore_open(struct dxcore **out, struct error *err);
void dxcore_free(struct dxcore *dxcore);

/* One element of `devices`, with its place among them. NULL: out of memory. */
cJSON *dxcore_describe(const struct dxcore_adapter *adapter, size_t index);
