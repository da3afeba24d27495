/* SPDX-License-Identifier: MIT */
#pragma once

/* What the header fields of gRPC say, and what stands in for a gRPC status that nobody sent. */

#include "base/text.h"

#include <stdint.h>

/* grpc-status; RPC_UNKNOWN when it is not a number of 31 bits. */
int status_parse(const char *value);

/* For a stream that ended with RST_STREAM. Source: grpc/grpc doc/PROTOCOL-HTTP2.md, "Errors". */
int status_of_reset(uint32_t http2_error);

/* For an answer whose :status is not 200. Source: grpc/grpc doc/http-grpc-status-mapping.md. */
int status_of_http(int http_status);

/* grpc-message: bytes other than printable ASCII, and '%', as %XX. Text that is not a valid encoding
 * is kept as it is, as is %00, so that nothing gets lost. */
void percent_encode(struct text *out, const char *message);
void percent_decode(struct text *out, const char *encoded);

/* grpc-timeout: one to eight digits and a unit of H, M, S, m, u, n. */
enum { TIMEOUT_SIZE = sizeof("18446744073709551615H") };

/* Milliseconds, rounded up. ERROR_FORMAT. */
int timeout_parse(const char *text, uint64_t *milliseconds, struct error *err);

/* In the finest unit from milliseconds up that holds them, rounded up; longer than the format can
 * say becomes the longest it can. Returns `out`. */
char *timeout_format(uint64_t milliseconds, char out[TIMEOUT_SIZE]);

/* Is content-type "application/grpc", alone or with "+proto", ";charset=..."? */
bool content_type_is_grpc(const char *value);
