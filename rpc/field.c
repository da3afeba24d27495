/* SPDX-License-Identifier: MIT */
#include "rpc/field.h"

#include "base/cleanup.h"
#include "rpc/rpc.h"

#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_VALUE_MAX = 99999999 };

static const char *const code_names[] = {
	[RPC_OK] = "OK",
	[RPC_CANCELLED] = "CANCELLED",
	[RPC_UNKNOWN] = "UNKNOWN",
	[RPC_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
	[RPC_DEADLINE_EXCEEDED] = "DEADLINE_EXCEEDED",
	[RPC_NOT_FOUND] = "NOT_FOUND",
	[RPC_ALREADY_EXISTS] = "ALREADY_EXISTS",
	[RPC_PERMISSION_DENIED] = "PERMISSION_DENIED",
	[RPC_RESOURCE_EXHAUSTED] = "RESOURCE_EXHAUSTED",
	[RPC_FAILED_PRECONDITION] = "FAILED_PRECONDITION",
	[RPC_ABORTED] = "ABORTED",
	[RPC_OUT_OF_RANGE] = "OUT_OF_RANGE",
	[RPC_UNIMPLEMENTED] = "UNIMPLEMENTED",
	[RPC_INTERNAL] = "INTERNAL",
	[RPC_UNAVAILABLE] = "UNAVAILABLE",
	[RPC_DATA_LOSS] = "DATA_LOSS",
	[RPC_UNAUTHENTICATED] = "UNAUTHENTICATED",
};

const char *rpc_code_name(int code)
{
	if (code == RPC_NO_STATUS)
		return "NO_STATUS";
	if (code < 0 || (size_t)code >= ARRAY_SIZE(code_names))
		return code_names[RPC_UNKNOWN];
	return code_names[code];
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

static const char hex_digits[] = "0123456789ABCDEF";

void percent_encode(struct text *out, const char *message)
{
	const char *start = message;
	const char *at = message;
	for (; *at != '\0'; at++) {
		unsigned char byte = (unsigned char)*at;
		char escape[3] = {'%', hex_digits[byte >> 4], hex_digits[byte & 15]};
		if (byte >= 0x20 && byte <= 0x7e && byte != '%')
			continue;
		text_append(out, start, (size_t)(at - start));
		text_append(out, escape, sizeof(escape));
		start = at + 1;
	}
	text_append(out, start, (size_t)(at - start));
}

static int hex_value(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'A' && digit <= 'F')
		return digit - 'A' + 10;
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

void percent_decode(struct text *out, const char *encoded)
{
	const char *start = encoded;
	const char *at = encoded;
	while (*at != '\0') {
		int high = *at == '%' ? hex_value(at[1]) : -1;
		int low = high >= 0 ? hex_value(at[2]) : -1;
		char byte = (char)(unsigned char)(high >= 0 && low >= 0 ? high * 16 + low : 0);
		if (byte == '\0') {
			at++;
			continue;
		}
		text_append(out, start, (size_t)(at - start));
		text_append(out, &byte, 1);
		at += 3;
		start = at;
	}
	text_append(out, start, (size_t)(at - start));
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
