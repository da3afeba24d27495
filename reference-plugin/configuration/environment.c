/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/environment.h"

#include "base/cleanup.h"

#include <uv.h>

int environment_get(const char *name, char **value, struct error *err)
{
	char *buffer CLEANUP_FREE = malloc(1);
	size_t size = 1;
	int result = buffer != NULL ? uv_os_getenv(name, buffer, &size) : UV_ENOMEM;

	if (result == UV_ENOBUFS) {
		/* The size with the NUL. */
		char *grown = realloc(buffer, size);

		if (grown == NULL)
			return error_memory(err);
		buffer = grown;
		result = uv_os_getenv(name, buffer, &size);
	}
	if (result == UV_ENOENT) {
		*value = NULL;
		return 0;
	}
	if (result == UV_ENOMEM)
		return error_memory(err);
	if (result != 0)
		return error_set(err, ERROR_FORMAT, "environment variable %s: %s", name,
				 uv_strerror(result));
	*value = STEAL(buffer);
	return 0;
}
