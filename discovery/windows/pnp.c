/* SPDX-License-Identifier: MIT */
#include "discovery/windows/pnp.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/windows/wide.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <cfgmgr32.h>
#include <devpropdef.h>
#include <setupapi.h>

enum { PROPERTY_MAX = 64 * 1024, LOCATION_PATHS_MAX = 256 };

static const GUID class_display = {
	0x4d36e968, 0xe325, 0x11ce, {0xbf, 0xc1, 0x08, 0x00, 0x2b, 0xe1, 0x03, 0x18}};
static const GUID class_compute = {
	0xf01a9d53, 0x3ff6, 0x48d2, {0x9f, 0x97, 0xc8, 0xa7, 0x00, 0x4b, 0xe1, 0x0c}};

/* devpkey.h declares these only together with their definitions. */
#define DEVICE_PROPERTIES                                                                          \
	{                                                                                          \
		0xa45c254e, 0xdf1c, 0x4efd,                                                        \
		{                                                                                  \
			0x80, 0x20, 0x67, 0xd1, 0x46, 0xa8, 0x50, 0xe0                             \
		}                                                                                  \
	}
static const DEVPROPKEY key_description = {DEVICE_PROPERTIES, 2};
static const DEVPROPKEY key_service = {DEVICE_PROPERTIES, 6};
static const DEVPROPKEY key_driver = {DEVICE_PROPERTIES, 11};
static const DEVPROPKEY key_manufacturer = {DEVICE_PROPERTIES, 13};
static const DEVPROPKEY key_location_paths = {DEVICE_PROPERTIES, 37};
/* The adapter's LUID, which the display port driver stores with the device. */
static const DEVPROPKEY key_luid = {
	{0x60b193cb, 0x5276, 0x4d0f, {0x96, 0xfc, 0xf1, 0x73, 0xab, 0xad, 0x3e, 0xc6}}, 2};

struct pnp_set {
	HDEVINFO handle;
	SP_DEVINFO_DATA data;
	struct pnp_devices *devices;
	const char *instance_id; /* place of diagnostics */
};

/* The bytes of a property, followed by two NULs; NULL when the device lacks it. Caller frees. */
static uint8_t *pnp_property(const struct pnp_set *set, const DEVPROPKEY *key, DEVPROPTYPE *type,
			     DWORD *size)
{
	SP_DEVINFO_DATA data = set->data;
	DWORD needed = 0;

	/* Success means that the property has no bytes. */
	if (SetupDiGetDevicePropertyW(set->handle, &data, key, type, NULL, 0, &needed, 0) ||
	    GetLastError() != ERROR_INSUFFICIENT_BUFFER || needed > PROPERTY_MAX)
		return NULL;
	uint8_t *bytes = memory_allocate(1, needed + 2 * sizeof(WCHAR));
	if (bytes != NULL &&
	    !SetupDiGetDevicePropertyW(set->handle, &data, key, type, bytes, needed, size, 0)) {
		free(bytes);
		return NULL;
	}
	return bytes;
}

static const char *keep_string(const struct pnp_set *set, const WCHAR *wide)
{
	char *text CLEANUP_FREE = wide_to_utf8(wide);

	return builder_string(set->devices->builder, text);
}

static const char *pnp_string(const struct pnp_set *set, const DEVPROPKEY *key, DWORD old_form)
{
	SP_DEVINFO_DATA data = set->data;
	DEVPROPTYPE type = 0;
	DWORD size = 0;
	uint8_t *bytes CLEANUP_FREE = pnp_property(set, key, &type, &size);

	if (bytes != NULL && type == DEVPROP_TYPE_STRING)
		return keep_string(set, (const WCHAR *)(void *)bytes);
	if (bytes != NULL) {
		builder_diagnose(set->devices->builder, set->instance_id,
				 "property %u has type 0x%x, not string", (unsigned)key->pid,
				 (unsigned)type);
		return "";
	}

	/* Plain properties in their old form exist on every system, Wine included. */
	DWORD old_type = 0;
	if (SetupDiGetDeviceRegistryPropertyW(set->handle, &data, old_form, &old_type, NULL, 0,
					      &size) ||
	    GetLastError() != ERROR_INSUFFICIENT_BUFFER || size > PROPERTY_MAX)
		return "";
	BYTE *text CLEANUP_FREE = memory_allocate(1, size + sizeof(WCHAR));
	if (text == NULL ||
	    !SetupDiGetDeviceRegistryPropertyW(set->handle, &data, old_form, &old_type, text, size,
					       NULL) ||
	    old_type != REG_SZ)
		return "";
	return keep_string(set, (const WCHAR *)(void *)text);
}

