/* SPDX-License-Identifier: MIT */
/* Instance ids of plug-and-play over arbitrary bytes: an id within its bound, the same each time. */
#include "discovery/windows/device_id.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { ID_MAX = 55 }; /* gpucert/discovery.h */
	struct builder builder = {0};
	char *text CLEANUP_FREE = strndup((const char *)data, size);
	if (text == NULL)
		return 0;
	const char *id = device_id_of_instance(&builder, text);
	const char *again = device_id_of_instance(&builder, text);
	if (id != NULL && again != NULL && (strlen(id) > ID_MAX || strcmp(id, again) != 0))
		abort();
	(void)device_id_parse(text);
	arena_free(&builder.arena);
	return 0;
}
