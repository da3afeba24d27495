/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/windows/d3dkmt.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "workloads/visibility/windows/d3dkmt_abi.h"

#include <stdlib.h>

#define D3DKMT_LIBRARY "gdi32.dll"

enum { QUERY_ADDRESS = 6 };

/* KMTQAITYPE_ADAPTERADDRESS */
struct adapter_address {
	uint32_t bus, device, function;
};

struct kernel {
	d3dkmt_enum_adapters_function enum_adapters;
	d3dkmt_query_adapter_function query_adapter;
	d3dkmt_close_adapter_function close_adapter;
	uint32_t count;
	struct d3dkmt_adapter_info adapters[API_DEVICES_MAX];
};

static int load(struct kernel *kernel, struct api_report *report, struct error *err)
{
	void *library = NULL;
	int code = library_open(D3DKMT_LIBRARY, &library, err);

	if (code != 0)
		return code;
	api_report_loaded(report, library);
	if (library_function(library, "D3DKMTEnumAdapters2", &kernel->enum_adapters, NULL) != 0 ||
	    library_function(library, "D3DKMTCloseAdapter", &kernel->close_adapter, NULL) != 0 ||
	    library_function(library, "D3DKMTQueryAdapterInfo", &kernel->query_adapter, NULL) != 0)
		return error_set(err, ERROR_NOT_FOUND,
				 D3DKMT_LIBRARY " has no function D3DKMTEnumAdapters2");
	return 0;
}

static int enumerate(struct kernel *kernel, struct error *err)
{
	struct d3dkmt_enum_adapters query = {.count = API_DEVICES_MAX,
					     .adapters = kernel->adapters};
	LONG status = kernel->enum_adapters(&query);

	if (status < 0)
		return error_set(err, ERROR_REMOTE, "D3DKMTEnumAdapters2: 0x%08x",
				 (unsigned)status);
	kernel->count = query.count < API_DEVICES_MAX ? query.count : API_DEVICES_MAX;
	return 0;
}

static bool ask(const struct kernel *kernel, uint32_t adapter, uint32_t type, void *data,
		uint32_t size)
{
	const struct d3dkmt_query_adapter query = {
		.adapter = adapter, .type = type, .data = data, .size = size};

	return kernel->query_adapter(&query) >= 0;
}

static cJSON *describe(const struct kernel *kernel, size_t index)
{
	const struct d3dkmt_adapter_info *adapter = &kernel->adapters[index];
	struct members device CLEANUP_MEMBERS = members_new();
	struct members driver CLEANUP_MEMBERS = members_new();
	struct adapter_address address = {0};
	uint32_t type = 0;
	bool known = ask(kernel, adapter->adapter, D3DKMT_ADAPTER_TYPE, &type, sizeof(type));
	const bool software = (type & D3DKMT_TYPE_SOFTWARE) != 0;

	member_null(&driver, "version");
	member_number(&device, "index", (double)index);
	member_null(&device, "name");
	member_string(&device, "type",
		      !known					    ? NULL
		      : software				    ? "cpu"
		      : (type & D3DKMT_TYPE_COMPUTE_ONLY) != 0	    ? "accelerator"
		      : (type & D3DKMT_TYPE_HYBRID_INTEGRATED) != 0 ? "integrated-gpu"
								    : "other");
	member_bool(&device, "software", software);
	member_null(&device, "deviceUuid");
	member_bytes(&device, "deviceLuid", (const uint8_t *)&adapter->luid, sizeof(adapter->luid));
	if (!software && ask(kernel, adapter->adapter, QUERY_ADDRESS, &address, sizeof(address)))
		member_format(&device, "pciAddress", "0000:%02x:%02x.%x", address.bus & 0xFFu,
			      address.device & 0xFFu, address.function & 0xFu);
	else
		member_null(&device, "pciAddress");
	member_item(&device, "driver", members_take(&driver));
	member_null(&device, "memoryBytes");
	return members_take(&device);
}

static int tell(struct kernel *kernel, struct api_report *report, struct error *err)
{
	int code = 0;

	for (uint32_t i = 0; i < kernel->count; i++) {
		const struct d3dkmt_close_adapter close = {kernel->adapters[i].adapter};

		if (code == 0 && !array_add(report->devices, describe(kernel, i)))
			code = error_memory(err);
		(void)kernel->close_adapter(&close);
	}
	return code;
}

static int d3dkmt_open(struct api_report *report, void **session, struct error *err)
{
	struct kernel *kernel CLEANUP_FREE = calloc(1, sizeof(*kernel));
	struct error reason = {0};
	int code = api_report_begin(report, "d3dkmt", D3DKMT_LIBRARY, err);

	*session = NULL;
	if (code != 0 || kernel == NULL)
		return error_memory(err);
	code = load(kernel, report, &reason);
	if (code == ERROR_NOT_FOUND) {
		api_report_unsupported(report, "D3DKMTEnumAdapters2", &reason);
		return 0;
	}
	if (code == 0)
		code = enumerate(kernel, &reason);
	if (code == 0)
		return tell(kernel, report, err);
	api_report_failed(report, &reason);
	return 0;
}

const struct api_driver d3dkmt_api = {
	.name = "d3dkmt", .library = D3DKMT_LIBRARY, .open = d3dkmt_open};
