/* SPDX-License-Identifier: MIT */
#include "reports/certificates/key_file.h"

#include "base/cleanup.h"
#include "base/windows/wide.h"

#include <aclapi.h>
#include <io.h>
#include <stdbool.h>

static void free_descriptor(PSECURITY_DESCRIPTOR *descriptor)
{
	(void)LocalFree(*descriptor);
}

/* Does an entry let somebody other than SYSTEM, Administrators, the owner and "owner rights" read or write? No list at
 * all lets everybody. */
static bool is_open_to_others(PACL list, PSID owner)
{
	for (DWORD i = 0; list != NULL && i < list->AceCount; i++) {
		ACCESS_ALLOWED_ACE *entry = NULL;
		if (!GetAce(list, i, (void **)&entry))
			return true;
		const PSID sid = (PSID)&entry->SidStart;
		if (entry->Header.AceType == ACCESS_ALLOWED_ACE_TYPE &&
		    (entry->Header.AceFlags & INHERIT_ONLY_ACE) == 0 &&
		    (entry->Mask & (FILE_READ_DATA | FILE_WRITE_DATA | GENERIC_READ |
				    GENERIC_WRITE | GENERIC_ALL | WRITE_DAC)) != 0 &&
		    !EqualSid(sid, owner) && !IsWellKnownSid(sid, WinLocalSystemSid) &&
		    !IsWellKnownSid(sid, WinBuiltinAdministratorsSid) &&
		    !IsWellKnownSid(sid, WinCreatorOwnerRightsSid))
			return true;
	}
	return list == NULL;
}

int key_file_check(int fd, const char *path, struct error *err)
{
	PSECURITY_DESCRIPTOR descriptor CLEANUP(free_descriptor) = NULL;
	PSID owner = NULL;
	PACL list = NULL;
	DWORD reason = GetSecurityInfo((HANDLE)_get_osfhandle(fd), SE_FILE_OBJECT,
				       OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
				       &owner, NULL, &list, NULL, &descriptor);
	if (reason != 0)
		return error_windows(err, reason, "%s: access list", path);
	return !is_open_to_others(list, owner)
		       ? 0
		       : error_set(err, ERROR_PERMISSION,
				   "%s: others may use this private key: icacls \"%s\" "
				   "/inheritance:r /grant:r \"%%USERNAME%%:F\"",
				   path, path);
}
