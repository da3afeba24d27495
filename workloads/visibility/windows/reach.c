/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/visibility.h"

/* Windows has no device nodes and tells a container nothing of its mounts. */
int reach_try(const char *planted, cJSON **out, struct error *err)
{
	(void)planted;
	*out = cJSON_CreateNull();
	return *out != NULL ? 0 : error_memory(err);
}
