/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The part of the kernel-mode thunk interface (d3dkmthk.h, which MinGW-w64 lacks) that is used.
 * Numbers and layout: microsoft/libdxg and windows-driver-docs-ddi; discovery/tests/windows
 * verifies the layout. The functions are exported by gdi32.dll and return an NTSTATUS.
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
	uint32_t count; /* NULL `adapters`: set to an upper bound */
	struct d3dkmt_adapter_info *adapters;
};

struct d3dkmt_open_adapter {
	LUID luid;
	uint32_t adapter;
};

struct d3dkmt_close_adapter {
	uint32_t adapter;
};

enum d3dkmt_query {
	D3DKMT_ADAPTER_TYPE = 15,
	D3DKMT_QUERY_REGISTRY = 48,
};

struct d3dkmt_query_adapter {
	uint32_t adapter;
	uint32_t type; /* enum d3dkmt_query */
	void *data;
	uint32_t size;
};

enum d3dkmt_registry_query { D3DKMT_REGISTRY_DRIVER_STORE_PATH = 2 };
enum d3dkmt_registry_status {
	D3DKMT_REGISTRY_OK = 0,
	D3DKMT_REGISTRY_OVERFLOW = 1,
	D3DKMT_REGISTRY_FAIL = 2,
};

/* Followed by the output, `output` being its first part. */
struct d3dkmt_registry_info {
	uint32_t query; /* enum d3dkmt_registry_query */
	uint32_t flags;
	WCHAR value_name[MAX_PATH];
	uint32_t value_type;
	uint32_t physical_adapter;
	uint32_t output_size; /* bytes available */
	uint32_t status;      /* enum d3dkmt_registry_status */
	uint64_t output[1];
};

typedef LONG(APIENTRY *d3dkmt_enum_adapters_function)(struct d3dkmt_enum_adapters *);
typedef LONG(APIENTRY *d3dkmt_open_adapter_function)(struct d3dkmt_open_adapter *);
typedef LONG(APIENTRY *d3dkmt_close_adapter_function)(const struct d3dkmt_close_adapter *);
typedef LONG(APIENTRY *d3dkmt_query_adapter_function)(const struct d3dkmt_query_adapter *);
