/* SPDX-License-Identifier: MIT */
#include "base/windows/wide.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/utf16.h"

#include <stdio.h>
#include <string.h>
#include <windows.h>

_Static_assert(sizeof(wchar_t) == sizeof(uint16_t), "Windows strings are UTF-16");

enum { WIDE_PATH_SHORT = 240 }; /* below MAX_PATH, with room for a directory's 8.3 file */

wchar_t *wide_from_utf8(const char *text)
{
	return (wchar_t *)utf16_from_utf8(text, NULL);
}

char *wide_to_utf8(const wchar_t *text)
{
	return utf16_to_utf8((const uint16_t *)text, wcslen(text));
}

/* Puts `prefix` before an absolute path, unless that begins with "\\" (a share, or the prefix). */
static wchar_t *wide_full(const wchar_t *plain, const wchar_t *prefix)
{
	DWORD size = GetFullPathNameW(plain, 0, NULL, NULL);
	wchar_t *path CLEANUP_FREE = size != 0 ? memory_allocate(size, sizeof(*path)) : NULL;
	if (path == NULL || GetFullPathNameW(plain, size, path, NULL) >= size)
		return NULL;
	if (wcsncmp(path, L"\\\\", 2) == 0)
		prefix = L"";
	wchar_t *full = memory_allocate(wcslen(prefix) + wcslen(path) + 1, sizeof(*full));
	if (full != NULL) {
		wcscpy(full, prefix);
		wcscat(full, path);
	}
	return full;
}

wchar_t *wide_path(const char *path)
{
	wchar_t *plain CLEANUP_FREE = wide_from_utf8(path);
	for (wchar_t *p = plain; p != NULL && *p != L'\0'; p++) {
		if (*p == L'/')
			*p = L'\\';
	}
	if (plain == NULL || wcslen(plain) < WIDE_PATH_SHORT)
		return STEAL(plain);
	return wide_full(plain, L"\\\\?\\");
}

wchar_t *wide_full_path(const char *path)
{
	wchar_t *plain CLEANUP_FREE = wide_path(path);
	return plain != NULL ? wide_full(plain, L"") : NULL;
}

static int code_of_windows(unsigned long code)
{
	switch (code) {
	case ERROR_FILE_NOT_FOUND:
	case ERROR_PATH_NOT_FOUND:
	case ERROR_INVALID_NAME:
	case ERROR_BAD_NETPATH:
	case ERROR_MOD_NOT_FOUND:
	case ERROR_PROC_NOT_FOUND:
	case ERROR_DIRECTORY:
		return ERROR_NOT_FOUND;
	case ERROR_FILE_EXISTS:
	case ERROR_ALREADY_EXISTS:
		return ERROR_EXISTS;
	case ERROR_ACCESS_DENIED:
	case ERROR_PRIVILEGE_NOT_HELD:
		return ERROR_PERMISSION;
	case ERROR_SHARING_VIOLATION:
	case ERROR_LOCK_VIOLATION:
	case ERROR_PIPE_BUSY:
		return ERROR_BUSY;
	case ERROR_NOT_ENOUGH_MEMORY:
	case ERROR_OUTOFMEMORY:
		return ERROR_MEMORY;
	default:
		return ERROR_IO;
	}
}

int error_windows(struct error *err, unsigned long code, const char *format, ...)
{
	/* The system's sentence, without its full stop and line end. */
	wchar_t *message = NULL;
	DWORD length = FormatMessageW(FORMAT_MESSAGE_ALLOCATE_BUFFER | FORMAT_MESSAGE_FROM_SYSTEM |
					      FORMAT_MESSAGE_IGNORE_INSERTS,
				      NULL, code, 0, (wchar_t *)&message, 0, NULL);
	while (length > 0 && wcschr(L"\r\n. ", message[length - 1]) != NULL)
		message[--length] = L'\0';
	char *reason CLEANUP_FREE =
		length > 0 ? wide_to_utf8(message) : text_format("Windows error %lu", code);
	(void)LocalFree(message);
	struct text text CLEANUP_TEXT = {0};
	text_add_formatted(&text, format);
	return error_set(err, code_of_windows(code), "%s: %s", text_string(&text),
			 reason != NULL ? reason : "");
}
