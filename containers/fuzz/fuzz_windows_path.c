/* SPDX-License-Identifier: MIT */
/* A path of a plugin's answer: an accepted path has only plain steps, and leads below the
 * directory. */
#include "base/cleanup.h"
#include "base/path.h"
#include "containers/wine/translation.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct windows_path path CLEANUP_WINDOWS_PATH = {0};
	char *text CLEANUP_FREE = strndup((const char *)data, size);
	char *place CLEANUP_FREE = NULL;
	struct error err = {0};
	bool found = false;
	if (text == NULL || windows_path_parse(text, "path", &path, &err) < 0)
		return 0;
	for (size_t i = 0; i < path.names.count; i++) {
		const char *name = path.names.items[i];
		if (!windows_path_is_name(name))
			abort();
	}
	if (wine_place(&path, "/nonexistent/drive_c", &place, &found, &err) == 0 &&
	    (found || !path_is_within(place, "/nonexistent/drive_c")))
		abort();
	return 0;
}
