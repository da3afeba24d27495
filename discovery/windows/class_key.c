/* SPDX-License-Identifier: MIT */
#include "discovery/windows/pnp.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/windows/wide.h"
#include "discovery/windows/copy_to_vm.h"

#include <stdlib.h>
#include <string.h>
#include <windows.h>

enum {
	VALUE_MAX = 1024 * 1024, /* bytes; Windows' own limit for values */
	NAME_MAX_UNITS = 16384,	 /* its limit for names */
	VALUES_MAX = 4096,
};

static void key_close(HKEY *key)
{
	if (*key != NULL)
		(void)RegCloseKey(*key);
}

#define CLEANUP_KEY CLEANUP(key_close)

/* Opens the driver key, or a key below it. Returns a code of the system. */
static LSTATUS key_open(const struct pnp_device *device, const char *below, HKEY *key)
{
	char *path CLEANUP_FREE =
		text_format("SYSTEM\\CurrentControlSet\\Control\\Class\\%s%s%s", device->driver_key,
			    below != NULL ? "\\" : "", below != NULL ? below : "");
	wchar_t *wide CLEANUP_FREE = path != NULL ? wide_from_utf8(path) : NULL;

	if (wide == NULL)
		return ERROR_OUTOFMEMORY;
	return RegOpenKeyExW(HKEY_LOCAL_MACHINE, wide, 0, KEY_READ | KEY_WOW64_64KEY, key);
}

/* Reads value `index` of a key. ERROR_NO_MORE_ITEMS after the last. */
static LSTATUS key_value(HKEY key, DWORD index, WCHAR *name, BYTE **data, DWORD *size, DWORD *type)
{
	DWORD room = 1024;

	for (;;) {
		DWORD name_units = NAME_MAX_UNITS;
		BYTE *grown = realloc(*data, room);
		if (grown == NULL)
			return ERROR_OUTOFMEMORY;
		*data = grown;
		*size = room;
		LSTATUS status =
			RegEnumValueW(key, index, name, &name_units, NULL, type, *data, size);
		if (status != ERROR_MORE_DATA || room >= VALUE_MAX)
			return status;
		/* The reported size may be stale, because the value can change in between. */
		room = *size > room && *size <= VALUE_MAX ? *size : VALUE_MAX;
	}
}

static void add(struct builder *builder, struct pnp_device *device, const char *key,
		const WCHAR *name, DWORD type, const BYTE *data, DWORD size)
{
	struct registry_value *values =
		arena_grow(&builder->arena, (void *)(uintptr_t)device->values, device->value_count,
			   sizeof(*values));
	char *text CLEANUP_FREE = wide_to_utf8(name);
	uint8_t *copy = arena_allocate(&builder->arena, size != 0 ? size : 1);

	if (values == NULL || copy == NULL || text == NULL)
		return;
	memcpy(copy, data, size);
	device->values = values;
	values[device->value_count++] = (struct registry_value){
		.key = key,
		.name = builder_string(builder, text),
		.type = type,
		.data = copy,
		.size = size,
	};
}

static void diagnose(struct builder *builder, const struct pnp_device *device, const char *key,
		     const WCHAR *name, LSTATUS status)
{
	char *text CLEANUP_FREE = wide_to_utf8(name);
	struct error err = {0};

	(void)error_windows(&err, (unsigned long)status, "Class\\%s\\%s%s%s", device->driver_key,
			    key, name[0] != 0 ? "\\" : "", text != NULL ? text : "");
	builder_diagnose(builder, device->instance_id, "%s", err.text);
}

/* The order of values in the registry is arbitrary. */
static int order(const void *left, const void *right)
{
	const struct registry_value *a = left;
	const struct registry_value *b = right;
	const struct copy_to_vm_key *a_key = copy_to_vm_find_key(a->key);
	const struct copy_to_vm_key *b_key = copy_to_vm_find_key(b->key);

	if (a_key != b_key)
		return a_key < b_key ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void read_values(struct builder *builder, struct pnp_device *device, const char *name)
{
	HKEY key CLEANUP_KEY = NULL;
	WCHAR *value_name CLEANUP_FREE = memory_allocate(NAME_MAX_UNITS, sizeof(*value_name));
	BYTE *data CLEANUP_FREE = NULL;

	LSTATUS status = key_open(device, name, &key);
	if (status == ERROR_FILE_NOT_FOUND || value_name == NULL)
		return;
	for (DWORD i = 0; status == ERROR_SUCCESS && i < VALUES_MAX; i++) {
		DWORD size = 0;
		DWORD type = 0;

		value_name[0] = 0;
		status = key_value(key, i, value_name, &data, &size, &type);
		if (status == ERROR_NO_MORE_ITEMS)
			return;
		if (status == ERROR_MORE_DATA) {
			diagnose(builder, device, name, value_name, status);
			status = ERROR_SUCCESS;
		} else if (status == ERROR_SUCCESS) {
			add(builder, device, name, value_name, type, data, size);
		}
	}
	if (status != ERROR_SUCCESS)
		diagnose(builder, device, name, L"", status);
}

/* A string value of the driver key: "oem4.inf" of "InfPath". "" when there is none. */
static const char *key_string(struct builder *builder, const struct pnp_device *device,
			      const char *name)
{
	HKEY key CLEANUP_KEY = NULL;
	wchar_t *wide CLEANUP_FREE = wide_from_utf8(name);
	WCHAR value[1024] = L"";
	DWORD size = sizeof(value);

	if (wide == NULL || key_open(device, NULL, &key) != ERROR_SUCCESS ||
	    RegGetValueW(key, NULL, wide, RRF_RT_REG_SZ, NULL, value, &size) != ERROR_SUCCESS)
		return "";
	char *text CLEANUP_FREE = wide_to_utf8(value);
	return builder_string(builder, text);
}

void class_key_read(struct builder *builder, struct pnp_device *device)
{
	HKEY key CLEANUP_KEY = NULL;
	unsigned month = 0, day = 0, year = 0;
	int size = 0;

	device->driver_version = "";
	device->driver_date = "";
	device->driver_inf = "";
	device->store_path = "";
	device->store_path_error = "not looked for";
	if (device->driver_key[0] == '\0')
		return;
	device->driver_version = key_string(builder, device, "DriverVersion");
	/* "3-1-2024" as "2024-03-01"; any other text stays as it is. */
	const char *date = key_string(builder, device, "DriverDate");
	if (sscanf(date, "%2u-%2u-%4u%n", &month, &day, &year, &size) == 3 && date[size] == '\0')
		date = arena_format(&builder->arena, "%04u-%02u-%02u", year, month, day);
	device->driver_date = date;
	device->driver_inf = key_string(builder, device, "InfPath");
	/* The key names the driver of OpenGL (Microsoft: "Loading an OpenGL Installable Client Driver"):
	 * one name, or one for each word size. */
	device->opengl =
		key_open(device, NULL, &key) == ERROR_SUCCESS &&
		RegGetValueW(key, NULL, L"OpenGLDriverName", RRF_RT_REG_SZ | RRF_RT_REG_MULTI_SZ,
			     NULL, NULL, NULL) == ERROR_SUCCESS;
	for (size_t i = 0; i < COPY_TO_VM_KEY_COUNT; i++)
		read_values(builder, device, copy_to_vm_keys[i].name);
	if (device->value_count > 1)
		qsort((void *)(uintptr_t)device->values, device->value_count,
		      sizeof(*device->values), order);
}
