/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "conformance/kubelet/endpoints.h"
#include "conformance/kubelet/resources.h"

#include <string.h>

/*
 * The kubelet's table of clients. In 1.36 its key is the resource name; in 1.37 it is the
 * pair of resource name and socket path (plugin/v1beta1/handler.go and server.go).
 */

static bool is_keyed_by_name(const struct kubelet *kubelet)
{
	return kubelet->options.profile == KUBELET_PROFILE_1_36;
}

/* The holder of the key that this resource and socket have; NULL when it is free. */
static struct kubelet_plugin *client_find(const struct kubelet *kubelet, const char *resource,
					  const char *socket)
{
	chain_each (plugin, kubelet->plugins) {
		if (!plugin->is_client || strcmp(plugin->resource, resource) != 0)
			continue;
		if (is_keyed_by_name(kubelet) || strcmp(plugin->socket, socket) == 0)
			return plugin;
	}
	return NULL;
}

void client_close_channel(struct kubelet_plugin *plugin)
{
	timer_cancel(&plugin->fault);
	kubelet_stream_close(&plugin->second);
	rpc_channel_close(STEAL(plugin->channel));
}

struct kubelet_plugin *client_new(struct kubelet *kubelet, const char *resource, const char *socket)
{
	struct kubelet_plugin *plugin = memory_allocate(1, sizeof(*plugin));
	plugin->kubelet = kubelet;
	plugin->resource = memory_copy(resource);
	plugin->socket = memory_copy(socket);

	struct kubelet_plugin *replaced = client_find(kubelet, resource, socket);
	if (replaced != NULL)
		replaced->is_client = false;
	plugin->is_client = true;
	plugin->next = kubelet->plugins;
	kubelet->plugins = plugin;
	return plugin;
}

struct kubelet_plugin *client_connected(struct kubelet *kubelet, const char *resource,
					const char *socket)
{
	struct kubelet_plugin *plugin = client_find(kubelet, resource, socket);
	if (plugin == NULL || strcmp(plugin->socket, socket) != 0 ||
	    !kubelet_plugin_is_connected(plugin))
		return NULL;
	return plugin;
}

void client_deregister(struct kubelet_plugin *plugin)
{
	struct kubelet_plugin *holder =
		client_find(plugin->kubelet, plugin->resource, plugin->socket);
	if (holder != NULL)
		holder->is_client = false;
}

int kubelet_plugin_expect_connected(const struct kubelet_plugin *plugin, struct error *err)
{
	if (plugin->channel != NULL)
		return 0;
	if (!plugin->list_ended)
		return error_set(err, ERROR_UNAVAILABLE, "%s is disconnected", plugin->socket);
	return error_set(err, ERROR_UNAVAILABLE,
			 "%s is disconnected, because ListAndWatch ended with %s", plugin->socket,
			 rpc_code_name(kubelet_stream_state(plugin->stream).code));
}

static bool is_live(const struct kubelet_plugin *plugin)
{
	return plugin->is_client && plugin->has_options && plugin->channel != NULL &&
	       (plugin->stream == NULL || kubelet_stream_state(plugin->stream).open);
}

/* In 1.36 the end of any stream disconnects whoever holds the resource's slot; if nobody does, it
 * goes unnoticed (server.go, runClient). In 1.37 a survivor takes over (PR #135437). */
void client_disconnect(struct kubelet_plugin *plugin)
{
	struct kubelet *kubelet = plugin->kubelet;
	struct kubelet_plugin *holder = client_find(kubelet, plugin->resource, plugin->socket);
	if (holder == NULL || (!is_keyed_by_name(kubelet) && holder != plugin))
		return;
	holder->is_client = false;
	client_close_channel(holder);

	/* The newest other connected socket of the resource, also before ListAndWatch. */
	struct kubelet_plugin *survivor = is_keyed_by_name(kubelet) ? NULL : kubelet->plugins;
	while (survivor != NULL && (survivor == holder || !is_live(survivor) ||
				    strcmp(survivor->resource, holder->resource) != 0))
		survivor = survivor->next;
	if (survivor != NULL)
		resource_serve(kubelet, survivor);
	else
		resource_disconnected(kubelet, holder->resource);
}

void client_disconnect_holder(struct kubelet *kubelet, const char *resource, const char *socket)
{
	struct kubelet_plugin *holder = client_find(kubelet, resource, socket);
	if (holder != NULL)
		client_disconnect(holder);
}

static void on_list(struct kubelet_stream *stream, const struct kubelet_message *message,
		    void *user)
{
	const struct kubelet_plugin *plugin = user;
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_DEVICES);
	(void)stream;
	event.resource = plugin->resource;
	event.socket = plugin->socket;
	event.size = (int64_t)message->size;
	event.devices = &message->devices;
	kubelet_report(plugin->kubelet, event);
	resource_list(plugin->kubelet, plugin->resource, &message->devices);
}

static void on_list_end(struct kubelet_stream *stream, void *user)
{
	struct kubelet_plugin *plugin = user;
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_DISCONNECTED);
	event.resource = plugin->resource;
	event.socket = plugin->socket;
	event.code = kubelet_stream_state(stream).code;
	event.text = kubelet_stream_state(stream).text;
	kubelet_report(plugin->kubelet, event);
	plugin->list_ended = plugin->channel != NULL;
	client_disconnect(plugin);
}

int client_list_and_watch(struct kubelet_plugin *plugin, struct error *err)
{
	const struct kubelet_stream_events events = {on_list, on_list_end, plugin};
	int rc = kubelet_stream_open(plugin, &events, &plugin->stream, err);
	if (rc == 0)
		faults_on_stream(plugin);
	return rc;
}

void clients_stop(struct kubelet *kubelet)
{
	chain_each (plugin, kubelet->plugins) {
		bool client = plugin->is_client;
		plugin->is_client = false;
		client_close_channel(plugin);
		if (client)
			resource_disconnected(kubelet, plugin->resource);
	}
}

void clients_free(struct kubelet *kubelet, bool all)
{
	struct kubelet_plugin **link = &kubelet->plugins;
	while (*link != NULL) {
		struct kubelet_plugin *plugin = *link;
		const struct resource *served = kubelet->resources;
		while (served != NULL && served->endpoint != plugin)
			served = served->next;
		if (!all && (plugin->records > 0 || plugin->is_client || served != NULL)) {
			link = &plugin->next;
			continue;
		}
		*link = plugin->next;
		kubelet_stream_close(&plugin->stream); /* first: its end is not reported */
		client_close_channel(plugin);
		dial_free(plugin->dial);
		free(plugin->resource);
		free(plugin->socket);
		free(plugin);
	}
}

bool kubelet_plugin_is_connected(const struct kubelet_plugin *plugin)
{
	return plugin->channel != NULL && kubelet_stream_state(plugin->stream).open;
}

struct rpc_channel *kubelet_plugin_channel(const struct kubelet_plugin *plugin)
{
	return plugin != NULL ? plugin->channel : NULL;
}

struct kubelet_stream *kubelet_plugin_stream(const struct kubelet_plugin *plugin)
{
	return plugin != NULL ? plugin->stream : NULL;
}