static const char *const *pnp_location_paths(const struct pnp_set *set)
{
	static const char *const none[] = {NULL};
	struct arena *arena = &set->devices->builder->arena;
	const char **paths = NULL;
	DEVPROPTYPE type = 0;
	DWORD size = 0;
	size_t count = 0;
	uint8_t *bytes CLEANUP_FREE = pnp_property(set, &key_location_paths, &type, &size);

	if (bytes != NULL && type != DEVPROP_TYPE_STRING_LIST)
		builder_diagnose(set->devices->builder, set->instance_id,
				 "the location paths have type 0x%x, not a list of strings",
				 (unsigned)type);
	if (bytes == NULL || type != DEVPROP_TYPE_STRING_LIST)
		return none;
	for (const WCHAR *path = (const WCHAR *)(void *)bytes;
	     (const uint8_t *)path < bytes + size && *path != 0 && count < LOCATION_PATHS_MAX;
	     path += wcslen(path) + 1) {
		const char **grown = arena_grow(arena, paths, count, sizeof(*grown));
		if (grown == NULL)
			return none;
		paths = grown;
		paths[count++] = keep_string(set, path);
		paths[count] = NULL;
	}
	return count != 0 ? paths : none;
}

/* The LUID comes as a 64-bit number, on some systems as its decimal text. */
static bool pnp_luid(const struct pnp_set *set, int64_t *luid)
{
	DEVPROPTYPE type = 0;
	DWORD size = 0;
	uint8_t *bytes CLEANUP_FREE = pnp_property(set, &key_luid, &type, &size);
	long long number = 0;

	if (bytes == NULL)
		return false;
	if ((type == DEVPROP_TYPE_INT64 || type == DEVPROP_TYPE_UINT64) && size == sizeof(*luid)) {
		memcpy(luid, bytes, sizeof(*luid));
		return true;
	}
	if (type == DEVPROP_TYPE_STRING) {
		char *text CLEANUP_FREE = wide_to_utf8((const WCHAR *)(void *)bytes);
		if (text != NULL &&
		    text_to_int64(text, "LUID", INT64_MIN, INT64_MAX, &number, NULL) == 0) {
			*luid = number;
			return true;
		}
	}
	builder_diagnose(set->devices->builder, set->instance_id,
			 "the LUID has type 0x%x and %lu bytes", (unsigned)type,
			 (unsigned long)size);
	return false;
}

static void add(struct pnp_set *set, bool compute_class)
{
	struct builder *builder = set->devices->builder;
	struct pnp_device *items = arena_grow(&builder->arena, set->devices->items,
					      set->devices->count, sizeof(*items));
	struct pnp_device device = {.compute_class = compute_class, .instance_id = ""};
	WCHAR id[MAX_DEVICE_ID_LEN] = L"";
	ULONG status = 0;
	ULONG problem = 0;

	if (items == NULL)
		return;
	if (SetupDiGetDeviceInstanceIdW(set->handle, &set->data, id, MAX_DEVICE_ID_LEN, NULL))
		device.instance_id = keep_string(set, id);
	set->instance_id = device.instance_id;
	if (device.instance_id[0] == '\0') {
		builder_diagnose(builder, "SetupAPI", "a device without instance id");
		return;
	}
	device.description = pnp_string(set, &key_description, SPDRP_DEVICEDESC);
	device.manufacturer = pnp_string(set, &key_manufacturer, SPDRP_MFG);
	device.service = pnp_string(set, &key_service, SPDRP_SERVICE);
	device.driver_key = pnp_string(set, &key_driver, SPDRP_DRIVER);
	device.location_paths = pnp_location_paths(set);
	device.has_luid = pnp_luid(set, &device.luid);
	if (CM_Get_DevNode_Status(&status, &problem, set->data.DevInst, 0) == CR_SUCCESS &&
	    (status & DN_HAS_PROBLEM) != 0)
		device.problem = (unsigned)problem;
	class_key_read(builder, &device);
	set->devices->items = items;
	items[set->devices->count++] = device;
}

static int list_class(struct pnp_devices *devices, const GUID *class, bool compute_class,
		      struct error *err)
{
	struct pnp_set set = {
		.handle = SetupDiGetClassDevsW(class, NULL, NULL, DIGCF_PRESENT),
		.data = {.cbSize = sizeof(SP_DEVINFO_DATA)},
		.devices = devices,
	};

	if (set.handle == INVALID_HANDLE_VALUE)
		return error_windows(err, GetLastError(), "list of devices");
	for (DWORD i = 0; SetupDiEnumDeviceInfo(set.handle, i, &set.data); i++)
		add(&set, compute_class);
	(void)SetupDiDestroyDeviceInfoList(set.handle);
	return 0;
}

int pnp_list(struct pnp_devices *devices, struct error *err)
{
	int rc = list_class(devices, &class_display, false, err);
	if (rc == 0)
		rc = list_class(devices, &class_compute, true, err);
	return rc;
}
