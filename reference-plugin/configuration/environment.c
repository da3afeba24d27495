/* SPDX-License-Identifier: MIT */
#include "reference-plugin/configuration/environment.h"

#include "base/cleanup.h"

#include <uv.h>

int environment_get(const char *name, char **value, struct error *err)
{
	char *buffer CLEANUP_FREE = malloc(1);
	size_t size = 1;
	int rc = buffer != NULL ? uv_os_getenv(name, buffer, &size) : UV_ENOMEM;

	if (rc == UV_ENOBUFS) {
		/* The size with the NUL. */
		char *grown = realloc(buffer, size);

		if (grown == NULL)
			return error_memory(err);
		buffer = grown;
		rc = uv_os_getenv(name, buffer, &size);
	}
	if (rc == UV_ENOENT) {
		*value = NULL;
		return 0;
	}
	if (rc == UV_ENOMEM)
		return error_memory(err);
	if (rc != 0)
		return error_set(err, ERROR_FORMAT, "environment variable %s: %s", name,
				 uv_strerror(rc));
	*value = STEAL(buffer);
	return 0;
}
