/* SPDX-License-Identifier: MIT */
#include "rpc/headers.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>

enum { FIELD_OVERHEAD = 32, TIMEOUT_VALUE_MAX = 99999999 };

void headers_add(struct headers *headers, struct rpc_slice name, struct rpc_slice value, size_t max)
{
	if (headers->too_large)
		return;
	if (name.size + value.size + FIELD_OVERHEAD > max - headers->listed) {
		headers->too_large = true;
		return;
	}
	headers->listed += name.size + value.size + FIELD_OVERHEAD;
	bool valid = nghttp2_check_header_name(name.data, name.size) != 0;
	/* RFC 9113, 8.2.1; nghttp2's own check of values refuses more. */
	for (size_t i = 0; valid && i < value.size; i++)
		valid = value.data[i] != '\0' && value.data[i] != '\r' && value.data[i] != '\n';
	if (!valid) {
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

const char *rpc_code_name(int code)
{
#define CODE_NAME(name, go_name) #name,
	static const char *const names[] = {RPC_CODES(CODE_NAME)};
#undef CODE_NAME
	if (code == RPC_NO_STATUS)
		return "NO_STATUS";
	return names[code < 0 || (size_t)code >= ARRAY_SIZE(names) ? RPC_UNKNOWN : code];
}

int status_of_reset(uint32_t http2_error)
{
	switch (http2_error) {
	case NGHTTP2_REFUSED_STREAM:
		return RPC_UNAVAILABLE;
	case NGHTTP2_CANCEL:
		return RPC_CANCELLED;
	case NGHTTP2_ENHANCE_YOUR_CALM:
		return RPC_RESOURCE_EXHAUSTED;
	case NGHTTP2_INADEQUATE_SECURITY:
		return RPC_PERMISSION_DENIED;
	default:
		return RPC_INTERNAL;
	}
}

int status_of_http(int http_status)
{
	switch (http_status) {
	case 400:
		return RPC_INTERNAL;
	case 401:
		return RPC_UNAUTHENTICATED;
	case 403:
		return RPC_PERMISSION_DENIED;
	case 404:
		return RPC_UNIMPLEMENTED;
	case 429:
	case 502:
	case 503:
	case 504:
		return RPC_UNAVAILABLE;
	default:
		return RPC_UNKNOWN;
	}
}

int status_parse(const char *value)
{
	size_t digits = strspn(value, "0123456789");
	long long code = digits > 0 && digits <= 10 ? strtoll(value, NULL, 10) : INT64_MAX;
	return value[digits] == '\0' && code <= INT32_MAX ? (int)code : RPC_UNKNOWN;
}

void percent_encode(struct text *out, const char *message)
{
	for (; *message != '\0'; message++) {
		unsigned char byte = (unsigned char)*message;
		if (byte >= 0x20 && byte <= 0x7e && byte != '%')
			text_append(out, message, 1);
		else
			text_addf(out, "%%%02X", byte);
	}
}

void percent_decode(struct text *out, const char *encoded)
{
	while (*encoded != '\0') {
		char byte = '\0';
		if (encoded[0] == '%' && isxdigit((unsigned char)encoded[1]) != 0 &&
		    isxdigit((unsigned char)encoded[2]) != 0)
			byte = (char)strtol((const char[]){encoded[1], encoded[2], '\0'}, NULL, 16);
		text_append(out, byte == '\0' ? encoded : &byte, 1);
		encoded += byte == '\0' ? 1 : 3;
	}
}

/* From the finest unit to the coarsest: `count` of them are `milliseconds`. */
static const struct {
	char unit;
	uint64_t count, milliseconds;
} timeout_units[] = {{'n', 1000000, 1}, {'u', 1000, 1},	 {'m', 1, 1},
		     {'S', 1, 1000},	{'M', 1, 60000}, {'H', 1, 3600000}};

int timeout_parse(const char *text, uint64_t *milliseconds, struct error *err)
{
	size_t digits = strspn(text, "0123456789");
	for (size_t i = 0; digits > 0 && digits <= 8 && i < ARRAY_SIZE(timeout_units); i++) {
		uint64_t count = timeout_units[i].count;
		if (text[digits] != timeout_units[i].unit || text[digits + 1] != '\0')
			continue;
		uint64_t value = strtoull(text, NULL, 10) * timeout_units[i].milliseconds;
		*milliseconds = (value + count - 1) / count;
		return 0;
	}
	return error_set(err, ERROR_FORMAT, "malformed grpc-timeout \"%.32s\"", text);
}

char *timeout_format(uint64_t milliseconds, char out[TIMEOUT_SIZE])
{
	uint64_t value = TIMEOUT_VALUE_MAX;
	char unit = 'H';
	for (size_t i = 2; i < ARRAY_SIZE(timeout_units); i++) {
		uint64_t one = timeout_units[i].milliseconds;
		uint64_t parts = milliseconds / one + (milliseconds % one != 0);
		if (parts <= TIMEOUT_VALUE_MAX) {
			value = parts;
			unit = timeout_units[i].unit;
			break;
		}
	}
	(void)snprintf(out, TIMEOUT_SIZE, "%llu%c", (unsigned long long)value, unit);
	return out;
}

bool content_type_is_grpc(const char *value)
{
	static const char prefix[] = "application/grpc";
	char next = '\0';
	if (value == NULL || !text_starts_with(value, prefix))
		return false;
	next = value[sizeof(prefix) - 1];
	return next == '\0' || next == '+' || next == ';';
}
