/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/service_internal.h"

#include <stdlib.h>

/* One open ListAndWatch stream. */
struct watcher {
	struct service *service;
	struct rpc_stream *stream;
	uint64_t sent; /* version of the last list that was queued */
	struct watcher *previous;
	struct watcher *next;
};

static void watcher_send(struct watcher *watcher)
{
	const struct service *service = watcher->service;
	struct rpc_slice list = {service->list, service->list_size};
	struct error err = {0};
	int rc = 0;

	if (watcher->sent == service->version)
		return;
	rc = rpc_stream_send(watcher->stream, list, &err);
	if (rc == 0)
		watcher->sent = service->version;
	/* ERROR_BUSY: on_drain tries again. ERROR_CANCELLED: on_end follows. */
	else if (rc != ERROR_BUSY && rc != ERROR_CANCELLED)
		rpc_stream_finish(watcher->stream, RPC_RESOURCE_EXHAUSTED, "%s", err.text);
}

static void on_drain(struct rpc_stream *stream, void *user)
{
	(void)stream;
	watcher_send(user);
}

static void on_end(void *user)
{
	struct watcher *watcher = user;
	struct service *service = watcher->service;

	if (watcher->previous != NULL)
		watcher->previous->next = watcher->next;
	else
		service->watchers = watcher->next;
	if (watcher->next != NULL)
		watcher->next->previous = watcher->previous;
	free(watcher);
	if (service->watchers == NULL && service->closed == NULL)
		service->options.on_unwatched(uv_now(service->options.loop) -
						      service->watched_since_ms,
					      service->options.user);
}

void watcher_open(struct service *service, struct rpc_stream *stream)
{
	struct watcher *watcher = calloc(1, sizeof(*watcher));

	if (watcher == NULL) {
		rpc_stream_finish(stream, RPC_RESOURCE_EXHAUSTED, "out of memory");
		return;
	}
	watcher->service = service;
	watcher->stream = stream;
	watcher->next = service->watchers;
	if (watcher->next != NULL)
		watcher->next->previous = watcher;
	else
		service->watched_since_ms = uv_now(service->options.loop);
	service->watchers = watcher;
	rpc_stream_on_end(stream, on_end, watcher);
	rpc_stream_on_drain(stream, on_drain, watcher);
	watcher_send(watcher);
}

void watchers_send(struct service *service)
{
	struct watcher *next = NULL;

	for (struct watcher *watcher = service->watchers; watcher != NULL; watcher = next) {
		next = watcher->next;
		watcher_send(watcher);
	}
}

void watchers_finish(struct service *service, const char *why)
{
	struct watcher *next = NULL;

	for (struct watcher *watcher = service->watchers; watcher != NULL; watcher = next) {
		next = watcher->next;
		rpc_stream_finish(watcher->stream, RPC_UNAVAILABLE, "%s", why);
	}
}
