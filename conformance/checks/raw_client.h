/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A client that speaks HTTP/2 frame by frame, for checks of how a server handles unusual, broken and
 * hostile clients. The caller decides each frame; what the server sends is read into the members below,
 * and its SETTINGS and PING frames are acknowledged. Header blocks go through nghttp2's HPACK.
 *
 * Sources: RFC 9113, RFC 7541, grpc/grpc doc/PROTOCOL-HTTP2.md.
 */

#include "base/cleanup.h"
#include "base/text.h"
#include "rpc/transport.h"

#include <nghttp2/nghttp2.h>

/* The data received on one stream. */
struct raw_stream {
	uint32_t id;
	bool ended;
	int http_status; /* 0: none */
	int grpc_status; /* -1: none */
	unsigned status_count;
	int64_t reset;	     /* error code of RST_STREAM; -1: none */
	struct text message; /* grpc-message, still encoded */
	struct text body;    /* bytes of DATA frames */
};

struct raw_client {
	uv_loop_t *loop;
	struct transport transport;
	bool connected, closed,
		failed; /* `closed`: by the server; `failed`: it sent something other than HTTP/2 */
	struct text input;
	struct text header_block;
	nghttp2_hd_deflater *deflater;
	nghttp2_hd_inflater *inflater;
	bool literal;		 /* header fields are sent without Huffman code and table */
	bool settled;		 /* the server's SETTINGS have arrived */
	uint32_t concurrent_max; /* from them */
	unsigned settings_acks, ping_acks, goaways;
	uint32_t goaway_code;
	struct raw_stream *streams;
	size_t stream_count;
};

/* Connects to a socket file, and runs the loop until that is done. The caller closes *out. ERROR_TIMEOUT,
 * ERROR_UNAVAILABLE, ERROR_IO. */
int raw_open(uv_loop_t *loop, const char *socket, struct raw_client **out, struct error *err);

/* Closes the connection at once; the memory is freed with its handle. NULL in the variable is allowed. */
void raw_close(struct raw_client **at);
#define CLEANUP_RAW CLEANUP(raw_close)

/* Sends raw bytes. Bytes that a closed connection does not accept are dropped. */
void raw_bytes(struct raw_client *client, const void *bytes, size_t size);
void raw_frame(struct raw_client *client, uint8_t type, uint8_t flags, uint32_t stream,
	       const void *payload, size_t size);

/* The preface and SETTINGS; windows are as large as they can be, unless `window` (of each stream) is
 * smaller. */
void raw_greet(struct raw_client *client, uint32_t window);
void raw_window_update(struct raw_client *client, uint32_t stream, uint32_t more);

struct raw_field {
	const char *name, *value;
};

/* Appends the header block of a request for `path`. `change` (may be NULL) replaces the field of its name, or
 * removes it where its value is NULL, or is added. */
void raw_request_block(struct raw_client *client, const char *path, const struct raw_field *change,
		       struct text *block);
/* Appends a number as protobuf and, after a full prefix, HPACK write it: seven bits a byte, the lowest first. */
void raw_add_number(struct text *out, size_t number);
/* HEADERS with END_HEADERS and that block. */
void raw_request(struct raw_client *client, uint32_t stream, const char *path,
		 const struct raw_field *change);
/* DATA with the message and its prefix, which ends the stream. */
void raw_message(struct raw_client *client, uint32_t stream, const void *message, size_t size);
/* Both. */
void raw_call(struct raw_client *client, uint32_t stream, const char *path, const void *message,
	      size_t size);

/* The data of the stream so far; an empty one is made if needed. Valid until the next one is made. */
struct raw_stream *raw_stream(struct raw_client *client, uint32_t id);

/* Runs the loop until the stream ends, is reset, or its connection is closed. ERROR_TIMEOUT. */
int raw_wait(struct raw_client *client, uint32_t stream, uint64_t timeout_ms, struct error *err);

/* Has everything sent so far been read by the server? Sends PING, and runs the loop until it is
 * acknowledged. ERROR_TIMEOUT; ERROR_UNAVAILABLE: the connection was ended. */
int raw_ping(struct raw_client *client, uint64_t timeout_ms, struct error *err);

/* Runs the loop until the system has accepted everything that was sent, or the connection was
 * closed. ERROR_TIMEOUT: the server reads no more. */
int raw_flush(struct raw_client *client, uint64_t timeout_ms, struct error *err);

/* Runs the loop until the connection was closed by the server. ERROR_TIMEOUT. */
int raw_wait_closed(struct raw_client *client, uint64_t timeout_ms, struct error *err);
