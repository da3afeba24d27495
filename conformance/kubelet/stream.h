/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * One ListAndWatch stream and its messages. The kubelet keeps one for each plugin it is
 * connected to; a check may open more.
 */

#include "conformance/kubelet/devices.h"
#include "rpc/client.h"

/* A received list. */
struct kubelet_message {
	size_t size; /* bytes of the protobuf message */
	struct kubelet_device_list devices;
};

struct kubelet_stream;

struct kubelet_stream_events {
	/* May be NULL each. `message` is borrowed. */
	void (*on_message)(struct kubelet_stream *stream, const struct kubelet_message *message,
			   void *user);
	/* Once, when the stream has ended for any reason but kubelet_stream_close(). */
	void (*on_end)(struct kubelet_stream *stream, void *user);
	void *user;
};

struct kubelet_plugin;

/* Calls ListAndWatch without a deadline. The plugin's connection must outlive the call, not the object. `events` may be
 * NULL. ERROR_UNAVAILABLE: it is disconnected; errors of rpc_call_start(). */
int kubelet_stream_open(struct kubelet_plugin *plugin, const struct kubelet_stream_events *events,
			struct kubelet_stream **out, struct error *err);

struct kubelet_stream_state {
	bool open;
	/* How it ended; RPC_NO_STATUS and "" while it is open. A message that is not a valid
	 * ListAndWatchResponse, or holds a string that is not UTF-8, ends it with RPC_INTERNAL, as in
	 * grpc-go. */
	int code;
	const char *text;
	size_t messages;	      /* received so far */
	uint64_t opened_ms, first_ms; /* clock_monotonic_ms(); 0: no message has come */
};

/* Zeroed for NULL. */
struct kubelet_stream_state kubelet_stream_state(const struct kubelet_stream *stream);

/* The list in force; NULL before the first. Valid until the next message. */
const struct kubelet_message *kubelet_stream_last(const struct kubelet_stream *stream);

void kubelet_stream_cancel(struct kubelet_stream *stream); /* RST_STREAM(CANCEL); on_end runs */
/* Reads no more of it: flow control holds the plugin back. */
void kubelet_stream_pause(struct kubelet_stream *stream);

/* Runs the loop until a list has come. ERROR_TIMEOUT; ERROR_UNAVAILABLE with the status when the
 * stream ended before. */
int kubelet_stream_wait(struct kubelet_stream *stream, uint64_t timeout_ms, struct error *err);

/* Cancels the call if it is open (no on_end), frees, and sets *stream to NULL, which is allowed. */
void kubelet_stream_close(struct kubelet_stream **closed);
#define CLEANUP_KUBELET_STREAM CLEANUP(kubelet_stream_close)
