/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/windows/setupapi.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "base/text.h"
#include "base/utf16.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

#include <devpropdef.h>
#include <setupapi.h>

#define SETUPAPI_LIBRARY "setupapi.dll"

enum { TEXT_UNITS = 1024, LUID_UNITS = 32 };

/* Device setup classes: Display, and ComputeAccelerator of MCDM. */
static const GUID classes[] = {
	{0x4d36e968, 0xe325, 0x11ce, {0xbf, 0xc1, 0x08, 0x00, 0x2b, 0xe1, 0x03, 0x18}},
	{0xf01a9d53, 0x3ff6, 0x48d2, {0x9f, 0x97, 0xc8, 0xa7, 0x00, 0x4b, 0xe1, 0x0c}},
};

/* Of the adapter that belongs to the device; a 64-bit number, on some systems its decimal text. */
static const DEVPROPKEY luid_key = {
	{0x60b193cb, 0x5276, 0x4d0f, {0x96, 0xfc, 0xf1, 0x73, 0xab, 0xad, 0x3e, 0xc6}}, 2};

struct setup {
	HDEVINFO(WINAPI *SetupDiGetClassDevsW)(const GUID *, PCWSTR, HWND, DWORD);
	BOOL(WINAPI *SetupDiEnumDeviceInfo)(HDEVINFO, DWORD, PSP_DEVINFO_DATA);
	BOOL(WINAPI *SetupDiGetDeviceInstanceIdW)
	(HDEVINFO, PSP_DEVINFO_DATA, PWSTR, DWORD, PDWORD);
	BOOL(WINAPI *SetupDiGetDeviceRegistryPropertyW)
	(HDEVINFO, PSP_DEVINFO_DATA, DWORD, PDWORD, PBYTE, DWORD, PDWORD);
	BOOL(WINAPI *SetupDiGetDevicePropertyW)
	(HDEVINFO, PSP_DEVINFO_DATA, const DEVPROPKEY *, DEVPROPTYPE *, PBYTE, DWORD, PDWORD,
	 DWORD);
	BOOL(WINAPI *SetupDiDestroyDeviceInfoList)(HDEVINFO);
	size_t count;
};

