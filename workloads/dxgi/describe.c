/* SPDX-License-Identifier: MIT */
#include "workloads/dxgi/dxgi.h"

#include "base/cleanup.h"
#include "base/utf16.h"
#include "workloads/directx/wine.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { VENDOR_MICROSOFT = 0x1414, DEVICE_BASIC_RENDER = 0x8c, DXGI_FLAG_SOFTWARE = 2 };

static void tell_name(struct members *device, const WCHAR *name, size_t size)
{
	size_t length = wcsnlen(name, size);
	uint16_t units[ARRAY_SIZE(((DXGI_ADAPTER_DESC1 *)NULL)->Description)] = {0};

	memcpy(units, name, length * sizeof(*units));
	char *text CLEANUP_FREE = utf16_to_utf8(units, length);

	if (text == NULL)
		device->failed = true;
	member_string(device, "name", text);
}

/* The version of the user-mode driver. */
static cJSON *describe_driver(IDXGIAdapter1 *adapter)
{
	struct members driver CLEANUP_MEMBERS = members_new();
	LARGE_INTEGER version = {0};

	if (IDXGIAdapter1_CheckInterfaceSupport(adapter, &IID_IDXGIDevice, &version) < 0)
		member_null(&driver, "version");
	else
		member_format(&driver, "version", "%u.%u.%u.%u", (unsigned)HIWORD(version.HighPart),
			      (unsigned)LOWORD(version.HighPart), (unsigned)HIWORD(version.LowPart),
			      (unsigned)LOWORD(version.LowPart));
	return members_take(&driver);
}

static bool is_software(const struct dxgi *dxgi, const DXGI_ADAPTER_DESC1 *description,
			const char *name)
{
	return (description->Flags & DXGI_FLAG_SOFTWARE) != 0 ||
	       (description->VendorId == VENDOR_MICROSOFT &&
		description->DeviceId == DEVICE_BASIC_RENDER) ||
	       (dxgi->emulator[0] != '\0' &&
		(wine_renderer_is_software(dxgi->renderer) || wine_renderer_is_software(name)));
}

cJSON *dxgi_describe(struct dxgi *dxgi, size_t index)
{
	struct members device CLEANUP_MEMBERS = members_new();
	DXGI_ADAPTER_DESC1 description = {0};
	bool software = false;

	(void)IDXGIAdapter1_GetDesc1(dxgi->adapters[index], &description);
	member_number(&device, "index", (double)index);
	tell_name(&device, description.Description, ARRAY_SIZE(description.Description));
	software = is_software(dxgi, &description,
			       cJSON_GetStringValue(cJSON_GetObjectItem(device.object, "name")));
	member_string(&device, "type", software ? "cpu" : NULL);
	member_bool(&device, "software", software);
	member_hex(&device, "vendorId", description.VendorId, 4);
	member_hex(&device, "deviceId", description.DeviceId, 4);
	member_hex(&device, "subSystemId", description.SubSysId, 8);
	member_hex(&device, "revision", description.Revision, 2);
	member_null(&device, "deviceUuid");
	member_bytes(&device, "deviceLuid", (const uint8_t *)&description.AdapterLuid,
		     sizeof(description.AdapterLuid));
	member_null(&device, "pciAddress");
	member_item(&device, "driver", describe_driver(dxgi->adapters[index]));
	member_number(&device, "memoryBytes", (double)description.DedicatedVideoMemory);
	if (dxgi->emulator[0] != '\0')
		member_optional(&device, "renderer", dxgi->renderer);
	return members_take(&device);
}
