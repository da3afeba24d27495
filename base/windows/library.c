/* SPDX-License-Identifier: MIT */
#include "base/library.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/windows/wide.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <windows.h>

int library_open(const char *name, void **handle, struct error *err)
{
	bool bare = strpbrk(name, "/\\") == NULL;
	wchar_t *wide CLEANUP_FREE = bare ? wide_from_utf8(name) : wide_full_path(name);
	if (wide == NULL)
		return error_memory(err);
	/* No message boxes for broken DLLs. */
	(void)SetThreadErrorMode(SEM_FAILCRITICALERRORS | SEM_NOOPENFILEERRORBOX, NULL);
	HMODULE module = bare ? GetModuleHandleW(wide) : NULL;
	if (module == NULL)
		module = LoadLibraryExW(wide, NULL,
					bare ? LOAD_LIBRARY_SEARCH_SYSTEM32
					     : LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR |
							LOAD_LIBRARY_SEARCH_SYSTEM32);
	DWORD reason = GetLastError();
	if (module == NULL) {
		int rc = error_windows(err, reason, "%s", name);
		/* The same code is returned when a dependency of this DLL is missing. */
		if (rc == ERROR_NOT_FOUND && (reason != ERROR_MOD_NOT_FOUND || bare ||
					      GetFileAttributesW(wide) == INVALID_FILE_ATTRIBUTES))
			return rc;
		if (err != NULL)
			err->code = ERROR_UNAVAILABLE;
		return ERROR_UNAVAILABLE;
	}
	*handle = module;
	return 0;
}

int library_function(void *handle, const char *name, void *function, struct error *err)
{
	FARPROC address = GetProcAddress(handle, name);
	if (address == NULL)
		return error_set(err, ERROR_NOT_FOUND, "the library has no function %s", name);
	memcpy(function, &address, sizeof(address));
	return 0;
}

void library_path(void *handle, char *out, size_t size)
{
	enum { PATH_UNITS_MAX = 32768 };
	wchar_t *wide CLEANUP_FREE = memory_allocate(PATH_UNITS_MAX, sizeof(*wide));
	const bool known = wide != NULL && GetModuleFileNameW(handle, wide, PATH_UNITS_MAX) != 0;
	char *path CLEANUP_FREE = known ? wide_to_utf8(wide) : NULL;
	(void)snprintf(out, size, "%s", path != NULL ? path : "");
}

/* From the fixed part of the version resource. */
void library_version(void *handle, char *out, size_t size)
{
	/* VS_VERSIONINFO: three words, the key "VS_VERSION_INFO", padding to 32 bits, the value. */
	enum {
		VERSION_TYPE = 16 /* RT_VERSION */,
		FIXED_OFFSET = 40,
		FIXED_SIGNATURE = (int)0xFEEF04BD
	};
	HRSRC resource = FindResourceW(handle, MAKEINTRESOURCEW(VS_VERSION_INFO),
				       MAKEINTRESOURCEW(VERSION_TYPE));
	HGLOBAL loaded = resource != NULL ? LoadResource(handle, resource) : NULL;
	const char *data = loaded != NULL ? LockResource(loaded) : NULL;
	VS_FIXEDFILEINFO info = {0};
	out[0] = '\0';
	if (data == NULL || SizeofResource(handle, resource) < FIXED_OFFSET + sizeof(info))
		return;
	memcpy(&info, data + FIXED_OFFSET, sizeof(info));
	if (info.dwSignature == (DWORD)FIXED_SIGNATURE)
		(void)snprintf(out, size, "%u.%u.%u.%u", HIWORD(info.dwFileVersionMS),
			       LOWORD(info.dwFileVersionMS), HIWORD(info.dwFileVersionLS),
			       LOWORD(info.dwFileVersionLS));
}
