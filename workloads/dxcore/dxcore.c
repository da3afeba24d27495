/* SPDX-License-Identifier: MIT */
#include "workloads/dxcore/dxcore.h"

#include "base/cleanup.h"
#include "workloads/directx/directx.h"

#include <string.h>

enum {
	NAME_MAX_BYTES = 4096,
	HARDWARE_ACCELERATOR = 6, /* indices of dxcore_attributes */
	HARDWARE_NPU = 7,
};

/* False where the adapter does not tell; *value is then as it was. */
static bool ask(const struct dxcore_adapter *adapter, enum dxcore_property property, void *value,
		size_t size)
{
	IDXCoreAdapter *object = adapter->object;
	return object->lpVtbl->IsPropertySupported(object, (uint32_t)property) &&
	       object->lpVtbl->GetProperty(object, (uint32_t)property, size, value) >= 0;
}

static bool ask_bool(const struct dxcore_adapter *adapter, enum dxcore_property property,
		     bool otherwise)
{
	uint8_t value = otherwise;
	(void)ask(adapter, property, &value, sizeof(value));
	return value != 0;
}

static void tell_name(const struct dxcore_adapter *adapter, struct members *device)
{
	IDXCoreAdapter *object = adapter->object;
	char name[NAME_MAX_BYTES + 1] = "";
	size_t size = 0;
	bool told =
		object->lpVtbl->GetPropertySize(object, DXCORE_DRIVER_DESCRIPTION, &size) >= 0 &&
		size > 0 && size < sizeof(name) &&
		ask(adapter, DXCORE_DRIVER_DESCRIPTION, name, size);
	member_string(device, "name", told ? name : NULL);
}

/* Of hardware. */
static const char *type_of(const struct dxcore_adapter *adapter)
{
	if (adapter->attributes[HARDWARE_ACCELERATOR] || adapter->attributes[HARDWARE_NPU])
		return "accelerator";
	return ask_bool(adapter, DXCORE_IS_INTEGRATED, false) ? "integrated-gpu" : "discrete-gpu";
}

static cJSON *describe_attributes(const struct dxcore_adapter *adapter)
{
	struct members array CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++)
		if (adapter->attributes[i])
			member_string(&array, NULL, dxcore_attributes[i].name);
	return members_take(&array);
}

cJSON *dxcore_describe(const struct dxcore_adapter *adapter, size_t index)
{
	struct members device CLEANUP_MEMBERS = members_new();
	struct dxcore_hardware_id id = {0};
	uint64_t memory = 0;
	uint64_t version = 0;
	const bool hardware = ask_bool(adapter, DXCORE_IS_HARDWARE, true);
	member_number(&device, "index", (double)index);
	tell_name(adapter, &device);
	member_string(&device, "type", hardware ? type_of(adapter) : "cpu");
	member_bool(&device, "software", !hardware);
	if (ask(adapter, DXCORE_HARDWARE_ID, &id, sizeof(id))) {
		member_hex(&device, "vendorId", id.vendor, 4);
		member_hex(&device, "deviceId", id.device, 4);
		member_hex(&device, "subSystemId", id.subsystem, 8);
		member_hex(&device, "revision", id.revision, 2);
	}
	member_bytes(&device, "deviceLuid", (const uint8_t *)&adapter->luid, sizeof(adapter->luid));
	member_item(&device, "attributes", describe_attributes(adapter));
	const bool told = ask(adapter, DXCORE_DRIVER_VERSION, &version, sizeof(version));
	api_add_windows_driver(&device, told, version);
	if (ask(adapter, DXCORE_DEDICATED_ADAPTER_MEMORY, &memory, sizeof(memory)))
		member_number(&device, "memoryBytes", (double)memory);
	return members_take(&device);
}

