/* SPDX-License-Identifier: MIT */
#include "discovery/windows/dxcore.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { DESCRIPTION_MAX = 4096 };

static void release(void *object)
{
	IUnknown *unknown = *(IUnknown **)object;
	if (unknown != NULL)
		(void)unknown->lpVtbl->Release(unknown);
}

#define CLEANUP_COM CLEANUP(release)

int dxcore_factory_open(IDXCoreAdapterFactory **out, struct error *err)
{
	dxcore_create_factory create = NULL;
	void *library = NULL;
	void *factory = NULL;

	if (library_open("dxcore.dll", &library, err) < 0 ||
	    library_function(library, "DXCoreCreateAdapterFactory", &create, err) < 0)
		return error_set(err, ERROR_UNSUPPORTED, "this Windows has no DXCore");
	HRESULT result = create(&dxcore_iid_factory, &factory);
	if (FAILED(result) || factory == NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "DXCore makes no adapter factory (0x%08lx)",
				 (unsigned long)result);
	*out = factory;
	return 0;
}

/* False leaves `out` as it was. */
static bool dxcore_property(IDXCoreAdapter *adapter, enum dxcore_property property, void *out,
			    size_t size)
{
	return adapter->lpVtbl->IsPropertySupported(adapter, property) &&
	       SUCCEEDED(adapter->lpVtbl->GetProperty(adapter, property, size, out));
}

static bool dxcore_flag(IDXCoreAdapter *adapter, enum dxcore_property property)
{
	uint8_t flag = 0;
	return dxcore_property(adapter, property, &flag, sizeof(flag)) && flag != 0;
}

static int64_t dxcore_bytes(IDXCoreAdapter *adapter, enum dxcore_property property)
{
	uint64_t bytes = 0;
	if (!dxcore_property(adapter, property, &bytes, sizeof(bytes)) || bytes > INT64_MAX)
		return DISCOVERY_UNKNOWN;
	return (int64_t)bytes;
}

static void describe(IDXCoreAdapter *source, struct builder *builder, struct adapter *adapter)
{
	int64_t dedicated_system = dxcore_bytes(source, DXCORE_DEDICATED_SYSTEM_MEMORY);
	char text[DESCRIPTION_MAX + 1] = "";
	size_t size = 0;

	adapter->described = true;
	if (SUCCEEDED(source->lpVtbl->GetPropertySize(source, DXCORE_DRIVER_DESCRIPTION, &size)) &&
	    size <= DESCRIPTION_MAX &&
	    dxcore_property(source, DXCORE_DRIVER_DESCRIPTION, text, size) &&
	    text_is_utf8(text, strlen(text)))
		adapter->description = builder_string(builder, text);

	/* The newer form has the subsystem's two halves; the older one has both in one number. */
	struct dxcore_hardware_id_parts parts = {0};
	struct dxcore_hardware_id id = {ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN, ADAPTER_ID_UNKNOWN,
					ADAPTER_ID_UNKNOWN};
	if (dxcore_property(source, DXCORE_HARDWARE_ID_PARTS, &parts, sizeof(parts))) {
		adapter->ids = (struct adapter_ids){parts.vendor, parts.device,
						    (parts.subsystem & 0xFFFF) << 16 |
							    (parts.subsystem_vendor & 0xFFFF),
						    parts.revision};
	} else {
		(void)dxcore_property(source, DXCORE_HARDWARE_ID, &id, sizeof(id));
		adapter->ids =
			(struct adapter_ids){id.vendor, id.device, id.subsystem, id.revision};
	}

	(void)dxcore_property(source, DXCORE_DRIVER_VERSION, &adapter->driver_version,
			      sizeof(adapter->driver_version));
	adapter->dedicated_memory = dxcore_bytes(source, DXCORE_DEDICATED_ADAPTER_MEMORY);
	if (adapter->dedicated_memory == 0 && dedicated_system > 0)
		adapter->dedicated_memory = dedicated_system;
	adapter->shared_memory = dxcore_bytes(source, DXCORE_SHARED_SYSTEM_MEMORY);
	adapter->hardware = dxcore_flag(source, DXCORE_IS_HARDWARE);
	adapter->integrated = dxcore_flag(source, DXCORE_IS_INTEGRATED);
	adapter->detachable = dxcore_flag(source, DXCORE_IS_DETACHABLE);
	for (size_t i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++) {
		if (source->lpVtbl->IsAttributeSupported(source, &dxcore_attributes[i].guid))
			adapter->attributes |= 1U << i;
	}
}

int dxcore_list(struct adapters *adapters, struct error *err)
{
	IDXCoreAdapterFactory *factory CLEANUP_COM = NULL;

	int rc = dxcore_factory_open(&factory, err);
	for (size_t i = 0; rc == 0 && i < DXCORE_LIST_COUNT; i++) {
		void *made = NULL;
		HRESULT result = factory->lpVtbl->CreateAdapterList(
			factory, 1, &dxcore_attributes[i].guid, &dxcore_iid_list, &made);
		IDXCoreAdapterList *list CLEANUP_COM = SUCCEEDED(result) ? made : NULL;
		uint32_t count = list != NULL ? list->lpVtbl->GetAdapterCount(list) : 0;
		for (uint32_t j = 0; j < count; j++) {
			void *opened = NULL;
			result = list->lpVtbl->GetAdapter(list, j, &dxcore_iid_adapter, &opened);
			IDXCoreAdapter *source CLEANUP_COM = SUCCEEDED(result) ? opened : NULL;
			LUID luid = {0};

			if (source == NULL ||
			    !dxcore_property(source, DXCORE_INSTANCE_LUID, &luid, sizeof(luid))) {
				builder_diagnose(adapters->builder, "dxcore",
						 "adapter %u cannot be read (0x%08lx)", (unsigned)j,
						 (unsigned long)result);
				continue;
			}
			struct adapter *adapter =
				adapters_at(adapters, (int64_t)luid.HighPart << 32 | luid.LowPart);
			if (adapter != NULL && !adapter->described)
				describe(source, adapters->builder, adapter);
		}
	}
	return rc;
}
