/* SPDX-License-Identifier: MIT */
#include "rpc/headers.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

enum { FIELD_OVERHEAD = 32 };

/* RFC 9113, 8.2.1; nghttp2's own check of values refuses more. */
static bool value_is_valid(struct rpc_slice value)
{
	for (size_t i = 0; i < value.size; i++)
		if (value.data[i] == '\0' || value.data[i] == '\r' || value.data[i] == '\n')
			return false;
	return true;
}

void headers_add(struct headers *headers, struct rpc_slice name, struct rpc_slice value, size_t max)
{
	if (headers->too_large)
		return;
	if (name.size + value.size + FIELD_OVERHEAD > max - headers->listed) {
		headers->too_large = true;
		return;
	}
	headers->listed += name.size + value.size + FIELD_OVERHEAD;
	if (!nghttp2_check_header_name(name.data, name.size) || !value_is_valid(value)) {
		headers->malformed = true;
		return;
	}
	text_append(&headers->pairs, (const char *)name.data, name.size);
	text_append(&headers->pairs, "", 1);
	text_append(&headers->pairs, (const char *)value.data, value.size);
	text_append(&headers->pairs, "", 1);
	if (headers->pairs.failed)
		headers->too_large = true;
	else
		headers->count++;
}

const char *headers_get(const struct headers *headers, const char *name)
{
	const char *at = text_string(&headers->pairs);
	for (size_t i = 0; i < headers->count; i++) {
		const char *value = at + strlen(at) + 1;
		if (strcmp(at, name) == 0)
			return value;
		at = value + strlen(value) + 1;
	}
	return NULL;
}

void headers_reset(struct headers *headers)
{
	struct text pairs = headers->pairs;
	text_reset(&pairs);
	*headers = (struct headers){.pairs = pairs};
}

void headers_free(struct headers *headers)
{
	text_free(&headers->pairs);
	*headers = (struct headers){0};
}
