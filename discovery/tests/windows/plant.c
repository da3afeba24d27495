/* SPDX-License-Identifier: MIT */
#include "discovery/tests/windows/plant.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/os_version.h"
#include "base/path.h"
#include "base/text.h"
#include "base/windows/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setupapi.h>

/* MinGW-w64 does not declare it. */
WINSETUPAPI BOOL WINAPI SetupDiSetDevicePropertyW(HDEVINFO set, SP_DEVINFO_DATA *device,
						  const DEVPROPKEY *key, DEVPROPTYPE type,
						  const BYTE *data, DWORD size, DWORD flags);

#define PREFIX "HKEY_LOCAL_MACHINE\\"

static const GUID class_display = {
	0x4d36e968, 0xe325, 0x11ce, {0xbf, 0xc1, 0x08, 0x00, 0x2b, 0xe1, 0x03, 0x18}};
static const GUID class_compute = {
	0xf01a9d53, 0x3ff6, 0x48d2, {0x9f, 0x97, 0xc8, 0xa7, 0x00, 0x4b, 0xe1, 0x0c}};

const DEVPROPKEY plant_luid = {
	{0x60b193cb, 0x5276, 0x4d0f, {0x96, 0xfc, 0xf1, 0x73, 0xab, 0xad, 0x3e, 0xc6}}, 2};
const DEVPROPKEY plant_location_paths = {
	{0xa45c254e, 0xdf1c, 0x4efd, {0x80, 0x20, 0x67, 0xd1, 0x46, 0xa8, 0x50, 0xe0}}, 37};

bool plant_is_allowed(void)
{
	struct os_version version = {0};
	DISPLAY_DEVICEW display = {.cb = sizeof(display)};
	if (os_version_read(&version, NULL) == 0 && version.wine[0] != '\0') {
		/* Wine makes the keys of displays anew when it is first asked for them. */
		(void)EnumDisplayDevicesW(NULL, 0, &display, 0);
		return true;
	}
	(void)printf("devices are planted under Wine alone\n");
	return false;
}

static int plant_failed(const char *what, const char *about)
{
	(void)printf("\n%s of %s failed (%lu)\n", what, about, GetLastError());
	return -1;
}

/* A list of strings, with a NUL behind each and one behind all. Returns its size in bytes. */
static DWORD plant_strings(const char *const *strings, WCHAR *out, size_t room)
{
	size_t used = 0;
	for (; *strings != NULL; strings++) {
		wchar_t *wide CLEANUP_FREE = wide_from_utf8(*strings);
		if (wide == NULL || used + wcslen(wide) + 2 > room)
			abort();
		wcscpy(out + used, wide);
		used += wcslen(wide) + 1;
	}
	out[used++] = 0;
	return (DWORD)(used * sizeof(WCHAR));
}

static void plant_set_text(HDEVINFO set, SP_DEVINFO_DATA *data, DWORD property, const char *text)
{
	wchar_t *wide CLEANUP_FREE = wide_from_utf8(text);
	if (wide == NULL ||
	    !SetupDiSetDeviceRegistryPropertyW(set, data, property, (const BYTE *)wide,
					       (DWORD)((wcslen(wide) + 1) * sizeof(WCHAR))))
		(void)plant_failed("registry property", text);
}

static int plant_node(const struct discovery_device *device)
{
	const GUID *class = device->kind == DISCOVERY_COMPUTE ? &class_compute : &class_display;
	HDEVINFO set = SetupDiCreateDeviceInfoList(class, NULL);
	SP_DEVINFO_DATA data = {.cbSize = sizeof(data)};
	wchar_t *id CLEANUP_FREE = wide_from_utf8(device->pnp_instance_id);
	bool made = SetupDiCreateDeviceInfoW(set, id, class, NULL, NULL, 0, &data) &&
		    SetupDiRegisterDeviceInfo(set, &data, 0, NULL, NULL, NULL);
	if (!made)
		(void)plant_failed("device", device->pnp_instance_id);
	if (made) {
		plant_set_text(set, &data, SPDRP_DEVICEDESC, device->description);
		plant_set_text(set, &data, SPDRP_MFG,
			       device->manufacturer[0] != '\0' ? device->manufacturer
							       : device->vendor);
		plant_set_text(set, &data, SPDRP_SERVICE, device->driver_name);
		plant_set_text(set, &data, SPDRP_DRIVER,
			       strstr(device->driver_key, "\\Class\\") + strlen("\\Class\\"));
	}
	(void)SetupDiDestroyDeviceInfoList(set);
	return made ? 0 : -1;
}

int plant_property(const char *instance_id, const DEVPROPKEY *key, DEVPROPTYPE type,
		   const void *data, DWORD size)
{
	HDEVINFO set = SetupDiCreateDeviceInfoList(NULL, NULL);
	SP_DEVINFO_DATA device = {.cbSize = sizeof(device)};
	wchar_t *id CLEANUP_FREE = wide_from_utf8(instance_id);
	bool done = SetupDiOpenDeviceInfoW(set, id, NULL, 0, &device) &&
		    SetupDiSetDevicePropertyW(set, &device, key, type, data, size, 0);
	if (!done)
		(void)plant_failed("property", instance_id);
	(void)SetupDiDestroyDeviceInfoList(set);
	return done ? 0 : -1;
}

