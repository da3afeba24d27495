/* SPDX-License-Identifier: MIT */
#include "base/os_version.h"

#include "base/cleanup.h"
#include "base/library.h"
#include "base/windows/wide.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

enum { BUILD_WINDOWS_11 = 22000 };

static const wchar_t current_version[] = L"SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";

static void os_version_text(const wchar_t *name, char *out, size_t size)
{
	wchar_t value[128] = L"";
	DWORD bytes = sizeof(value);
	if (RegGetValueW(HKEY_LOCAL_MACHINE, current_version, name, RRF_RT_REG_SZ, NULL, value,
			 &bytes) != ERROR_SUCCESS)
		return;
	char *text CLEANUP_FREE = wide_to_utf8(value);
	(void)snprintf(out, size, "%s", text != NULL ? text : "");
}

int os_version_read(struct os_version *out, struct error *err)
{
	LONG(WINAPI * get_version)(OSVERSIONINFOEXW *) = NULL;
	OSVERSIONINFOEXW version = {.dwOSVersionInfoSize = sizeof(version)};
	const char *(*wine_get_version)(void) = NULL;
	void *ntdll = NULL;
	SYSTEM_INFO info = {0};
	DWORD revision = 0;
	DWORD bytes = sizeof(revision);
	int rc = library_open("ntdll.dll", &ntdll, err);
	*out = (struct os_version){0};
	if (rc == 0)
		rc = library_function(ntdll, "RtlGetVersion", &get_version, err);
	if (rc < 0)
		return rc;
	if (get_version(&version) != 0)
		return error_set(err, ERROR_IO, "RtlGetVersion failed");
	out->major = version.dwMajorVersion;
	out->minor = version.dwMinorVersion;
	out->build = version.dwBuildNumber;
	if (RegGetValueW(HKEY_LOCAL_MACHINE, current_version, L"UBR", RRF_RT_REG_DWORD, NULL,
			 &revision, &bytes) == ERROR_SUCCESS)
		out->revision = revision;
	GetNativeSystemInfo(&info);
	(void)snprintf(out->architecture, sizeof(out->architecture), "%s",
		       info.wProcessorArchitecture == PROCESSOR_ARCHITECTURE_ARM64 ? "arm64"
										   : "x86_64");
	os_version_text(L"ProductName", out->product, sizeof(out->product));
	os_version_text(L"DisplayVersion", out->display_version, sizeof(out->display_version));
	if (out->display_version[0] == '\0')
		os_version_text(L"ReleaseId", out->display_version, sizeof(out->display_version));
	if (version.wProductType == VER_NT_WORKSTATION && out->build >= BUILD_WINDOWS_11 &&
	    strncmp(out->product, "Windows 10", strlen("Windows 10")) == 0)
		out->product[strlen("Windows 1")] = '1';
	(void)snprintf(out->kernel, sizeof(out->kernel), "%u.%u.%u.%u", out->major, out->minor,
		       out->build, out->revision);
	if (library_function(ntdll, "wine_get_version", &wine_get_version, NULL) == 0)
		(void)snprintf(out->wine, sizeof(out->wine), "%s", wine_get_version());
	return 0;
}
