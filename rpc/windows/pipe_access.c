/* SPDX-License-Identifier: MIT */
#include "rpc/windows/pipe_access.h"

#include "base/windows/wide.h"

#include <sddl.h>

/* NU: who came over the network; OW: the owner; SY, BA: SYSTEM and Administrators; AU: every user.
 */
#define ACCESS_OWNER "D:P(D;;GA;;;NU)(A;;GA;;;OW)(A;;GA;;;SY)(A;;GA;;;BA)"
#define ACCESS_USERS ACCESS_OWNER "(A;;GRGW;;;AU)"

int pipe_access_set(HANDLE pipe, unsigned mode, struct error *err)
{
	const char *list = (mode & 077) == 0 ? ACCESS_OWNER : ACCESS_USERS;
	PSECURITY_DESCRIPTOR descriptor = NULL;
	BOOL done = ConvertStringSecurityDescriptorToSecurityDescriptorA(list, SDDL_REVISION_1,
									 &descriptor, NULL);
	int rc = 0;
	if (done)
		done = SetKernelObjectSecurity(
			pipe, DACL_SECURITY_INFORMATION | PROTECTED_DACL_SECURITY_INFORMATION,
			descriptor);
	if (!done)
		rc = error_windows(err, GetLastError(), "cannot restrict the pipe to its owner");
	(void)LocalFree(descriptor);
	return rc;
}
