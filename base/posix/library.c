/* SPDX-License-Identifier: MIT */
#include "base/library.h"

#include "base/cleanup.h"
#include "base/text.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int library_open(const char *name, void **handle, struct error *err)
{
	void *opened = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (opened == NULL) {
		const char *reason = dlerror();
		char *absent CLEANUP_FREE =
			text_format("%s: cannot open shared object file: No such file", name);
		if (absent == NULL)
			return error_memory(err);
		if (reason == NULL)
			reason = "no reason given";
		return error_set(
			err, text_starts_with(reason, absent) ? ERROR_NOT_FOUND : ERROR_UNAVAILABLE,
			"%s", reason);
	}
	*handle = opened;
	return 0;
}

int library_function(void *handle, const char *name, void *function, struct error *err)
{
	void *address = dlsym(handle, name);
	if (address == NULL)
		return error_set(err, ERROR_NOT_FOUND, "the library has no function %s", name);
	/* ISO C has no conversion between object and function pointers; POSIX gives them one size.
	 */
	memcpy(function, &address, sizeof(address));
	return 0;
}

void library_path(void *handle, char *out, size_t size)
{
	struct link_map *map = NULL;
	out[0] = '\0';
	if (dlinfo(handle, RTLD_DI_LINKMAP, (void *)&map) != 0 || map == NULL)
		return;
	char *resolved CLEANUP_FREE = realpath(map->l_name, NULL);
	(void)snprintf(out, size, "%s", resolved != NULL ? resolved : map->l_name);
}

void library_version(void *handle, char *out, size_t size)
{
	(void)handle;
	(void)size;
	out[0] = '\0';
}
