/* SPDX-License-Identifier: MIT */
/* gRPC framing, percent-encoding and timeouts. The first byte: how many bytes the framing gets at a
 * time (0: all). The result must not depend on it. */
#include "rpc/frame.h"
#include "rpc/headers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reads everything; appends the messages and then the error code to `out`. */
static void read_all(const uint8_t *data, size_t size, size_t step, struct text *out)
{
	struct rpc_slice input = {data, 0};
	int rc = 0;
	while (size > 0 && rc == 0) {
		size_t piece = step != 0 && step < size ? step : size;
		struct rpc_slice message = {0};
		bool whole = true;
		input.size += piece;
		size -= piece;
		while (whole && rc == 0) {
			rc = frame_read(input, 1000, &whole, &message, NULL);
			if (rc != 0 || !whole)
				continue;
			text_append(out, (const char *)message.data, message.size);
			input.data = message.data + message.size;
			input.size -= FRAME_PREFIX_SIZE + message.size;
		}
	}
	text_addf(out, "%d", rc);
}

static void check_texts(const uint8_t *data, size_t size)
{
	char *string = strndup((const char *)data, size);
	struct text decoded CLEANUP_TEXT = {0};
	struct text encoded CLEANUP_TEXT = {0};
	struct text again CLEANUP_TEXT = {0};
	uint64_t milliseconds = 0;
	if (string == NULL)
		abort();
	percent_decode(&decoded, string);
	percent_encode(&encoded, string);
	percent_decode(&again, text_string(&encoded));
	if (strcmp(text_string(&again), string) != 0)
		abort();
	(void)timeout_parse(string, &milliseconds, NULL);
	free(string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text pieces CLEANUP_TEXT = {0};
	struct text whole CLEANUP_TEXT = {0};
	if (size < 1)
		return 0;
	read_all(data + 1, size - 1, data[0], &pieces);
	read_all(data + 1, size - 1, 0, &whole);
	if (strcmp(text_string(&pieces), text_string(&whole)) != 0)
		abort();
	check_texts(data + 1, size - 1);
	return 0;
}