static int create_factory(struct api_report *report, struct dxcore *dxcore, struct error *err)
{
	dxcore_create_factory create = NULL;
	const struct api_function functions[] = {{"DXCoreCreateAdapterFactory", &create},
						 {NULL, NULL}};
	int rc = api_load(report, DXCORE_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	report->missing = "DXCore";
	HRESULT result = create(&dxcore_iid_factory, (void **)&dxcore->factory);
	rc = hresult_check(result, "DXCoreCreateAdapterFactory", NULL, err);
	if (result == E_NOINTERFACE || result == E_NOTIMPL) /* a library that is a stub */
		err->code = rc = ERROR_UNSUPPORTED;
	return rc;
}

static bool is_known(const struct dxcore *dxcore, const LUID *luid)
{
	for (size_t i = 0; i < dxcore->count; i++)
		if (memcmp(&dxcore->adapters[i].luid, luid, sizeof(*luid)) == 0)
			return true;
	return false;
}

/* Takes the reference. */
static int add_adapter(struct dxcore *dxcore, IDXCoreAdapter *object, struct error *err)
{
	struct dxcore_adapter adapter = {.object = object};
	int rc = hresult_check(object->lpVtbl->GetProperty(object, DXCORE_INSTANCE_LUID,
							   sizeof(adapter.luid), &adapter.luid),
			       "IDXCoreAdapter::GetProperty", NULL, err);
	if (rc != 0 || is_known(dxcore, &adapter.luid) || dxcore->count == API_DEVICES_MAX) {
		com_release(object);
		return rc;
	}
	for (size_t i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++)
		adapter.attributes[i] =
			object->lpVtbl->IsAttributeSupported(object, &dxcore_attributes[i].guid);
	dxcore->adapters[dxcore->count++] = adapter;
	return 0;
}

static int add_list(struct dxcore *dxcore, const GUID *attribute, struct error *err)
{
	IDXCoreAdapterList *list = NULL;
	int rc = hresult_check(
		dxcore->factory->lpVtbl->CreateAdapterList(dxcore->factory, 1, attribute,
							   &dxcore_iid_list, (void **)&list),
		"IDXCoreAdapterFactory::CreateAdapterList", NULL, err);
	uint32_t count = rc == 0 ? list->lpVtbl->GetAdapterCount(list) : 0;
	for (uint32_t i = 0; rc == 0 && i < count && i < API_DEVICES_MAX; i++) {
		IDXCoreAdapter *object = NULL;
		rc = hresult_check(
			list->lpVtbl->GetAdapter(list, i, &dxcore_iid_adapter, (void **)&object),
			"IDXCoreAdapterList::GetAdapter", NULL, err);
		if (rc == 0)
			rc = add_adapter(dxcore, object, err);
	}
	com_release(list);
	return rc;
}

static void dxcore_close(void *session)
{
	struct dxcore *dxcore = session;
	for (size_t i = 0; i < dxcore->count; i++)
		com_release(dxcore->adapters[i].object);
	com_release(dxcore->factory);
}

static int dxcore_open(struct api_report *report, void *session, struct error *err)
{
	struct dxcore *dxcore = session;
	wine_name(report->emulator, sizeof(report->emulator));
	int rc = create_factory(report, dxcore, err);
	for (size_t i = 0; rc == 0 && i < DXCORE_LISTS; i++)
		rc = add_list(dxcore, &dxcore_attributes[i].guid, err);
	for (size_t i = 0; rc == 0 && i < dxcore->count; i++)
		rc = api_report_device(report, dxcore_describe(&dxcore->adapters[i], i), err);
	return rc;
}

const struct api_driver dxcore_api = {
	.name = "dxcore",
	.library = DXCORE_LIBRARY,
	.summary = "List the adapters that DXCore shows",
	.description =
		"Lists the adapters of DXCore by what they are for, with ids, memory and driver: those of DXGI, and "
		"compute-only ones.",
	.session_size = sizeof(struct dxcore),
	.open = dxcore_open,
	.close = dxcore_close,
};
