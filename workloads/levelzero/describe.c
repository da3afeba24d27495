/* SPDX-License-Identifier: MIT */
#include "workloads/levelzero/levelzero.h"

#include "base/cleanup.h"

enum { MEMORIES_MAX = 64 };

static const char *type_name(const ze_device_properties_t *properties)
{
	const bool integrated = (properties->flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0;
	if (properties->type == ZE_DEVICE_TYPE_GPU)
		return integrated ? "integrated-gpu" : "discrete-gpu";
	if (properties->type == ZE_DEVICE_TYPE_CPU)
		return "cpu";
	return properties->type <= ZE_DEVICE_TYPE_VPU ? "accelerator" : NULL;
}

/* What a driver does not know it leaves alone: LUIDs on Linux. */
static void add_bytes(struct members *members, const char *key, const uint8_t *bytes, size_t size)
{
	bool known = false;
	for (size_t i = 0; i < size; i++)
		known = known || bytes[i] != 0;
	member_bytes(members, key, known ? bytes : NULL, size);
}

/* Bus 0, device 0 of domain 0 is the host's own bridge: nothing was told. */
static void add_pci(struct members *members, const struct levelzero *lz, ze_device_handle_t id)
{
	ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
	const ze_pci_address_ext_t *told = &pci.address;
	if (lz->zeDevicePciGetPropertiesExt == NULL ||
	    lz->zeDevicePciGetPropertiesExt(id, &pci) != ZE_RESULT_SUCCESS ||
	    (told->domain | told->bus | told->device) == 0)
		member_null(members, "pciAddress");
	else
		api_add_pci_address(members, told->domain, told->bus, told->device, told->function);
}

static void add_memory(struct members *members, const struct levelzero *lz, ze_device_handle_t id)
{
	ze_device_memory_properties_t memories[MEMORIES_MAX] = {{0}};
	uint32_t count = MEMORIES_MAX;
	double bytes = 0;
	for (size_t i = 0; i < MEMORIES_MAX; i++)
		memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
	if (lz->zeDeviceGetMemoryProperties(id, &count, memories) != ZE_RESULT_SUCCESS)
		count = 0;
	for (uint32_t i = 0; i < count && i < MEMORIES_MAX; i++)
		bytes += (double)memories[i].totalSize;
	member_number(members, "memoryBytes", bytes);
}

static void add_driver(struct members *members, const struct levelzero *lz,
		       ze_driver_handle_t driver)
{
	struct members facts CLEANUP_MEMBERS = members_new();
	ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
	ze_api_version_t version = 0;
	bool told = lz->zeDriverGetApiVersion(driver, &version) == ZE_RESULT_SUCCESS;
	if (told)
		member_format(members, "apiVersion", "%u.%u", ZE_MAJOR_VERSION(version),
			      ZE_MINOR_VERSION(version));
	else
		member_null(members, "apiVersion");
	told = lz->zeDriverGetProperties(driver, &properties) == ZE_RESULT_SUCCESS;
	if (told)
		member_hex(&facts, "version", properties.driverVersion, 8);
	else
		member_null(&facts, "version");
	member_item(members, "driver", members_take(&facts));
	add_bytes(members, "driverUuid", properties.uuid.id, sizeof(properties.uuid.id));
}

static double compute_units(const ze_device_properties_t *properties)
{
	return (double)properties->numSlices * properties->numSubslicesPerSlice *
	       properties->numEUsPerSubslice;
}

int levelzero_describe(struct levelzero *lz, size_t index, cJSON **out, struct error *err)
{
	struct members members CLEANUP_MEMBERS = members_new();
	struct levelzero_device *device = &lz->devices[index];
	ze_device_luid_ext_properties_t luid = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES};
	ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
					     .pNext = &luid};
	int rc = API_CALL(lz, err, zeDeviceGetProperties, device->id, &properties);
	if (rc != 0)
		return rc;
	device->largest = properties.maxMemAllocSize;
	member_number(&members, "index", (double)index);
	member_text(&members, "name", properties.name, sizeof(properties.name));
	member_string(&members, "type", type_name(&properties));
	member_bool(&members, "software", properties.type == ZE_DEVICE_TYPE_CPU);
	member_hex(&members, "vendorId", properties.vendorId, 4);
	member_hex(&members, "deviceId", properties.deviceId, 4);
	add_bytes(&members, "deviceUuid", properties.uuid.id, sizeof(properties.uuid.id));
	add_bytes(&members, "deviceLuid", luid.luid.id, sizeof(luid.luid.id));
	add_pci(&members, lz, device->id);
	add_driver(&members, lz, device->driver);
	member_number(&members, "computeUnits", compute_units(&properties));
	add_memory(&members, lz, device->id);
	*out = members_take(&members);
	return 0;
}
