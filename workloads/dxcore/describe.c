/* SPDX-License-Identifier: MIT */
#include "workloads/dxcore/dxcore.h"

#include "base/cleanup.h"

#include <stdlib.h>
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

static const char *type_of(const struct dxcore_adapter *adapter)
{
	if (!ask_bool(adapter, DXCORE_IS_HARDWARE, true))
		return "cpu";
	if (adapter->attributes[HARDWARE_ACCELERATOR] || adapter->attributes[HARDWARE_NPU])
		return "accelerator";
	return ask_bool(adapter, DXCORE_IS_INTEGRATED, false) ? "integrated-gpu" : "discrete-gpu";
}

static cJSON *describe_attributes(const struct dxcore_adapter *adapter)
{
	cJSON *array CLEANUP_JSON = cJSON_CreateArray();
	for (size_t i = 0; i < DXCORE_ATTRIBUTE_COUNT; i++)
		if (adapter->attributes[i] &&
		    members_append(array, cJSON_CreateString(dxcore_attributes[i].name), NULL) != 0)
			return NULL;
	return STEAL(array);
}

cJSON *dxcore_describe(const struct dxcore_adapter *adapter, size_t index)
{
	struct members device CLEANUP_MEMBERS = members_new();
	struct dxcore_hardware_id id = {0};
	uint64_t memory = 0;
	uint64_t version = 0;
	bool told = false;
	member_number(&device, "index", (double)index);
	tell_name(adapter, &device);
	member_string(&device, "type", type_of(adapter));
	member_bool(&device, "software", !ask_bool(adapter, DXCORE_IS_HARDWARE, true));
	if (ask(adapter, DXCORE_HARDWARE_ID, &id, sizeof(id))) {
		member_hex(&device, "vendorId", id.vendor, 4);
		member_hex(&device, "deviceId", id.device, 4);
		member_hex(&device, "subSystemId", id.subsystem, 8);
		member_hex(&device, "revision", id.revision, 2);
	}
	member_null(&device, "deviceUuid");
	member_bytes(&device, "deviceLuid", (const uint8_t *)&adapter->luid, sizeof(adapter->luid));
	member_null(&device, "pciAddress");
	member_item(&device, "attributes", describe_attributes(adapter));
	told = ask(adapter, DXCORE_DRIVER_VERSION, &version, sizeof(version));
	api_add_windows_driver(&device, told, version);
	if (ask(adapter, DXCORE_DEDICATED_ADAPTER_MEMORY, &memory, sizeof(memory)))
		member_number(&device, "memoryBytes", (double)memory);
	else
		member_null(&device, "memoryBytes");
	return members_take(&device);
}
