/* SPDX-License-Identifier: MIT */
/* The reader of recorded nodes over arbitrary bytes: an accepted node can be written and read again
 * unchanged. */
#include "discovery/builder.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

/* NULL when the bytes are not a recorded node. */
static struct discovery_snapshot *read_node(const char *data, size_t size)
{
	static const struct discovery_filter everything = {
		.include_integrated = true,
		.include_detachable = true,
	};
	struct builder builder CLEANUP_BUILDER = {0};
	struct discovery_snapshot *snapshot = NULL;
	struct error err = {0};
	int rc = recorded_parse(data, size, &builder, &err);
	require(rc == 0 || (rc == err.code && err.text[0] != '\0'));
	if (rc == 0)
		require(builder_finish(&builder, &everything, &snapshot, &err) == 0);
	return snapshot;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct discovery_snapshot *first = read_node((const char *)data, size);
	if (first == NULL)
		return 0;
	char *text = discovery_to_json(first);
	require(text != NULL);
	struct discovery_snapshot *second = read_node(text, strlen(text));
	require(second != NULL && second->device_count == first->device_count);
	char *again = discovery_to_json(second);
	require(again != NULL && strcmp(text, again) == 0);
	discovery_string_free(text);
	discovery_string_free(again);
	discovery_free(first);
	discovery_free(second);
	return 0;
}
