/* SPDX-License-Identifier: MIT */
#include "reports/redact/redact_internal.h"

#include "base/memory.h"
#include "base/windows/wide.h"

#include <string.h>
#include <windows.h>

enum { SMBIOS_MAX = 1024 * 1024, SMBIOS_HEADER = 8, STRUCTURE_HEADER = 4, SERIAL_AT = 7 };

/* The string of that number after a structure; NULL: none. Strings end with a NUL, the last with two. */
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

int redactor_add_machine(struct redactor *redactor, const char *host, struct error *err)
{
	const DWORD provider = 'R' << 24 | 'S' << 16 | 'M' << 8 | 'B';
	wchar_t guid[64] = L"";
	wchar_t name[256] = L"";
	DWORD bytes = sizeof(guid);
	DWORD length = ARRAY_SIZE(name);
	int rc = 0;
	(void)host;
	if (RegGetValueW(HKEY_LOCAL_MACHINE, L"SOFTWARE\\Microsoft\\Cryptography", L"MachineGuid",
			 RRF_RT_REG_SZ | RRF_SUBKEY_WOW6464KEY, NULL, guid,
			 &bytes) == ERROR_SUCCESS) {
		char *text CLEANUP_FREE = wide_to_utf8(guid);
		redactor_set_key(redactor, text);
		rc = redactor_add(redactor, REDACT_SERIAL, text, err);
	}
	/* The name of a host in a domain. */
	if (rc == 0 && GetComputerNameExW(ComputerNameDnsFullyQualified, name, &length)) {
		char *text CLEANUP_FREE = wide_to_utf8(name);
		rc = redactor_add(redactor, REDACT_HOST, text, err);
	}

	UINT size = GetSystemFirmwareTable(provider, 0, NULL, 0);
	if (rc < 0 || size <= SMBIOS_HEADER || size > SMBIOS_MAX)
		return rc;
	char *table CLEANUP_FREE = memory_allocate(1, size);
	UINT read = GetSystemFirmwareTable(provider, 0, table, size);
	if (read <= SMBIOS_HEADER || read > size)
		return 0;
	return add_structures(redactor, table + SMBIOS_HEADER, table + read, err);
}
