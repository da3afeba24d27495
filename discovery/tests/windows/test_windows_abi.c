/* SPDX-License-Identifier: MIT */
/* The interfaces of Windows that we declare ourselves, held to the layout that Microsoft's headers
 * (DirectX-Headers, windows-driver-docs-ddi) give them on 64-bit Windows. */
#include "base/tests/unit.h"
#include "base/windows/dxcore_abi.h"
#include "discovery/windows/d3dkmt_abi.h"

#include <stddef.h>

#define METHOD(type, name, position)                                                               \
	_Static_assert(offsetof(type##Vtbl, name) == (position) * sizeof(void *),                  \
		       #type "::" #name " is method " #position)

METHOD(IDXCoreAdapter, IsValid, 3);
METHOD(IDXCoreAdapter, IsAttributeSupported, 4);
METHOD(IDXCoreAdapter, IsPropertySupported, 5);
METHOD(IDXCoreAdapter, GetProperty, 6);
METHOD(IDXCoreAdapter, GetPropertySize, 7);
METHOD(IDXCoreAdapter, IsQueryStateSupported, 8);
METHOD(IDXCoreAdapter, QueryState, 9);
METHOD(IDXCoreAdapter, IsSetStateSupported, 10);
METHOD(IDXCoreAdapter, SetState, 11);
METHOD(IDXCoreAdapter, GetFactory, 12);
METHOD(IDXCoreAdapterList, GetAdapter, 3);
METHOD(IDXCoreAdapterList, GetAdapterCount, 4);
METHOD(IDXCoreAdapterList, IsStale, 5);
METHOD(IDXCoreAdapterList, GetFactory, 6);
METHOD(IDXCoreAdapterList, Sort, 7);
METHOD(IDXCoreAdapterList, IsAdapterPreferenceSupported, 8);
METHOD(IDXCoreAdapterFactory, CreateAdapterList, 3);
METHOD(IDXCoreAdapterFactory, GetAdapterByLuid, 4);
METHOD(IDXCoreAdapterFactory, IsNotificationTypeSupported, 5);
METHOD(IDXCoreAdapterFactory, RegisterEventNotification, 6);
METHOD(IDXCoreAdapterFactory, UnregisterEventNotification, 7);
_Static_assert(sizeof(IDXCoreAdapterVtbl) == 13 * sizeof(void *), "all methods of an adapter");
_Static_assert(sizeof(IDXCoreAdapterListVtbl) == 9 * sizeof(void *), "all methods of a list");
_Static_assert(sizeof(IDXCoreAdapterFactoryVtbl) == 8 * sizeof(void *), "all of a factory");
_Static_assert(sizeof(bool) == 1, "C++'s bool is one byte");
_Static_assert(sizeof(struct dxcore_hardware_id) == 16, "DXCoreHardwareID");
_Static_assert(sizeof(struct dxcore_hardware_id_parts) == 20, "DXCoreHardwareIDParts");

_Static_assert(sizeof(struct d3dkmt_adapter_info) == 20, "D3DKMT_ADAPTERINFO");
_Static_assert(offsetof(struct d3dkmt_adapter_info, luid) == 4, "AdapterLuid");
_Static_assert(sizeof(struct d3dkmt_enum_adapters) == 16, "D3DKMT_ENUMADAPTERS2");
_Static_assert(offsetof(struct d3dkmt_enum_adapters, adapters) == 8, "pAdapters");
_Static_assert(sizeof(struct d3dkmt_open_adapter) == 12, "D3DKMT_OPENADAPTERFROMLUID");
_Static_assert(offsetof(struct d3dkmt_open_adapter, adapter) == 8, "hAdapter");
_Static_assert(sizeof(struct d3dkmt_query_adapter) == 24, "D3DKMT_QUERYADAPTERINFO");
_Static_assert(offsetof(struct d3dkmt_query_adapter, data) == 8, "pPrivateDriverData");
_Static_assert(offsetof(struct d3dkmt_query_adapter, size) == 16, "PrivateDriverDataSize");
_Static_assert(offsetof(struct d3dkmt_registry_info, value_name) == 8, "ValueName");
_Static_assert(offsetof(struct d3dkmt_registry_info, value_type) == 528, "ValueType");
_Static_assert(offsetof(struct d3dkmt_registry_info, output_size) == 536, "OutputValueSize");
_Static_assert(offsetof(struct d3dkmt_registry_info, status) == 540, "Status");
_Static_assert(offsetof(struct d3dkmt_registry_info, output) == 544, "OutputDword, ...");
_Static_assert(sizeof(struct d3dkmt_registry_info) == 552, "D3DDDI_QUERYREGISTRY_INFO");

static void expect_guid(const GUID *guid, const char *text)
{
	char seen[40] = "";
	(void)snprintf(seen, sizeof(seen), "%08lx-%04x-%04x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		       guid->Data1, guid->Data2, guid->Data3, guid->Data4[0], guid->Data4[1],
		       guid->Data4[2], guid->Data4[3], guid->Data4[4], guid->Data4[5],
		       guid->Data4[6], guid->Data4[7]);
	UNIT_STRING(seen, text);
}

static void test_guids(void)
{
	expect_guid(&dxcore_iid_factory, "78ee5945-c36e-4b13-a669-005dd11c0f06");
	expect_guid(&dxcore_iid_list, "526c7776-40e9-459b-b711-f32ad76dfc28");
	expect_guid(&dxcore_iid_adapter, "f0db4c7f-fe5a-42a2-bd62-f2a6cf6fc83e");
	expect_guid(&dxcore_attributes[0].guid, "8c47866b-7583-450d-f0f0-6bada895af4b");
	expect_guid(&dxcore_attributes[1].guid, "0c9ece4d-2f6e-4f01-8c96-e89e331b47b1");
	expect_guid(&dxcore_attributes[2].guid, "248e2800-a793-4724-abaa-23a6de1be090");
}

UNIT_MAIN("ABI of DXCore and D3DKMT", {"GUIDs", test_guids})
