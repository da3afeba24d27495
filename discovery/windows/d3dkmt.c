/* SPDX-License-Identifier: MIT */
#include "discovery/windows/d3dkmt.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "base/memory.h"
#include "base/utf16.h"
#include "discovery/windows/d3dkmt_abi.h"

#include <stdlib.h>
#include <string.h>

enum {
	ADAPTERS_MAX = 1024,
	STORE_PATH_MAX = 64 * 1024, /* bytes */
	STORE_PATH_USUAL = 1024,
	QUERIES_MAX = 4, /* the answer may grow between two queries */
};

#define NOT_IMPLEMENTED ((LONG)0xC0000002)

static int d3dkmt_function(const char *name, void *function, struct error *err)
{
	void *library = NULL;

	if (library_open("gdi32.dll", &library, err) < 0 ||
	    library_function(library, name, function, err) < 0)
		return error_set(err, ERROR_UNSUPPORTED, "this Windows has no %s", name);
	return 0;
}

static int failed(LONG status, const char *name, struct error *err)
{
	return error_set(err, status == NOT_IMPLEMENTED ? ERROR_UNSUPPORTED : ERROR_IO,
			 "%s failed with status 0x%08lx", name, (unsigned long)status);
}

static void d3dkmt_close(uint32_t adapter)
{
	const struct d3dkmt_close_adapter close = {adapter};
	d3dkmt_close_adapter_function function = NULL;
	if (d3dkmt_function("D3DKMTCloseAdapter", &function, NULL) == 0)
		(void)function(&close);
}

int d3dkmt_list(struct adapters *adapters, struct error *err)
{
	struct d3dkmt_enum_adapters list = {0};
	d3dkmt_enum_adapters_function function = NULL;
	d3dkmt_query_adapter_function query = NULL;

	int rc = d3dkmt_function("D3DKMTEnumAdapters2", &function, err);
	if (rc < 0)
		return rc;
	LONG status = function(&list);
	if (status < 0)
		return failed(status, "D3DKMTEnumAdapters2", err);
	list.count = list.count < ADAPTERS_MAX ? list.count : ADAPTERS_MAX;
	struct d3dkmt_adapter_info *infos CLEANUP_FREE =
		memory_allocate(list.count + 1, sizeof(*infos));
	if (infos == NULL)
		return error_memory(err);
	list.adapters = infos;
	status = function(&list);
	if (status < 0)
		return failed(status, "D3DKMTEnumAdapters2", err);

	(void)d3dkmt_function("D3DKMTQueryAdapterInfo", &query, NULL);
	for (uint32_t i = 0; i < list.count; i++) {
		const LUID *luid = &infos[i].luid;
		struct adapter *adapter =
			adapters_at(adapters, (int64_t)luid->HighPart << 32 | luid->LowPart);
		uint32_t type = 0;
		const struct d3dkmt_query_adapter info = {
			.adapter = infos[i].adapter,
			.type = D3DKMT_ADAPTER_TYPE,
			.data = &type,
			.size = sizeof(type),
		};

		if (adapter != NULL && query != NULL && query(&info) >= 0)
			adapter_set_type(adapter, type);
		d3dkmt_close(infos[i].adapter);
	}
	return 0;
}

/* Asks with room for `room` bytes; *needed is the size of the answer when that is more. */
static int try_store_path(d3dkmt_query_adapter_function function, uint32_t adapter, size_t room,
			  size_t *needed, char **out, struct error *err)
{
	struct d3dkmt_registry_info *info CLEANUP_FREE = memory_allocate(1, sizeof(*info) + room);
	struct d3dkmt_query_adapter query = {
		.adapter = adapter,
		.type = D3DKMT_QUERY_REGISTRY,
		.data = info,
		.size = (uint32_t)(sizeof(*info) + room),
	};
	size_t units = 0;

	if (info == NULL)
		return error_memory(err);
	info->query = D3DKMT_REGISTRY_DRIVER_STORE_PATH;
	LONG status = function(&query);
	if (status < 0)
		return failed(status, "D3DKMTQueryAdapterInfo", err);
	*needed = info->output_size;
	if (info->status == D3DKMT_REGISTRY_OVERFLOW)
		return 0;
	if (info->status != D3DKMT_REGISTRY_OK)
		return error_set(err, ERROR_IO, "the driver store path query failed (status %u)",
				 (unsigned)info->status);
	if (info->output_size > room)
		return error_set(err, ERROR_IO,
				 "the driver store path query reported a wrong size");
	for (const WCHAR *text = (const WCHAR *)info->output;
	     units < info->output_size / sizeof(WCHAR) && text[units] != 0;)
		units++;
	*out = utf16_to_utf8((const uint16_t *)info->output, units);
	return *out != NULL ? 0 : error_memory(err);
}

int d3dkmt_query_store_path(d3dkmt_query_adapter_function function, uint32_t adapter, char **out,
			    struct error *err)
{
	size_t room = STORE_PATH_USUAL;
	int rc = 0;

	*out = NULL;
	for (int i = 0; rc == 0 && *out == NULL && i < QUERIES_MAX; i++) {
		size_t needed = 0;

		rc = try_store_path(function, adapter, room, &needed, out, err);
		if (rc == 0 && *out == NULL && (needed <= room || needed > STORE_PATH_MAX))
			return error_set(err, ERROR_IO, "the driver store path has %zu bytes",
					 needed);
		room = needed;
	}
	if (rc == 0 && *out == NULL)
		return error_set(err, ERROR_IO, "the driver store path does not stop growing");
	return rc;
}

int d3dkmt_store_path(int64_t luid, char **out, struct error *err)
{
	struct d3dkmt_open_adapter open = {
		.luid = {.LowPart = (DWORD)luid, .HighPart = (LONG)(luid >> 32)},
	};
	d3dkmt_open_adapter_function function = NULL;
	d3dkmt_query_adapter_function query = NULL;

	int rc = d3dkmt_function("D3DKMTOpenAdapterFromLuid", &function, err);
	if (rc < 0)
		return rc;
	LONG status = function(&open);
	if (status < 0)
		return error_set(err, ERROR_NOT_FOUND,
				 "D3DKMTOpenAdapterFromLuid failed with status 0x%08lx",
				 (unsigned long)status);
	rc = d3dkmt_function("D3DKMTQueryAdapterInfo", &query, err);
	if (rc == 0)
		rc = d3dkmt_query_store_path(query, open.adapter, out, err);
	d3dkmt_close(open.adapter);
	return rc;
}
