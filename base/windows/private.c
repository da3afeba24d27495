/* SPDX-License-Identifier: MIT */
#include "base/windows/private.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "base/windows/wide.h"

#include <sddl.h>
#include <uv.h>

/* Protected; full access, handed down to what is made below, for owner, SYSTEM, Administrators. */
static const wchar_t owner_only[] = L"D:P(A;OICI;FA;;;OW)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)";

int private_attributes(unsigned mode, SECURITY_ATTRIBUTES *attributes, struct error *err)
{
	*attributes = (SECURITY_ATTRIBUTES){.nLength = sizeof(*attributes)};
	if ((mode & 077) != 0)
		return 0;
	if (ConvertStringSecurityDescriptorToSecurityDescriptorW(
		    owner_only, SDDL_REVISION_1, &attributes->lpSecurityDescriptor, NULL))
		return 0;
	attributes->lpSecurityDescriptor = NULL;
	return error_windows(err, GetLastError(), "access list");
}

void private_close(const HANDLE *file)
{
	if (*file != INVALID_HANDLE_VALUE)
		(void)CloseHandle(*file);
}

void private_free(SECURITY_ATTRIBUTES *attributes)
{
	if (attributes->lpSecurityDescriptor != NULL)
		(void)LocalFree(attributes->lpSecurityDescriptor);
}

enum { UNIQUE_TRIES = 100 };

static char *unique_name(const char *prefix, struct error *err)
{
	uint32_t number = 0;
	int rc = uv_random(NULL, NULL, &number, sizeof(number), 0, NULL);
	char *name = rc == 0 ? text_format("%s%08x", prefix, (unsigned)number) : NULL;
	if (name == NULL)
		(void)(rc < 0 ? error_uv(err, rc, "random numbers") : error_memory(err));
	return name;
}

/* 0, or the system's reason. */
static DWORD unique_make(const wchar_t *path, SECURITY_ATTRIBUTES *attributes, HANDLE *file)
{
	if (file == NULL)
		return CreateDirectoryW(path, attributes) ? 0 : GetLastError();
	*file = CreateFileW(path, GENERIC_WRITE | DELETE, FILE_SHARE_READ | FILE_SHARE_DELETE,
			    attributes, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
	return *file != INVALID_HANDLE_VALUE ? 0 : GetLastError();
}

int private_make_unique(const char *prefix, unsigned mode, char **path, HANDLE *file,
			struct error *err)
{
	SECURITY_ATTRIBUTES attributes CLEANUP_PRIVATE = {0};
	DWORD reason = ERROR_ALREADY_EXISTS;
	int rc = private_attributes(mode, &attributes, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", prefix);
	for (int i = 0; i < UNIQUE_TRIES; i++) {
		struct error failure = {0};
		char *name CLEANUP_FREE = unique_name(prefix, &failure);
		wchar_t *wide CLEANUP_FREE = name != NULL ? wide_path(name) : NULL;
		if (name == NULL)
			return error_copy(err, &failure);
		if (wide == NULL)
			return error_memory(err);
		reason = unique_make(wide, &attributes, file);
		if (reason == 0) {
			*path = STEAL(name);
			return 0;
		}
		if (reason != ERROR_FILE_EXISTS && reason != ERROR_ALREADY_EXISTS)
			break;
	}
	return error_windows(err, reason, "%sXXXXXXXX", prefix);
}
