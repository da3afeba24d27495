/* SPDX-License-Identifier: MIT */
#pragma once

/* The kernel's view of adapters: replaces a missing DXCore, and reports the driver store folder. */

#include "discovery/windows/adapter.h"
#include "discovery/windows/d3dkmt_abi.h"

/* Adapters by D3DKMTEnumAdapters2. ERROR_UNSUPPORTED: this Windows lacks the function;
 * ERROR_IO: it failed, with its status. */
int d3dkmt_list(struct adapters *adapters, struct error *err);

/* The driver store folder of an adapter as the kernel spells it; caller frees. ERROR_UNSUPPORTED:
 * this Windows lacks the query; ERROR_NOT_FOUND: no such adapter; ERROR_IO: it failed, with its status.
 */
int d3dkmt_store_path(int64_t luid, char **out, struct error *err);

/* The same of an open adapter, asked through `function`, which is D3DKMTQueryAdapterInfo(). */
int d3dkmt_query_store_path(d3dkmt_query_adapter_function function, uint32_t adapter, char **out,
			    struct error *err);
