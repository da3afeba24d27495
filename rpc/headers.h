/* SPDX-License-Identifier: MIT */
#pragma once

/* Received HTTP/2 header lists, the fields of gRPC, and the values that replace a missing gRPC
 * status. */

#include "base/text.h"
#include "rpc/rpc.h"

#include <stdbool.h>
#include <stdint.h>

/* Zero-initialise. */
struct headers {
	struct text pairs; /* name NUL value NUL, pair by pair */
	size_t count;
	size_t listed;	/* size as RFC 9113, 6.5.2 counts it: 32 bytes more for each field */
	bool too_large; /* a field exceeded the limit; it and all later ones were dropped */
	bool malformed; /* a field violated RFC 9113, 8.2.1, and was dropped */
};

void headers_add(struct headers *headers, struct rpc_slice name, struct rpc_slice value,
		 size_t max);

/* The first value with this name; NULL when absent. Borrowed. */
const char *headers_get(const struct headers *headers, const char *name);

void headers_reset(struct headers *headers); /* empties it and keeps the memory */
void headers_free(struct headers *headers);

/*
 * Fields.
 */

/* grpc-status; RPC_UNKNOWN when it is not a number of 31 bits. */
int status_parse(const char *value);

/* For a stream that ended with RST_STREAM. Source: grpc/grpc doc/PROTOCOL-HTTP2.md, "Errors". */
int status_of_reset(uint32_t http2_error);

/* For an answer whose :status is not 200. Source: grpc/grpc doc/http-grpc-status-mapping.md. */
int status_of_http(int http_status);

/* grpc-message: bytes other than printable ASCII, and '%', as %XX. Text that is not a valid encoding
 * is kept as it is, as is %00, so that nothing is lost. */
void percent_encode(struct text *out, const char *message);
void percent_decode(struct text *out, const char *encoded);

/* grpc-timeout: one to eight digits and a unit of H, M, S, m, u, n. */
enum { TIMEOUT_SIZE = sizeof("18446744073709551615H") };

/* Milliseconds, rounded up. ERROR_FORMAT. */
int timeout_parse(const char *text, uint64_t *milliseconds, struct error *err);

/* In the finest unit from milliseconds up that holds them, rounded up; a longer time becomes the
 * longest that the format allows. Returns `out`. */
char *timeout_format(uint64_t milliseconds, char out[TIMEOUT_SIZE]);

/* Is content-type "application/grpc", alone or with "+proto", ";charset=..."? */
bool content_type_is_grpc(const char *value);
