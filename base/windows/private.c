/* SPDX-License-Identifier: MIT */
#include "base/windows/private.h"

#include "base/cleanup.h"
#include "base/windows/wide.h"

#include <windows.h>

#include <aclapi.h>
#include <sddl.h>

/* Protected; full access, handed down to what is made below, for owner, SYSTEM, Administrators. */
static const wchar_t owner_only[] = L"D:P(A;OICI;FA;;;OW)(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)";

int private_apply(const char *path, unsigned mode, struct error *err)
{
	wchar_t *wide CLEANUP_FREE = NULL;
	PSECURITY_DESCRIPTOR descriptor = NULL;
	BOOL present = FALSE;
	BOOL defaulted = FALSE;
	PACL list = NULL;
	DWORD reason = 0;

	if ((mode & 077) != 0)
		return 0;
	wide = wide_path(path);
	if (wide == NULL)
		return error_memory(err);
	if (!ConvertStringSecurityDescriptorToSecurityDescriptorW(owner_only, SDDL_REVISION_1,
								  &descriptor, NULL))
		return error_windows(err, GetLastError(), "%s: access list", path);
	if (!GetSecurityDescriptorDacl(descriptor, &present, &list, &defaulted))
		reason = GetLastError();
	else
		reason = SetNamedSecurityInfoW(wide, SE_FILE_OBJECT,
					       DACL_SECURITY_INFORMATION |
						       PROTECTED_DACL_SECURITY_INFORMATION,
					       NULL, NULL, list, NULL);
	(void)LocalFree(descriptor);
	return reason != 0 ? error_windows(err, reason, "%s: access list", path) : 0;
}
