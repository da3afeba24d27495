/* SPDX-License-Identifier: MIT */
#include "rpc/field.h"

#include "base/cleanup.h"
#include "rpc/rpc.h"

#include <ctype.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <string.h>

enum { TIMEOUT_VALUE_MAX = 99999999 };

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
