/* SPDX-License-Identifier: MIT */
#include "base/windows/private.h"

#include "base/cleanup.h"
#include "base/text.h"
#include "base/windows/wide.h"

#include <sddl.h>
#include <uv.h>

/* Protected; full access, inherited by new entries, for owner, SYSTEM, Administrators. */
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

int private_make_unique(const char *prefix, unsigned mode, char **path, HANDLE *file,
			struct error *err)
{
	SECURITY_ATTRIBUTES attributes CLEANUP_PRIVATE = {0};
	DWORD reason = ERROR_ALREADY_EXISTS;
	int rc = private_attributes(mode, &attributes, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s", prefix);
	for (int i = 0; i < UNIQUE_TRIES; i++) {
		uint32_t number = 0;
		rc = uv_random(NULL, NULL, &number, sizeof(number), 0, NULL);
		if (rc < 0)
			return error_uv(err, rc, "random numbers");
		char *name CLEANUP_FREE = text_format("%s%08x", prefix, (unsigned)number);
		wchar_t *wide CLEANUP_FREE = name != NULL ? wide_path(name) : NULL;
		if (wide == NULL)
			return error_memory(err);

		bool made = false;
		if (file == NULL) {
			made = CreateDirectoryW(wide, &attributes);
		} else {
			*file = CreateFileW(wide, GENERIC_WRITE | DELETE,
					    FILE_SHARE_READ | FILE_SHARE_DELETE, &attributes,
					    CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
			made = *file != INVALID_HANDLE_VALUE;
		}
		if (made) {
			*path = STEAL(name);
			return 0;
		}
		reason = GetLastError();
		if (reason != ERROR_FILE_EXISTS && reason != ERROR_ALREADY_EXISTS)
			break;
	}
	return error_windows(err, reason, "%sXXXXXXXX", prefix);
}
