/* SPDX-License-Identifier: MIT */
#pragma once

/* Sessions without sockets: HTTP/2 frames made and read by hand, for tests and fuzz targets. */

#include "rpc/channel.h"
#include "rpc/peer.h"

#include <nghttp2/nghttp2.h>

/* A transport on memory: what the session writes is collected in `written`. */
struct memory {
	struct text written;
	bool blocked; /* takes nothing */
};

extern const struct session_transport memory_transport;

/* The session's transport_data must be a struct memory before it writes. Feeds bytes and runs. */
void memory_feed(struct session *session, const void *bytes, size_t size);

enum { WIRE_STREAMS = 600 };

/* A header field. */
struct wire_field {
	const char *name, *value;
};

/* What a session has written, frame by frame. */
struct wire_facts {
	int goaways;
	uint32_t goaway_code; /* of the last */
	int ping_acks;
	int settings_acks;
	int window_updates;
	struct wire_stream {
		int http_status; /* 0: none */
		int grpc_status; /* -1: none */
		int64_t reset;	 /* -1: none */
		size_t data;
		bool ended;
	} streams[WIRE_STREAMS];
};

/* One side of a conversation: bytes in the making, and the header compression of both directions.
 */
struct wire {
	struct text bytes;
	nghttp2_hd_deflater *deflater;
	nghttp2_hd_inflater *inflater;
	struct wire_facts facts;
};

void wire_start(struct wire *wire, bool preface); /* the client's preface, then empty SETTINGS */
void wire_stop(struct wire *wire);

void wire_frame(struct wire *wire, uint8_t type, uint8_t flags, uint32_t stream,
		const void *payload, size_t size);
/* HEADERS; with NGHTTP2_FLAG_END_HEADERS added. */
void wire_headers(struct wire *wire, uint8_t flags, uint32_t stream,
		  const struct wire_field *fields, size_t count);
/* The headers of a good request for `path`; `extra` comes last, may be NULL. */
void wire_request(struct wire *wire, uint8_t flags, uint32_t stream, const char *path,
		  const struct wire_field *extra);
/* DATA with one message. */
void wire_message(struct wire *wire, uint8_t flags, uint32_t stream, const void *bytes,
		  size_t size);

/* Feeds what was made to `session` and reads what it writes into wire->facts. */
void wire_talk(struct wire *wire, struct session *session);
