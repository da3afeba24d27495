/* SPDX-License-Identifier: MIT */
/* Apart from memory.c, because libgpudiscovery has no cJSON. */
#include "base/memory_internal.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

static void *allocate_for_json(size_t size)
{
	return memory_checked_(malloc(size));
}

void memory_ends_process(int exit_code)
{
	cJSON_Hooks hooks = {.malloc_fn = allocate_for_json, .free_fn = free};

	memory_exit_code_ = exit_code;
	cJSON_InitHooks(&hooks);
}
