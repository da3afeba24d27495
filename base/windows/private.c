/* SPDX-License-Identifier: MIT */
#include "base/windows/private.h"

#include "base/windows/wide.h"

#include <sddl.h>

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

void private_free(SECURITY_ATTRIBUTES *attributes)
{
	if (attributes->lpSecurityDescriptor != NULL)
		(void)LocalFree(attributes->lpSecurityDescriptor);
}
