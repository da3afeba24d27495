/* SPDX-License-Identifier: MIT */
#pragma once

/* The adapters that DXCore lists: those of DXGI, and compute-only ones. Programs need dxcore_api. */

#include "base/error.h"
#include "base/windows/dxcore_abi.h"
#include "workloads/common/api.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define DXCORE_LIBRARY "dxcore.dll"

enum {
	DXCORE_LISTS = 5,	 /* of dxcore_attributes: by these adapters are listed */
	DXCORE_CORE_COMPUTE = 2, /* index of "d3d12-core-compute" */
};

struct dxcore_adapter {
	IDXCoreAdapter *object;
	LUID luid;
	bool attributes[DXCORE_ATTRIBUTE_COUNT];
};

/* A session of dxcore_api. */
struct dxcore {
	IDXCoreAdapterFactory *factory;
	size_t count;
	struct dxcore_adapter adapters[API_DEVICES_MAX]; /* each once, in the order of the lists */
};

/* One element of `devices`, with its place among them. */
cJSON *dxcore_describe(const struct dxcore_adapter *adapter, size_t index);
