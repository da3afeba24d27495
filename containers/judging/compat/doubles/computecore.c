/* SPDX-License-Identifier: MIT */
/*
 * A computecore.dll, or vmcompute.dll, for tests: HcsGetServiceProperties() answers with the
 * content of the file HCS_DOUBLE_ANSWER (UTF-8), or fails with the HRESULT of HCS_DOUBLE_ERROR.
 */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

enum { ANSWER_MAX = 64 * 1024 };

#if defined(HCS_DOUBLE_VMCOMPUTE)
__declspec(dllexport) HRESULT WINAPI
	HcsGetServiceProperties(PCWSTR query, PWSTR *properties, PWSTR *result);
#else
__declspec(dllexport) HRESULT WINAPI HcsGetServiceProperties(PCWSTR query, PWSTR *properties);
#endif

static HRESULT answer(PCWSTR query, PWSTR *out)
{
	static char bytes[ANSWER_MAX];
	const char *error = getenv("HCS_DOUBLE_ERROR");
	const char *path = getenv("HCS_DOUBLE_ANSWER");
	FILE *file = NULL;
	int size = 0;
	/* The query is JSON that asks for the basic properties. */
	if (query == NULL || wcscmp(query, L"{\"PropertyTypes\":[\"Basic\"]}") != 0)
		return E_INVALIDARG;
	if (error != NULL)
		return (HRESULT)strtoul(error, NULL, 0);
	if (path == NULL)
		return S_OK;
	file = fopen(path, "rb");
	if (file == NULL)
		return E_FAIL;
	size = (int)fread(bytes, 1, sizeof(bytes) - 1, file);
	(void)fclose(file);
	bytes[size] = '\0';
	*out = LocalAlloc(LPTR, ((size_t)size + 1) * sizeof(WCHAR));
	if (*out == NULL)
		return E_OUTOFMEMORY;
	(void)MultiByteToWideChar(CP_UTF8, 0, bytes, size + 1, *out, size + 1);
	return S_OK;
}

#if defined(HCS_DOUBLE_VMCOMPUTE)
HRESULT WINAPI HcsGetServiceProperties(PCWSTR query, PWSTR *properties, PWSTR *result)
{
	*result = NULL;
	*properties = NULL;
	return answer(query, properties);
}
#else
HRESULT WINAPI HcsGetServiceProperties(PCWSTR query, PWSTR *properties)
{
	*properties = NULL;
	return answer(query, properties);
}
#endif
