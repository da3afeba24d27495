/* SPDX-License-Identifier: MIT */
#include "workloads/directx/directx.h"

#include "base/library.h"

#include <stdio.h>

void wine_name(char *out, size_t size)
{
	const char *(CDECL * version)(void) = NULL;
	void *ntdll = NULL;
	out[0] = '\0';
	if (library_open("ntdll.dll", &ntdll, NULL) == 0 &&
	    library_function(ntdll, "wine_get_version", &version, NULL) == 0)
		(void)snprintf(out, size, "Wine %s", version());
}
