/* SPDX-License-Identifier: MIT */
/* Docker's config.json, and what a credential helper prints. */
#include "containers/registry/credentials.h"

#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct credentials credentials CLEANUP(credentials_free) = {0};
	struct credentials helped CLEANUP(credentials_free) = {0};
	cJSON *json CLEANUP_JSON = NULL;
	const char *helper = NULL;
	(void)credentials_read_helper((const char *)data, size, &helped, NULL);
	if (json_parse((const char *)data, size, &json, NULL) == 0)
		(void)credentials_read(json, "a.b", "x/y", &credentials, &helper, NULL);
	return 0;
}
