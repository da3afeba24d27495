/* SPDX-License-Identifier: MIT */
#pragma once

/* Shared by the bodies of suite "protocol": protocol.c has unusual calls, protocol_frames.c a server's duties with
 * frames, protocol_abuse.c malicious clients. */

#include "conformance/checks/raw_client.h"
#include "conformance/checks/rig_usage.h"
#include "conformance/checks/tally.h"

check_body protocol_settings, protocol_trailers, protocol_ping, protocol_flow_control,
	protocol_split_frames, protocol_header_compression, protocol_unknown_fields,
	protocol_parallel_calls;
check_body protocol_foreign_bytes, protocol_slow_clients, protocol_abrupt_ends,
	protocol_client_goaway, protocol_reset_flood, protocol_header_flood;

/* The socket of the first resource under test. */
const char *protocol_socket(const struct rig *rig);

/* A connection to it; NULL: recorded, as `what`, or there is no rig. */
struct raw_client *protocol_open(struct rig *rig, const char *what);
/* One that has begun with raw_greet(). */
struct raw_client *protocol_greeted(struct rig *rig);

#define PROTOCOL_OPTIONS  DEVICE_PLUGIN_SERVICE "GetDevicePluginOptions"
#define PROTOCOL_ALLOCATE DEVICE_PLUGIN_SERVICE "Allocate"

/* How a call ended. */
enum protocol_end {
	ENDS_OK = 1,
	ENDS_UNIMPLEMENTED = 2,
	ENDS_ERROR = 4, /* another gRPC or HTTP status */
	ENDS_RESET = 8, /* RST_STREAM, GOAWAY, or the end of the connection */
	ENDS_WITHOUT_STATUS = 16,
	ENDS_NEVER = 32,
	ENDS_REFUSED = ENDS_UNIMPLEMENTED | ENDS_ERROR | ENDS_RESET,
	ENDS_AT_ALL = ENDS_OK | ENDS_REFUSED,
};

enum protocol_end protocol_ending(const struct raw_client *client, const struct raw_stream *stream);
/* For a reason: "UNAVAILABLE", "HTTP status 404", "RST_STREAM 7". */
const char *protocol_ending_text(struct check_run *run, const struct raw_client *client,
				 const struct raw_stream *stream);

enum {
	PROTOCOL_ANSWER_MS = 5000, /* for an unusual call, which a server may refuse */
	PROTOCOL_HTTP_OK = 200,
};

/* One complete call on stream 1 of a new connection, with `data` for its DATA; `change` replaces a header field, NULL:
 * none. NULL: recorded. Caller closes *client. */
const struct raw_stream *protocol_call(struct rig *rig, struct raw_client **client,
				       const char *method, const struct raw_field *change,
				       const void *data, size_t size);

/* AllocateRequest of one container with one id; `later` fields are added to both messages. */
void protocol_add_allocate(struct text *out, const char *id, size_t size, const char *later);

/* Expects that after `what` the kubelet's connections still work, and new ones are served. */
void protocol_expect_unharmed(struct rig *rig, const char *what);
/* The same of a plugin that may serve anew, and register, after `what`: it was harmed for a moment only. */
void protocol_expect_served(struct rig *rig, const char *what);
/* The kubelet sees its streams end, and waits until they are open again. */
void protocol_await_return(struct rig *rig);

/* rig_footprint(), for which the one before is known. False: noted. */
bool protocol_measure(const struct rig *rig, const struct rig_footprint *before,
		      struct rig_footprint *after);

/* A kubelet keeps one connection: data beyond the connection's window needs the server's updates. */
void protocol_expect_window(struct rig *rig);
