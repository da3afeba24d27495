/* SPDX-License-Identifier: MIT */
/* Paths of the driver store in any spelling: an accepted one becomes a plain absolute path on a
 * drive, which is accepted again unchanged. */
#include "base/cleanup.h"
#include "discovery/windows/runtime_files.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *path CLEANUP_FREE = strndup((const char *)data, size);
	char *out CLEANUP_FREE = NULL;
	char *again CLEANUP_FREE = NULL;
	struct error err = {0};
	if (path == NULL)
		return 0;
	(void)store_path_is_in_container(path);
	if (store_path_normalize(path, "C:\\Windows", &out, &err) < 0) {
		if (err.text[0] == '\0' || out != NULL)
			abort();
		return 0;
	}
	if (!isalpha((unsigned char)out[0]) || out[1] != ':' || out[2] != '\\' ||
	    strchr(out, '/') != NULL || strchr(out + 2, ':') != NULL ||
	    strstr(out, "\\..\\") != NULL || strstr(out, "\\\\") != NULL)
		abort();
	if (store_path_normalize(out, "C:\\Windows", &again, &err) < 0 || strcmp(out, again) != 0)
		abort();
	return 0;
}