static int load(struct setup *setup, struct api_report *report, struct error *err)
{
	void *library = NULL;
	int code = library_open(SETUPAPI_LIBRARY, &library, err);

	if (code != 0)
		return code;
	api_report_loaded(report, library);
#define LOAD(name)                                                                                 \
	if (library_function(library, #name, &setup->name, NULL) != 0)                             \
		return error_set(err, ERROR_UNAVAILABLE,                                           \
				 SETUPAPI_LIBRARY " has no function " #name);
	LOAD(SetupDiGetClassDevsW)
	LOAD(SetupDiEnumDeviceInfo)
	LOAD(SetupDiGetDeviceInstanceIdW)
	LOAD(SetupDiGetDeviceRegistryPropertyW)
	LOAD(SetupDiGetDevicePropertyW)
	LOAD(SetupDiDestroyDeviceInfoList)
#undef LOAD
	return 0;
}

static void tell_text(struct members *device, const char *key, const WCHAR *wide)
{
	uint16_t units[TEXT_UNITS] = {0};
	size_t length = wcsnlen(wide, TEXT_UNITS);

	memcpy(units, wide, length * sizeof(*units));
	char *text CLEANUP_FREE = utf16_to_utf8(units, length);

	if (text == NULL)
		device->failed = true;
	member_optional(device, key, text);
}

static void tell_property(const struct setup *setup, HDEVINFO set, SP_DEVINFO_DATA *data,
			  DWORD property, struct members *device, const char *key)
{
	WCHAR text[TEXT_UNITS] = {0};
	DWORD type = 0;

	if (setup->SetupDiGetDeviceRegistryPropertyW(set, data, property, &type, (BYTE *)text,
						     sizeof(text) - sizeof(*text), NULL) &&
	    type == REG_SZ)
		tell_text(device, key, text);
	else
		member_null(device, key);
}

static void tell_luid(const struct setup *setup, HDEVINFO set, SP_DEVINFO_DATA *data,
		      struct members *device)
{
	union {
		BYTE bytes[LUID_UNITS * sizeof(WCHAR)];
		uint16_t units[LUID_UNITS];
		int64_t number;
	} luid = {0};
	DEVPROPTYPE type = 0;
	DWORD size = 0;
	bool found = setup->SetupDiGetDevicePropertyW(set, data, &luid_key, &type, luid.bytes,
						      sizeof(luid.bytes) - sizeof(WCHAR), &size, 0);

	if (found && type == DEVPROP_TYPE_STRING) {
		char *text CLEANUP_FREE =
			utf16_to_utf8(luid.units, wcsnlen((WCHAR *)luid.units, LUID_UNITS));
		long long number = 0;

		found = text != NULL &&
			text_to_int64(text, "LUID", INT64_MIN, INT64_MAX, &number, NULL) == 0;
		luid.number = number;
	} else {
		found = found && (type == DEVPROP_TYPE_INT64 || type == DEVPROP_TYPE_UINT64) &&
			size == sizeof(luid.number);
	}
	if (found)
		member_bytes(device, "deviceLuid", luid.bytes, sizeof(luid.number));
	else
		member_null(device, "deviceLuid");
}

static cJSON *describe(const struct setup *setup, HDEVINFO set, SP_DEVINFO_DATA *data)
{
	struct members device CLEANUP_MEMBERS = members_new();
	struct members driver CLEANUP_MEMBERS = members_new();
	WCHAR id[TEXT_UNITS] = {0};

	member_null(&driver, "version");
	member_number(&device, "index", (double)setup->count);
	tell_property(setup, set, data, SPDRP_DEVICEDESC, &device, "name");
	member_string(&device, "type",
		      memcmp(&data->ClassGuid, &classes[1], sizeof(GUID)) == 0 ? "accelerator"
									       : NULL);
	member_bool(&device, "software", false);
	tell_property(setup, set, data, SPDRP_MFG, &device, "vendor");
	if (setup->SetupDiGetDeviceInstanceIdW(set, data, id, TEXT_UNITS - 1, NULL))
		tell_text(&device, "instanceId", id);
	member_null(&device, "deviceUuid");
	tell_luid(setup, set, data, &device);
	member_null(&device, "pciAddress");
	member_item(&device, "driver", members_take(&driver));
	member_null(&device, "memoryBytes");
	return members_take(&device);
}

static int add_class(struct setup *setup, const GUID *class, struct api_report *report,
		     struct error *err)
{
	HDEVINFO set = setup->SetupDiGetClassDevsW(class, NULL, NULL, DIGCF_PRESENT);
	SP_DEVINFO_DATA data = {.cbSize = sizeof(data)};
	int code = 0;

	if (set == INVALID_HANDLE_VALUE)
		return 0;
	for (DWORD i = 0; code == 0 && setup->count < API_DEVICES_MAX &&
			  setup->SetupDiEnumDeviceInfo(set, i, &data);
	     i++) {
		if (!array_add(report->devices, describe(setup, set, &data)))
			code = error_memory(err);
		setup->count++;
	}
	(void)setup->SetupDiDestroyDeviceInfoList(set);
	return code;
}

static int setupapi_open(struct api_report *report, void **session, struct error *err)
{
	struct setup setup = {0};
	struct error reason = {0};
	int code = api_report_begin(report, "setupapi", SETUPAPI_LIBRARY, err);

	*session = NULL;
	if (code != 0)
		return code;
	code = load(&setup, report, &reason);
	if (code == ERROR_NOT_FOUND)
		api_report_unsupported(report, SETUPAPI_LIBRARY, &reason);
	else if (code != 0)
		api_report_failed(report, &reason);
	for (size_t i = 0; code == 0 && i < ARRAY_SIZE(classes); i++) {
		code = add_class(&setup, &classes[i], report, err);
		if (code != 0)
			return code;
	}
	return 0;
}

const struct api_driver setupapi_api = {
	.name = "setupapi", .library = SETUPAPI_LIBRARY, .open = setupapi_open};
