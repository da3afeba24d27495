/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The part of the kernel-mode thunk interface (d3dkmthk.h, which MinGW-w64 lacks) that lists
 * adapters, by windows-driver-docs-ddi. A declaration of its own: what probes find is independent
 * of discovery.
 */

#include <stdint.h>
#include <windows.h>

struct d3dkmt_adapter_info {
	uint32_t adapter; /* to be closed */
	LUID luid;
	uint32_t source_count;
	BOOL precise_present_regions;
};

struct d3dkmt_enum_adapters {
	uint32_t count;
	struct d3dkmt_adapter_info *adapters;
};

struct d3dkmt_close_adapter {
	uint32_t adapter;
};

enum d3dkmt_query { D3DKMT_ADAPTER_TYPE = 15 };

enum d3dkmt_adapter_type {
	D3DKMT_TYPE_SOFTWARE = 1 << 2,
	D3DKMT_TYPE_HYBRID_INTEGRATED = 1 << 5,
	D3DKMT_TYPE_COMPUTE_ONLY = 1 << 11,
};

struct d3dkmt_query_adapter {
	uint32_t adapter;
	uint32_t type; /* enum d3dkmt_query */
	void *data;
	uint32_t size;
};

_Static_assert(sizeof(struct d3dkmt_adapter_info) == 20, "D3DKMT_ADAPTERINFO");
_Static_assert(sizeof(struct d3dkmt_enum_adapters) == 16, "D3DKMT_ENUMADAPTERS2");
_Static_assert(sizeof(struct d3dkmt_query_adapter) == 24, "D3DKMT_QUERYADAPTERINFO");

typedef LONG(APIENTRY *d3dkmt_enum_adapters_function)(struct d3dkmt_enum_adapters *);
typedef LONG(APIENTRY *d3dkmt_close_adapter_function)(const struct d3dkmt_close_adapter *);
typedef LONG(APIENTRY *d3dkmt_query_adapter_function)(const struct d3dkmt_query_adapter *);
