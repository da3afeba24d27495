/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One ListAndWatch stream and what came out of it. The kubelet keeps one for each plugin it is
 * connected to; a check may open more, on the same channel or on its own.
 */

#include "conformance/kubelet/devices.h"
#include "rpc/client.h"

enum {
	KUBELET_STREAM_MESSAGES_MAX = 1024,	     /* messages kept; older ones are dropped */
	KUBELET_STREAM_BYTES_MAX = 32 * 1024 * 1024, /* the same, as bytes on the wire */
};

struct kubelet_message {
	size_t number;	  /* 0 is the first message of the stream */
	uint64_t time_ms; /* clock_monotonic_ms() */
	size_t size;	  /* bytes of the protobuf message */
	struct kubelet_device_list devices;
};

struct kubelet_stream;

struct kubelet_stream_events {
	/* May be NULL each. `message` is borrowed and stays in the stream. */
	void (*on_message)(struct kubelet_stream *stream, const struct kubelet_message *message,
			   void *user);
	/* Once, when the stream has ended for any reason but kubelet_stream_free(). */
	void (*on_end)(struct kubelet_stream *stream, void *user);
	void *user;
};

/* Calls ListAndWatch without a deadline. The channel must outlive the call, not the object.
 * Errors: those of rpc_call_start(). */
int kubelet_stream_open(struct rpc_channel *channel, const struct kubelet_stream_events *events,
			struct kubelet_stream **out, struct error *err);

bool kubelet_stream_is_open(const struct kubelet_stream *stream);

/* How it ended; code is RPC_NO_STATUS and the text "" while it is open. A message that is not a valid
 * ListAndWatchResponse, or holds a string that is not UTF-8, ends it with RPC_INTERNAL, as in
 * grpc-go. */
int kubelet_stream_code(const struct kubelet_stream *stream);
const char *kubelet_stream_status(const struct kubelet_stream *stream);
uint64_t kubelet_stream_opened_ms(const struct kubelet_stream *stream);

size_t kubelet_stream_message_count(const struct kubelet_stream *stream); /* received so far */

/* NULL when it has not come yet or was dropped. Valid until the next message. */
const struct kubelet_message *kubelet_stream_message(const struct kubelet_stream *stream,
						     size_t number);
const struct kubelet_message *kubelet_stream_last(const struct kubelet_stream *stream);

void kubelet_stream_cancel(struct kubelet_stream *stream); /* RST_STREAM(CANCEL); on_end runs */
/* Reads no more of it: flow control holds the plugin back. */
void kubelet_stream_pause(struct kubelet_stream *stream);

/* Runs the loop until message `number` is there. ERROR_TIMEOUT; ERROR_UNAVAILABLE with the status
 * when the stream ended before. */
int kubelet_stream_wait(struct kubelet_stream *stream, size_t number, uint64_t timeout_ms,
			const struct kubelet_message **out, struct error *err);

/* Cancels the call if it is open (no on_end) and frees. NULL is allowed. */
void kubelet_stream_free(struct kubelet_stream *stream);
