/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/windows/wide.h"

#include <string.h>
#include <windows.h>

enum { SMBIOS_MAX = 1024 * 1024, SMBIOS_HEADER = 8, STRUCTURE_HEADER = 4, SERIAL_AT = 7 };

static int add_machine(struct redactor *redactor, struct error *err)
{
	wchar_t value[64] = L"";
	DWORD bytes = sizeof(value);
	if (RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid",
			 RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY, NULL, value,
			 &bytes) != ERROR_SUCCESS)
		return 0;
	char *text CLEANUP_FREE = wide_to_utf8(value);
	if (text == NULL)
		return error_memory(err);
	redactor_set_key(redactor, text);
	return redactor_add(redactor, REDACT_SERIAL, text, err);
}

/* The string of that number behind a structure; NULL: none. Strings end with a NUL, the last with two. */
static const char *smbios_string(const char *strings, const char *end, unsigned number)
{
	while (number > 1 && strings < end && *strings != '\0') {
		strings += strnlen(strings, (size_t)(end - strings)) + 1;
		number--;
	}
	return number == 1 && strings < end &&
			       memchr(strings, '\0', (size_t)(end - strings)) != NULL
		       ? strings
		       : NULL;
}

/* DSP0134 (SMBIOS), 7.2 to 7.4: serial numbers of system, board and chassis. */
static int add_structures(struct redactor *redactor, const char *at, const char *end,
			  struct error *err)
{
	int rc = 0;
	while (rc == 0 && end - at > STRUCTURE_HEADER) {
		unsigned type = (unsigned char)at[0];
		size_t length = (unsigned char)at[1];
		if (length < STRUCTURE_HEADER || length >= (size_t)(end - at))
			return 0;
		const char *strings = at + length;
		const char *serial =
			type >= 1 && type <= 3 && length > SERIAL_AT
				? smbios_string(strings, end, (unsigned char)at[SERIAL_AT])
				: NULL;
		if (serial != NULL)
			rc = redactor_add(redactor, REDACT_SERIAL, serial, err);
		while (end - strings >= 2 && (strings[0] != '\0' || strings[1] != '\0'))
			strings++;
		at = strings + 2;
		if (at > end)
			return rc;
	}
	return rc;
}

/* Of a host in a domain. */
static int add_full_name(struct redactor *redactor, struct error *err)
{
	wchar_t name[256] = L"";
	DWORD size = ARRAY_SIZE(name);
	if (!GetComputerNameExW(ComputerNameDnsFullyQualified, name, &size))
		return 0;
	char *text CLEANUP_FREE = wide_to_utf8(name);
	return text != NULL ? redactor_add(redactor, REDACT_HOST, text, err) : error_memory(err);
}

int redactor_add_machine(struct redactor *redactor, const char *host, struct error *err)
{
	const DWORD provider = 'R' << 24 | 'S' << 16 | 'M' << 8 | 'B';
	int rc = add_machine(redactor, err);
	(void)host;
	if (rc == 0)
		rc = add_full_name(redactor, err);
	UINT size = GetSystemFirmwareTable(provider, 0, NULL, 0);
	if (rc < 0 || size <= SMBIOS_HEADER || size > SMBIOS_MAX)
		return rc;
	char *table CLEANUP_FREE = calloc(1, size);
	if (table == NULL)
		return error_memory(err);
	UINT read = GetSystemFirmwareTable(provider, 0, table, size);
	if (read <= SMBIOS_HEADER || read > size)
		return 0;
	return add_structures(redactor, table + SMBIOS_HEADER, table + read, err);
}