int plant_value(const struct discovery_device *device, const char *key, const WCHAR *name,
		DWORD type, const void *data, DWORD size)
{
	char *path CLEANUP_FREE = text_format("%s%s%s", device->driver_key + strlen(PREFIX),
					      key[0] != '\0' ? "\\" : "", key);
	wchar_t *wide CLEANUP_FREE = path != NULL ? wide_from_utf8(path) : NULL;
	HKEY handle = NULL;
	LSTATUS status = RegCreateKeyExW(HKEY_LOCAL_MACHINE, wide, 0, NULL, 0, KEY_WRITE, NULL,
					 &handle, NULL);
	if (status == ERROR_SUCCESS)
		status = RegSetValueExW(handle, name, 0, type, data, size);
	(void)RegCloseKey(handle);
	SetLastError((DWORD)status);
	return status == ERROR_SUCCESS ? 0 : plant_failed("registry value", path);
}

/* The INF in the driver's folder, and its installed copy under another name. */
static int plant_driver(const struct discovery_device *device)
{
	const char *folder = path_base(device->driver_store_path);
	const char *end = strstr(folder, "_amd64");
	char *name CLEANUP_FREE = strndup(folder, (size_t)(end - folder));
	char *inf CLEANUP_FREE = text_format("%s\\%s", device->driver_store_path, name);
	char *installed CLEANUP_FREE = text_format("oem%s", name);
	char *copy CLEANUP_FREE = text_format("C:\\windows\\INF\\%s", installed);
	char *content CLEANUP_FREE = text_format("; %s\r\n", folder);
	wchar_t *wide CLEANUP_FREE = wide_from_utf8(installed);
	struct error err = {0};
	if (file_make_directories(device->driver_store_path, 0755, &err) < 0 ||
	    file_write_atomic(inf, content, strlen(content), 0644, &err) < 0 ||
	    file_make_directories("C:\\windows\\INF", 0755, &err) < 0 ||
	    file_write_atomic(copy, content, strlen(content), 0644, &err) < 0)
		return plant_failed(err.text, folder);
	return plant_value(device, "", L"InfPath", REG_SZ, wide,
			   (DWORD)((wcslen(wide) + 1) * sizeof(WCHAR)));
}

static int plant_file(const struct discovery_device *device, size_t index)
{
	const struct discovery_file *file = &device->files[index];
	const char *source = file->source + strlen(device->driver_store_path) + 1;
	const char *destination = path_base(file->destination);
	bool same = strcmp(path_base(source), destination) == 0;
	const char *const strings[] = {source, same ? NULL : destination, NULL};
	WCHAR data[1024] = L"";
	WCHAR name[16] = L"";
	DWORD size = plant_strings(strings, data, ARRAY_SIZE(data));
	(void)_snwprintf(name, ARRAY_SIZE(name) - 1, L"%04u", (unsigned)index);
	return plant_value(device, file->origin, name, REG_MULTI_SZ, data, size);
}

int plant_device(const struct discovery_device *device)
{
	const char *const one[] = {device->location_path, NULL};
	bool several = device->location_paths[0] != NULL;
	WCHAR paths[1024] = L"";
	DWORD size =
		plant_strings(several ? device->location_paths : one, paths, ARRAY_SIZE(paths));
	int rc = plant_node(device);
	if (rc == 0 && (several || one[0][0] != '\0'))
		rc = plant_property(device->pnp_instance_id, &plant_location_paths,
				    DEVPROP_TYPE_STRING_LIST, paths, size);
	if (rc == 0)
		rc = plant_property(device->pnp_instance_id, &plant_luid, DEVPROP_TYPE_INT64,
				    &device->luid, sizeof(device->luid));
	if (rc == 0)
		rc = plant_driver(device);
	for (size_t i = 0; rc == 0 && i < device->file_count; i++)
		rc = plant_file(device, i);
	return rc;
}

void plant_remove(const struct discovery_device *device)
{
	HDEVINFO set = SetupDiCreateDeviceInfoList(NULL, NULL);
	SP_DEVINFO_DATA data = {.cbSize = sizeof(data)};
	wchar_t *id CLEANUP_FREE = wide_from_utf8(device->pnp_instance_id);
	wchar_t *key CLEANUP_FREE = wide_from_utf8(device->driver_key + strlen(PREFIX));
	if (!SetupDiOpenDeviceInfoW(set, id, NULL, 0, &data) || !SetupDiRemoveDevice(set, &data))
		(void)plant_failed("removal", device->pnp_instance_id);
	(void)SetupDiDestroyDeviceInfoList(set);
	(void)RegDeleteTreeW(HKEY_LOCAL_MACHINE, key);
}
