/* SPDX-License-Identifier: MIT */
/* The reader of container logs over arbitrary bytes: bounds hold, and the result does not depend on
 * how the bytes are split. */
#include "containers/cri/container_log.h"

#include <stdlib.h>
#include <string.h>

enum { STREAM_MAX = 64 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
	if (!condition)
		abort();
}

static void require_same(const struct container_stream *a, const struct container_stream *b)
{
	require(a->content.size <= STREAM_MAX);
	require(a->content.size == b->content.size);
	require(memcmp(text_string(&a->content), text_string(&b->content), a->content.size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct container_log whole = {0};
	struct container_log pieces = {0};
	const char *bytes = (const char *)data;
	container_log_begin(&whole, STREAM_MAX);
	container_log_feed(&whole, bytes, size);
	container_log_begin(&pieces, STREAM_MAX);
	for (size_t at = 0; at < size; at++)
		container_log_feed(&pieces, bytes + at, 1);
	container_log_end(&whole);
	container_log_end(&pieces);
	require(whole.malformed == pieces.malformed);
	require(whole.malformed_line == pieces.malformed_line);
	require_same(&whole.out, &pieces.out);
	require_same(&whole.err, &pieces.err);
	container_log_free(&whole);
	container_log_free(&pieces);
	return 0;
}
