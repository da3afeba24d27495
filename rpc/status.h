/* SPDX-License-Identifier: MIT */
#pragma once

/* What becomes a gRPC status when the peer did not say one. */

#include <stdint.h>

/* For a stream that ended with RST_STREAM. Source: grpc/grpc doc/PROTOCOL-HTTP2.md, "Errors". */
int status_of_reset(uint32_t http2_error);

/* For an answer whose :status is not 200. Source: grpc/grpc doc/http-grpc-status-mapping.md. */
int status_of_http(int http_status);

/* The value of grpc-status; RPC_UNKNOWN when it is not a number of 31 bits. */
int status_parse(const char *value);
