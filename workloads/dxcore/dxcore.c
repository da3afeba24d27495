/* SPDX-License-Identifier: MIT */
#include "workloads/dxcore/dxcore.h"

#include "workloads/directx/directx.h"

#include <string.h>

enum {
	NAME_MAX_BYTES = 4096,
	HARDWARE_ACCELERATOR = 6, /* indices of dxcore_attributes */
	HARDWARE_NPU = 7,
};

/* False where the adapter does not report it; *value is then as it was. */
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

cJSON *dxcore_describe(const struct dxcore_adapter *adapter, size_t index)
{
	struct members device CLEANUP_MEMBERS = api_device_new(index);
	IDXCoreAdapter *object = adapter->object;

	char name[NAME_MAX_BYTES + 1] = "";
	size_t size = 0;
	const bool named =
		object->lpVtbl->GetPropertySize(object, DXCORE_DRIVER_DESCRIPTION, &size) >= 0 &&
		size > 0 && size < sizeof(name) &&
		ask(adapter, DXCORE_DRIVER_DESCRIPTION, name, size);
	member_string(&device, "name", named ? name : NULL);

	const bool hardware = ask_bool(adapter, DXCORE_IS_HARDWARE, true);
	const char *type = "discrete-gpu";
	if (!hardware)
		type = "cpu";
	else if (adapter->attributes[HARDWARE_ACCELERATOR] || adapter->attributes[HARDWARE_NPU])
		type = "accelerator";
	else if (ask_bool(adapter, DXCORE_IS_INTEGRATED, false))
		type = "integrated-gpu";
	member_string(&device, "type", type);
	member_bool(&device, "software", !hardware);

	struct dxcore_hardware_id id = {0};
	if (ask(adapter, DXCORE_HARDWARE_ID, &id, sizeof(id))) {
		api_add_ids(&device, id.vendor, id.device);
		member_hex(&device, "subSystemId", id.subsystem, 8);
		member_hex(&device, "revision", id.revision, 2);
	}
	member_bytes(&device, "deviceLuid", (const uint8_t *)&adapter->luid, sizeof(adapter->luid));
	struct members attributes = member_array(&device, "attributes");
	for (size_t i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++)
		if (adapter->attributes[i])
			member_string(&attributes, NULL, dxcore_attributes[i].name);

	uint64_t version = 0;
	const bool known = ask(adapter, DXCORE_DRIVER_VERSION, &version, sizeof(version));
	api_add_windows_driver(&device, known, version);
	uint64_t memory = 0;
	if (ask(adapter, DXCORE_DEDICATED_ADAPTER_MEMORY, &memory, sizeof(memory)))
		member_number(&device, "memoryBytes", (double)memory);
	return members_take(&device);
}

/* Adds an adapter that is not listed yet. Consumes the reference. */
static int add_adapter(struct dxcore *dxcore, IDXCoreAdapter *object, struct error *err)
{
	struct dxcore_adapter adapter = {.object = object};
	bool known = false;

	int rc = hresult_check(object->lpVtbl->GetProperty(object, DXCORE_INSTANCE_LUID,
							   sizeof(adapter.luid), &adapter.luid),
			       "IDXCoreAdapter::GetProperty", NULL, err);
	for (size_t i = 0; i < dxcore->count; i++)
		known = known ||
			memcmp(&dxcore->adapters[i].luid, &adapter.luid, sizeof(adapter.luid)) == 0;
	if (rc != 0 || known || dxcore->count == API_DEVICES_MAX) {
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
	dxcore_create_factory create = NULL;

	wine_name(report->emulator, sizeof(report->emulator));
	int rc = api_load_one(report, DXCORE_LIBRARY, "DXCoreCreateAdapterFactory", &create, err);
	if (rc != 0)
		return rc;
	report->missing = "DXCore";
	HRESULT result = create(&dxcore_iid_factory, (void **)&dxcore->factory);
	rc = hresult_check(result, "DXCoreCreateAdapterFactory", NULL, err);
	if (result == E_NOINTERFACE || result == E_NOTIMPL) /* a library that is a stub */
		err->code = rc = ERROR_UNSUPPORTED;

	for (size_t i = 0; rc == 0 && i < DXCORE_LISTS; i++)
		rc = add_list(dxcore, &dxcore_attributes[i].guid, err);
	for (size_t i = 0; rc == 0 && i < dxcore->count; i++)
		api_report_device(report, dxcore_describe(&dxcore->adapters[i], i));
	return rc;
}

const struct api_driver dxcore_api = {
	.name = "dxcore",
	.library = DXCORE_LIBRARY,
	.summary = "List the adapters that DXCore shows",
	.description =
		"Lists the adapters of DXCore by their purpose, with ids, memory and driver: those of DXGI, and "
		"compute-only ones.",
	.session_size = sizeof(struct dxcore),
	.open = dxcore_open,
	.close = dxcore_close,
};
