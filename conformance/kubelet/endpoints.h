/* SPDX-License-Identifier: MIT */
#pragma once

/* The connections to plugins (clients.c), and the calls that the kubelet makes on them (calls.c). */

#include "conformance/kubelet/dial.h"
#include "conformance/kubelet/state.h"

struct kubelet_plugin {
	struct kubelet *kubelet;
	struct kubelet_plugin *next; /* all of them, newest first */
	char *resource, *socket;
	struct dial *dial;
	struct rpc_channel *channel;
	struct kubelet_stream *stream;
	bool is_client; /* in the kubelet's table of clients (plugin/v1beta1/handler.go) */
	size_t records; /* so many kubelet_registrations point to it */
	struct kubelet_plugin_options options;
};

int client_new(struct kubelet *kubelet, const char *resource, const char *socket,
	       struct kubelet_plugin **out, struct error *err); /* registered in the table */
struct kubelet_plugin *client_connected(struct kubelet *kubelet, const char *resource,
					const char *socket);
void client_deregister(struct kubelet_plugin *plugin);
int client_list_and_watch(struct kubelet_plugin *plugin, struct error *err);
void client_disconnect(struct kubelet_plugin *plugin);
/* DeRegisterPlugin: whoever holds the key that resource and socket have. */
void client_disconnect_holder(struct kubelet *kubelet, const char *resource, const char *socket);
void client_close_channel(struct kubelet_plugin *plugin);
void clients_stop(struct kubelet *kubelet); /* disconnects all */
/* Frees those that no record, no table and no resource knows any more; their streams end unnoticed.
 */
void clients_sweep(struct kubelet *kubelet);
void clients_free(struct kubelet *kubelet);

/* A call that the kubelet makes for itself: kubelet_interrupt() ends it, and when `patience_ms` has
 * passed it is given up (ERROR_TIMEOUT). `deadline_ms` is sent as grpc-timeout; 0: none. */
int own_call(struct kubelet_plugin *plugin, const char *method, const ProtobufCMessage *request,
	     const ProtobufCMessageDescriptor *reply_type, uint64_t deadline_ms,
	     uint64_t patience_ms, struct rpc_answer *out, struct error *err);
