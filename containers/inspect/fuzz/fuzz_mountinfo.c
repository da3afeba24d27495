/* SPDX-License-Identifier: MIT */
/* mountinfo over arbitrary bytes: a table of mounts with their texts, or an error that names the line. */
#include "containers/inspect/inspect.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	char *text CLEANUP_FREE = strndup((const char *)data, size);
	struct error err = {0};
	if (text == NULL)
		return 0;
	int rc = container_mounts_parse(text, &mounts, &err);
	if (rc != err.code || (rc < 0 && err.text[0] == '\0'))
		abort();
	for (size_t i = 0; rc == 0 && i < mounts.count; i++) {
		const struct container_mount *mount = &mounts.items[i];
		if (mount->root == NULL || mount->target == NULL || mount->type == NULL ||
		    strlen(mount->root) + strlen(mount->target) + strlen(mount->type) > size)
			abort();
	}
	return 0;
}
