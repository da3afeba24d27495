/* SPDX-License-Identifier: MIT */
#include "rpc/status.h"

#include "base/cleanup.h"
#include "rpc/rpc.h"

#include <nghttp2/nghttp2.h>

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
	int64_t code = 0;
	if (value[0] == '\0')
		return RPC_UNKNOWN;
	for (const char *at = value; *at != '\0'; at++) {
		if (*at < '0' || *at > '9')
			return RPC_UNKNOWN;
		code = code * 10 + (*at - '0');
		if (code > INT32_MAX)
			return RPC_UNKNOWN;
	}
	return (int)code;
}
