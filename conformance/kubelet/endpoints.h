/* SPDX-License-Identifier: MIT */
#pragma once

/* The connections to plugins (clients.c), how they are made (registration.c, watcher.c, dial.c), and
 * the kubelet's calls on them (calls.c). */

#include "conformance/kubelet/state.h"

struct kubelet_plugin {
	struct kubelet *kubelet;
	struct kubelet_plugin *next; /* all of them, newest first */
	char *resource, *socket;
	struct dial *dial;
	struct rpc_channel *channel;
	struct kubelet_stream *stream;
	struct kubelet_stream *second; /* of fault list-twice */
	struct timer *fault;	       /* of list-cancel and disconnect */
	bool list_ended;	       /* by itself, which disconnects the plugin */
	bool is_client;	  /* in the kubelet's table of clients (plugin/v1beta1/handler.go) */
	size_t records;	  /* so many kubelet_registrations point to it */
	bool has_options; /* it may serve (manager.go, PluginConnected) */
	struct kubelet_plugin_options options;
};

struct kubelet_plugin *client_new(struct kubelet *kubelet, const char *resource,
				  const char *socket); /* registered in the table */
struct kubelet_plugin *client_connected(struct kubelet *kubelet, const char *resource,
					const char *socket);
void client_deregister(struct kubelet_plugin *plugin);
int client_list_and_watch(struct kubelet_plugin *plugin, struct error *err);
void client_disconnect(struct kubelet_plugin *plugin);
/* DeRegisterPlugin: whoever holds the key that resource and socket have. */
void client_disconnect_holder(struct kubelet *kubelet, const char *resource, const char *socket);
void client_close_channel(struct kubelet_plugin *plugin);
void clients_stop(struct kubelet *kubelet); /* disconnects all */
/* Frees all, or those to which no record, no table and no resource refers; the end of their streams
 * is not reported. */
void clients_free(struct kubelet *kubelet, bool all);

/* A call that the kubelet makes for itself: kubelet_interrupt() ends it, and when `patience_ms` has
 * passed it is cancelled (ERROR_TIMEOUT). `deadline_ms` is sent as grpc-timeout; 0: none. */
int own_call(struct kubelet_plugin *plugin, const struct kubelet_method *method,
	     const ProtobufCMessage *request, uint64_t deadline_ms, uint64_t patience_ms,
	     struct rpc_answer *out, struct error *err);

/*
 * Attempts to register, also those of the plugin watcher.
 */

void registration_handle(struct rpc_stream *stream, struct rpc_slice bytes, void *user);
typedef void registration_done(const struct kubelet_registration *registration, void *user);
/* An attempt of the plugin watcher; `done` receives the outcome, possibly before this returns. */
void registration_by_watcher(struct kubelet *kubelet, const char *resource, const char *endpoint,
			     const char *versions, registration_done *done, void *user);
void registrations_forget_user(struct kubelet *kubelet, const void *user);
void registrations_stop(struct kubelet *kubelet); /* nothing runs any more */
void registrations_free(struct kubelet *kubelet);

int watcher_start(struct kubelet *kubelet, struct error *err);
void watcher_stop(struct kubelet *kubelet);

/*
 * Connecting to a plugin's socket as grpc-go's blocking dial does: a connection is ready when the
 * peer's SETTINGS have arrived; until then it is tried again, after 1 s, 1.6 s, 2.56 s and so on,
 * until the time is over. Sources: device plugin client.go (dial), grpc/grpc
 * doc/connection-backoff.md.
 */

struct dial;

struct dial_result {
	struct rpc_channel *channel; /* the callee's to close; NULL when the time was over */
	unsigned attempts;
	const char *reason; /* why the last attempt failed; "" on success */
};

/* `authority` may be NULL for the channel's default. `done` runs once, from the loop. The caller frees
 * the dial, after the channel is closed. */
int dial_start(uv_loop_t *loop, const char *socket, const char *authority, uint64_t timeout_ms,
	       void (*done)(const struct dial_result *result, void *user), void *user,
	       struct dial **out, struct error *err);

/* The path that grpc-go connects to when the kubelet dials `socket`: it parses "passthrough:///SOCKET"
 * as a URL, so a query and a fragment are left out and %XX is decoded (clientconn.go, parseTarget;
 * resolver.go, Endpoint). Caller frees. NULL: refused, with Go's error in `refusal`. */
char *dial_path(const char *socket, struct text *refusal);

/* Cancels it if it is still under way (`done` does not run) and frees. NULL is allowed. */
void dial_free(struct dial *dial);
