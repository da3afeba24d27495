/* SPDX-License-Identifier: MIT */
#include "workloads/levelzero/levelzero.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "base/text.h"

#include <stdlib.h>

static const struct code_advice codes[] = {
#include "workloads/levelzero/codes.h" /* generated from the specification's header */
};

static int find_drivers(struct levelzero *lz, ze_driver_handle_t *drivers, uint32_t *count,
			struct error *err)
{
	struct levelzero_driver_types types = {.type = LEVELZERO_DRIVER_TYPES,
					       .flags = LEVELZERO_EVERY_TYPE};
	static const char installed[] =
		API_LIBRARY("", "libze_intel_gpu.so.1,libze_intel_gpu_legacy1.so.1");
	const char *call = "zeInitDrivers";
	ze_result_t code = ZE_RESULT_ERROR_UNINITIALIZED;

	*count = LEVELZERO_DRIVERS_MAX;
	if (lz->newer.zeInitDrivers != NULL)
		code = lz->newer.zeInitDrivers(count, drivers, &types);

	/* A loader that has no zeInitDrivers(), or found only drivers of before API 1.10, or none. */
	if (code == ZE_RESULT_ERROR_UNINITIALIZED || code == ZE_RESULT_ERROR_UNSUPPORTED_FEATURE ||
	    code == ZE_RESULT_ERROR_UNSUPPORTED_VERSION ||
	    (code == ZE_RESULT_SUCCESS && *count == 0)) {
		*count = LEVELZERO_DRIVERS_MAX;
		call = "zeInit";
		code = lz->zeInit(0);
		if (code == ZE_RESULT_SUCCESS) {
			call = "zeDriverGet";
			code = lz->zeDriverGet(count, drivers);
		}
	}

	if (code == ZE_RESULT_ERROR_UNINITIALIZED || (code == ZE_RESULT_SUCCESS && *count == 0)) {
		/* The loader answers alike for a driver that is absent and for one that it cannot
		 * load, so this opens the libraries. On other systems than Linux the loader finds
		 * them in the registry. */
		const char *named = getenv("ZE_ENABLE_ALT_DRIVERS");
		struct text_list libraries CLEANUP_TEXT_LIST = {0};
		text_list_split(&libraries, named != NULL ? named : installed, ',');
		text_each (library, &libraries) {
			void *handle = NULL;
			if (library_open(library, &handle, err) == ERROR_UNAVAILABLE)
				return ERROR_UNAVAILABLE;
		}
		return error_set(
			err, ERROR_UNSUPPORTED,
			"the loader of Level Zero found no driver that has a device (%s: %s)", call,
			code == ZE_RESULT_SUCCESS ? "no driver" : "ZE_RESULT_ERROR_UNINITIALIZED");
	}
	if (*count > LEVELZERO_DRIVERS_MAX)
		*count = LEVELZERO_DRIVERS_MAX;
	return call_check(&lz->calls, (int)code, call, err);
}

enum { MEMORIES_MAX = 64 };

/* Drivers leave unknown identifiers zero, as LUIDs on Linux. */
static void add_bytes(struct members *members, const char *key, const uint8_t *bytes, size_t size)
{
	bool known = false;
	for (size_t i = 0; i < size; i++)
		known = known || bytes[i] != 0;
	member_bytes(members, key, known ? bytes : NULL, size);
}

static void add_driver(struct members *members, const struct levelzero *lz,
		       ze_driver_handle_t driver)
{
	ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
	ze_api_version_t version = 0;

	if (lz->zeDriverGetApiVersion(driver, &version) == ZE_RESULT_SUCCESS)
		member_format(members, "apiVersion", "%u.%u", ZE_MAJOR_VERSION(version),
			      ZE_MINOR_VERSION(version));
	else
		member_null(members, "apiVersion");
	struct members facts = member_object(members, "driver");
	if (lz->zeDriverGetProperties(driver, &properties) == ZE_RESULT_SUCCESS)
		member_hex(&facts, "version", properties.driverVersion, 8);
	else
		member_null(&facts, "version");
	add_bytes(members, "driverUuid", properties.uuid.id, sizeof(properties.uuid.id));
}

