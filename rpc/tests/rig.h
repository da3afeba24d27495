/* SPDX-License-Identifier: MIT */
#pragma once

/* A server and a client on one loop and one socket, for tests. */

#include "rpc/client.h"
#include "rpc/server.h"

#include <CUnit/CUnit.h>

/* Ends the test program when there is no memory. */
void *must(void *memory);

struct rig {
	uv_loop_t loop;
	char *directory; /* holds the socket; removed with the rig */
	char *path;	 /* of the socket file */
	char *address;
	struct rpc_server *server;
	struct rpc_channel *channel;
	struct rpc_stream *held; /* the stream of /test.Test/Hold, until it ends */
	int handled;		 /* requests that reached a handler */
	int ended;		 /* streams of Hold and Count that ended */
	int drained;		 /* on_drain calls of Count */
	size_t sent;		 /* messages that Count has sent so far */
	uint64_t time_left_ms;	 /* of the last request to Hold */
};

/*
 * Methods of the server:
 *   /test.Test/Echo     answers the request's bytes
 *   /test.Test/Fail     the request is a code as one byte, then the message
 *   /test.Test/Count    the request is a number n and a size (two uint32_t); n messages of that
 *                       size, the first four bytes of each its index
 *   /test.Test/Hold     answers nothing: rig->held
 *   /v1beta1.DevicePlugin/Allocate  one container response, with an env for the device
 */
void rig_start(struct rig *rig, const struct rpc_server_options *server,
	       const struct rpc_channel_options *client);
/* Another server with these methods at the same address, which must be free. */
void rig_serve(struct rig *rig, const struct rpc_server_options *server);
void rig_stop(struct rig *rig); /* fails the test when a handle leaks */

/* What came back of a call. */
struct outcome {
	bool done;
	int code;
	char message[256];
	size_t messages;
	size_t bytes;
	bool in_order; /* the messages of Count */
	uint8_t *last; /* the last message; free */
	size_t last_size;
	struct rpc_call *call; /* NULL once done */
};

void outcome_start(struct rig *rig, const struct rpc_call_request *request, struct outcome *out);
void outcome_wait(struct rig *rig, struct outcome *out);
/* Both, for a method and bytes; 5 s at most. */
void outcome_call(struct rig *rig, const char *method, const void *bytes, size_t size,
		  struct outcome *out);
void outcome_free(struct outcome *out);

struct rpc_slice count_request(uint32_t messages, uint32_t size, uint8_t buffer[8]);

/* Runs the loop until *value is true; fails the test after 5 s. */
void rig_until(struct rig *rig, bool (*condition)(void *user), void *user, const char *what);
