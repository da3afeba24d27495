/* SPDX-License-Identifier: MIT */
#pragma once

/* The service with its ListAndWatch streams: service.c and watchers.c alone. */

#include "reference-plugin/serving/service.h"
#include "rpc/server.h"

#include <stdint.h>

struct service {
	struct service_options options;
	struct rpc_server *server;
	uint8_t *list; /* packed ListAndWatchResponse */
	size_t list_size;
	uint64_t version; /* of the list; 0: none yet */
	struct watcher *watchers;
	uint64_t watched_since_ms; /* as long as there are watchers */
	void (*closed)(void *user);
	void *closed_user;
};

/* A stream joins and gets the list. */
void watcher_open(struct service *service, struct rpc_stream *stream);

/* The list to every stream that does not have it yet. */
void watchers_send(struct service *service);

void watchers_finish(struct service *service, const char *why);