static int describe(struct levelzero *lz, size_t index, cJSON **out, struct error *err)
{
	struct members members CLEANUP_MEMBERS = api_device_new(index);
	struct levelzero_device *device = &lz->devices[index];
	ze_device_luid_ext_properties_t luid = {
		.stype = ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES};
	ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES,
					     .pNext = &luid};

	int rc = API_CALL(lz, err, zeDeviceGetProperties, device->id, &properties);
	if (rc != 0)
		return rc;
	device->largest = properties.maxMemAllocSize;
	member_text(&members, "name", properties.name, sizeof(properties.name));
	const char *type = NULL;
	if (properties.type == ZE_DEVICE_TYPE_GPU)
		type = (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0
			       ? "integrated-gpu"
			       : "discrete-gpu";
	else if (properties.type == ZE_DEVICE_TYPE_CPU)
		type = "cpu";
	else if (properties.type <= ZE_DEVICE_TYPE_VPU)
		type = "accelerator";
	member_string(&members, "type", type);
	member_bool(&members, "software", properties.type == ZE_DEVICE_TYPE_CPU);
	api_add_ids(&members, properties.vendorId, properties.deviceId);
	add_bytes(&members, "deviceUuid", properties.uuid.id, sizeof(properties.uuid.id));
	add_bytes(&members, "deviceLuid", luid.luid.id, sizeof(luid.luid.id));

	/* Bus 0, device 0 of domain 0 is the host bridge: the address is unknown. */
	ze_pci_ext_properties_t pci = {.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES};
	const ze_pci_address_ext_t *address = &pci.address;
	if (lz->newer.zeDevicePciGetPropertiesExt != NULL &&
	    lz->newer.zeDevicePciGetPropertiesExt(device->id, &pci) == ZE_RESULT_SUCCESS &&
	    (address->domain | address->bus | address->device) != 0)
		api_add_pci_address(&members, address->domain, address->bus, address->device,
				    address->function);

	add_driver(&members, lz, device->driver);
	member_number(&members, "computeUnits",
		      (double)properties.numSlices * properties.numSubslicesPerSlice *
			      properties.numEUsPerSubslice);

	ze_device_memory_properties_t memories[MEMORIES_MAX] = {{0}};
	uint32_t count = MEMORIES_MAX;
	double bytes = 0;
	for (size_t i = 0; i < MEMORIES_MAX; i++)
		memories[i].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
	if (lz->zeDeviceGetMemoryProperties(device->id, &count, memories) == ZE_RESULT_SUCCESS) {
		for (uint32_t i = 0; i < count && i < MEMORIES_MAX; i++)
			bytes += (double)memories[i].totalSize;
		member_number(&members, "memoryBytes", bytes);
	}
	*out = members_take(&members);
	return 0;
}

static int add_devices(struct levelzero *lz, struct api_report *report, ze_driver_handle_t driver,
		       struct error *err)
{
	const size_t room = API_DEVICES_MAX - lz->device_count;
	ze_device_handle_t ids[API_DEVICES_MAX] = {NULL};
	uint32_t count = (uint32_t)room;

	if (room == 0)
		return 0;
	int rc = API_CALL(lz, err, zeDeviceGet, driver, &count, ids);
	for (uint32_t i = 0; rc == 0 && i < count && i < room && ids[i] != NULL; i++) {
		cJSON *device = NULL;
		lz->devices[lz->device_count] =
			(struct levelzero_device){.driver = driver, .id = ids[i]};
		rc = describe(lz, lz->device_count, &device, err);
		if (rc == 0) {
			api_report_device(report, device);
			lz->device_count++;
		}
	}
	return rc;
}

static int levelzero_open(struct api_report *report, void *session, struct error *err)
{
	struct levelzero *lz = session;
#define X(name) {#name, &lz->name},
	const struct api_function functions[] = {X(zeInit) /* first: every loader has it */
#include "workloads/levelzero/functions.h"
						 {NULL, NULL}};
#undef X
	ze_driver_handle_t drivers[LEVELZERO_DRIVERS_MAX] = {NULL};
	struct error failure = {0};
	uint32_t count = 0;

	lz->calls = (struct calls){.codes = codes, .code_count = ARRAY_SIZE(codes)};
	int rc = api_load(report, LEVELZERO_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	(void)api_find(LEVELZERO_LIBRARY, "zeInitDrivers", &lz->newer.zeInitDrivers);
	(void)api_find(LEVELZERO_LIBRARY, "zeDevicePciGetPropertiesExt",
		       &lz->newer.zeDevicePciGetPropertiesExt);
	report->missing = "Level Zero driver";
	rc = find_drivers(lz, drivers, &count, err);
	if (rc != 0)
		return rc;

	/* A driver that fails does not hide the devices of the others; `messages` report it. */
	for (uint32_t i = 0; i < count && drivers[i] != NULL; i++) {
		if (add_devices(lz, report, drivers[i], &failure) != 0)
			api_report_message(report, failure.text);
	}
	if (failure.text[0] != '\0' && lz->device_count == 0)
		return error_set(err, ERROR_REMOTE, "%s", failure.text);
	return 0;
}

const struct api_driver levelzero_api = {
	.name = "levelzero",
	.library = LEVELZERO_LIBRARY,
	.summary = "Run verified work on a Level Zero device and report what happened",
	.description =
		"Opens the loader of Level Zero, enumerates drivers and devices, fills and copies memory on one "
		"device, runs a kernel of SPIR-V there and verifies every element of the results on the CPU.",
	.session_size = sizeof(struct levelzero),
	.open = levelzero_open,
	.work = levelzero_work,
};
