/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/levelzero_double.h"

#include "workloads/doubles/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* zeInitDrivers() is newer than the headers. */
struct driver_types {
	uint32_t type;
	const void *next;
	uint32_t flags;
};

ZE_APIEXPORT ze_result_t ZE_APICALL zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers,
						  struct driver_types *types);

static struct double_object driver;
static struct double_object devices[DOUBLE_DEVICES_MAX];

struct double_object *double_object_new(void)
{
	struct double_object *object = calloc(1, sizeof(*object));
	if (object == NULL)
		_Exit(99);
	return object;
}

static size_t index_of(ze_device_handle_t device)
{
	return ((struct double_object *)device)->index;
}

ze_result_t ZE_APICALL zeInit(ze_init_flags_t flags)
{
	(void)flags;
	ENTER(zeInit);
	if (setting_has("noise"))
		(void)printf("the driver says hello\n"), (void)fflush(stdout);
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDriverGet(uint32_t *count, ze_driver_handle_t *drivers)
{
	ENTER(zeDriverGet);
	if (drivers != NULL && *count > 0)
		drivers[0] = (ze_driver_handle_t)&driver;
	*count = setting_has("no-driver") ? 0 : 1;
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeInitDrivers(uint32_t *count, ze_driver_handle_t *drivers,
				     struct driver_types *types)
{
	ENTER(zeInitDrivers);
	if (types == NULL || types->type != 0x00020021 || types->flags == 0)
		return ZE_RESULT_ERROR_INVALID_ENUMERATION;
	return zeDriverGet(count, drivers);
}

ze_result_t ZE_APICALL zeDriverGetApiVersion(ze_driver_handle_t handle, ze_api_version_t *version)
{
	(void)handle;
	ENTER(zeDriverGetApiVersion);
	*version = ZE_API_VERSION_1_3;
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDriverGetProperties(ze_driver_handle_t handle,
					     ze_driver_properties_t *properties)
{
	(void)handle;
	ENTER(zeDriverGetProperties);
	memset(properties->uuid.id, 0xd0, sizeof(properties->uuid.id));
	properties->driverVersion = 0x01066666;
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t handle, uint32_t *count,
				   ze_device_handle_t *out)
{
	const size_t wanted = setting_number("devices", 1);
	const size_t own = wanted < DOUBLE_DEVICES_MAX ? wanted : DOUBLE_DEVICES_MAX;
	(void)handle;
	ENTER(zeDeviceGet);
	for (size_t i = 0; i < DOUBLE_DEVICES_MAX; i++)
		devices[i].index = DOUBLE_FIRST_DEVICE + i;
	for (size_t i = 0; out != NULL && i < own && i < *count; i++)
		out[i] = (ze_device_handle_t)&devices[i];
	*count = setting_has("boast") ? UINT32_MAX : (uint32_t)own;
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t device,
					     ze_device_properties_t *properties)
{
	ze_device_luid_ext_properties_t *luid = properties->pNext;
	const size_t index = index_of(device);
	ENTER(zeDeviceGetProperties);
	properties->type = setting_has("software") ? ZE_DEVICE_TYPE_CPU : ZE_DEVICE_TYPE_GPU;
	properties->vendorId = 0x8086;
	properties->deviceId = 0x56a0;
	properties->maxMemAllocSize = 16u << 20;
	properties->numSlices = 8;
	properties->numSubslicesPerSlice = 4;
	properties->numEUsPerSubslice = 16;
	(void)snprintf(properties->name, sizeof(properties->name), "Double %zu \xff", index);
	if (setting_has("old"))
		return ZE_RESULT_SUCCESS;
	memset(properties->uuid.id, (int)index + 1, sizeof(properties->uuid.id));
	if (luid != NULL && luid->stype == ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES)
		memset(luid->luid.id, 0x10 + (int)index, sizeof(luid->luid.id));
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDevicePciGetPropertiesExt(ze_device_handle_t device,
						   ze_pci_ext_properties_t *properties)
{
	ENTER(zeDevicePciGetPropertiesExt);
	if (setting_has("old"))
		return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
	properties->address.domain = (uint32_t)setting_number("pci-domain", 1);
	properties->address.bus = (uint32_t)(setting_number("pci-bus", 0x40) +
					     (setting_has("parts") ? 0 : index_of(device)));
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetMemoryProperties(ze_device_handle_t device, uint32_t *count,
						   ze_device_memory_properties_t *properties)
{
	(void)device;
	ENTER(zeDeviceGetMemoryProperties);
	for (uint32_t i = 0; properties != NULL && i < *count && i < 2; i++)
		properties[i].totalSize = 32u << 20;
	*count = 2;
	return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL zeDeviceGetCommandQueueGroupProperties(
	ze_device_handle_t device, uint32_t *count, ze_command_queue_group_properties_t *groups)
{
	(void)device;
	ENTER(zeDeviceGetCommandQueueGroupProperties);
	if (groups != NULL && *count > 0)
		groups[0].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
	if (groups != NULL && *count > 1)
		groups[1].flags = setting_has("graphics-only")
					  ? 0
					  : ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE;
	*count = 2;
	return ZE_RESULT_SUCCESS;
}
