/* SPDX-License-Identifier: MIT */
#include "base/memory.h"
#include "conformance/kubelet/endpoints.h"
#include "rpc/transport.h"

#include <stdio.h>
#include <string.h>

static const char *const names[FAULT_COUNT + 1] = {
	[FAULT_REGISTER_STATUS] = "register-status",
	[FAULT_WATCHER_STATUS] = "watcher-status",
	[FAULT_REGISTER_DELAY] = "register-delay",
	[FAULT_REGISTER_HANG] = "register-hang",
	[FAULT_REGISTER_MALFORMED] = "register-malformed",
	[FAULT_CONNECTION_SILENT] = "connection-silent",
	[FAULT_CONNECTION_GARBAGE] = "connection-garbage",
	[FAULT_CONNECTION_CLOSE] = "connection-close",
	[FAULT_CONNECTION_REFUSE] = "connection-refuse",
	[FAULT_SOCKET_ABSENT] = "socket-absent",
	[FAULT_LIST_STALL] = "list-stall",
	[FAULT_LIST_TWICE] = "list-twice",
	[FAULT_LIST_CANCEL] = "list-cancel",
	[FAULT_DISCONNECT] = "disconnect",
	[FAULT_OPTIONS_TWICE] = "options-twice",
	[FAULT_FLAP] = "flap",
};

const char *const *kubelet_fault_names(void)
{
	return names;
}

static int parse_status(char *value, struct fault_setting *out, struct error *err)
{
	char *colon = strchr(value, ':');
	long long number = 0;
	if (colon != NULL) {
		*colon = '\0';
		(void)snprintf(out->message, sizeof(out->message), "%s", colon + 1);
	}
	for (out->code = RPC_OK; out->code <= RPC_UNAUTHENTICATED; out->code++) {
		if (strcmp(value, rpc_code_name(out->code)) == 0)
			return 0;
	}
	if (text_to_int64(value, "status", RPC_OK, RPC_UNAUTHENTICATED, &number, NULL) != 0)
		return error_set(err, ERROR_ARGUMENT, "\"%s\" is not a gRPC status code", value);
	out->code = (int)number;
	return 0;
}

int fault_setting_parse(const char *spec, struct fault_setting *out, struct error *err)
{
	char *name CLEANUP_FREE = memory_copy(spec);
	struct fault_setting setting = {.times = UINT64_MAX};
	long long times = 0;
	long long delay_ms = 0;
	int rc = 0;

	char *star = strrchr(name, '*');
	if (star != NULL) {
		*star = '\0';
		rc = text_to_int64(star + 1, "times", 1, 1000000, &times, err);
		if (rc < 0)
			return error_wrap(err, rc, "fault %s", name);
		setting.times = (uint64_t)times;
	}
	char *value = strchr(name, '=');
	if (value != NULL)
		*value++ = '\0';
	setting.fault = (enum fault)text_position(names, name);
	if (setting.fault == FAULT_COUNT)
		return error_set(err, ERROR_ARGUMENT, "there is no fault \"%s\"", name);

	bool has_status =
		setting.fault == FAULT_REGISTER_STATUS || setting.fault == FAULT_WATCHER_STATUS;
	bool has_delay = setting.fault == FAULT_REGISTER_DELAY ||
			 setting.fault == FAULT_LIST_CANCEL || setting.fault == FAULT_DISCONNECT ||
			 setting.fault == FAULT_FLAP;
	bool needed = has_status || has_delay;
	if (needed != (value != NULL))
		return error_set(err, ERROR_ARGUMENT, "fault %s %s", name,
				 needed ? "needs a value" : "takes no value");
	if (has_status)
		rc = parse_status(value, &setting, err);
	if (has_delay)
		rc = text_to_int64(value, name, 0, 24LL * 3600 * 1000, &delay_ms, err);
	if (rc < 0)
		return error_wrap(err, rc, "fault %s", name);
	setting.delay_ms = (uint64_t)delay_ms;
	*out = setting;
	return 0;
}

const struct fault_setting *fault_take(struct fault_state *state, enum fault fault)
{
	struct fault_setting *setting = &state->settings[fault];
	if (setting->times == 0)
		return NULL;
	if (setting->times != UINT64_MAX)
		setting->times--;
	return setting;
}

static bool replaces_socket(enum fault fault)
{
	return fault >= FAULT_CONNECTION_SILENT && fault <= FAULT_SOCKET_ABSENT;
}

/* The listener that does not speak gRPC in place of kubelet.sock. */

enum { SOCKET_MODE = 0600, CONNECTIONS_MAX = 256 };

struct fault_connection {
	struct transport transport;
	struct fault_listener *listener; /* NULL once that is closed */
	struct fault_connection *next;
};

struct fault_listener {
	struct listener *listener;
	enum fault kind;
	struct fault_connection *connections;
	size_t connection_count;
};

static void on_connection_closed(struct transport *transport)
{
	struct fault_connection *connection = transport->user;
	if (connection->listener != NULL) {
		struct fault_connection **link = &connection->listener->connections;
		while (*link != connection)
			link = &(*link)->next;
		*link = connection->next;
		connection->listener->connection_count--;
	}
	free(connection);
}

static void connection_close(struct fault_connection *connection)
{
	if (connection->transport.open)
		transport_close(&connection->transport, on_connection_closed);
}

/* The input is ignored. */
static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	static char input[4096];
	(void)handle;
	(void)suggested;
	*buffer = uv_buf_init(input, sizeof(input));
}

static void on_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	(void)buffer;
	if (size < 0)
		connection_close(((struct transport *)stream->data)->user);
}

static void on_connection(struct listener *waiting, void *user)
{
	static char garbage[] = "HTTP/1.1 400 This is not HTTP/2\r\n\r\n\0\xff\xfe garbage";
	const uv_buf_t buffer = uv_buf_init(garbage, sizeof(garbage));
	struct fault_listener *listener = user;
	struct fault_connection *connection = memory_allocate(1, sizeof(*connection));
	uv_stream_t *stream = &connection->transport.stream;
	int rc = listener_accept(waiting, &connection->transport, connection);
	if (!connection->transport.open) {
		free(connection);
		return;
	}
	connection->listener = listener;
	connection->next = listener->connections;
	listener->connections = connection;
	listener->connection_count++;

	if (rc == 0 && listener->connection_count <= CONNECTIONS_MAX) {
		if (listener->kind == FAULT_CONNECTION_SILENT &&
		    uv_read_start(stream, on_alloc, on_read) == 0)
			return;
		if (listener->kind == FAULT_CONNECTION_GARBAGE)
			(void)uv_try_write(stream, &buffer, 1);
	}
	connection_close(connection);
}

void fault_listener_close(struct fault_listener *listener)
{
	if (listener == NULL)
		return;
	chain_each (connection, listener->connections) {
		connection->listener = NULL;
		connection_close(connection);
	}
	listener_close(listener->listener, free);
}

int faults_replace_socket(struct kubelet *kubelet, bool *replaced, struct error *err)
{
	struct fault_state *faults = &kubelet->faults;
	enum fault fault = FAULT_CONNECTION_SILENT;
	struct address address;
	while (replaces_socket(fault) && faults->settings[fault].times == 0)
		fault++;
	*replaced = replaces_socket(fault);
	if (!*replaced || fault == FAULT_SOCKET_ABSENT)
		return 0;

	struct fault_listener *listener = memory_allocate(1, sizeof(*listener));
	const struct listener_options options = {.mode = SOCKET_MODE,
						 .refuse = fault == FAULT_CONNECTION_REFUSE,
						 .on_connection = on_connection,
						 .user = listener};
	listener->kind = fault;
	int rc = address_of_path(kubelet->socket, &address, err);
	if (rc == 0)
		rc = listener_open(kubelet->loop, &address, &options, &listener->listener, err);
	if (rc < 0)
		free(listener);
	else
		faults->listener = listener;
	return rc;
}

/*
 * Faults of ListAndWatch, and a kubelet that restarts again and again.
 */

static void on_cancel(void *user)
{
	struct kubelet_plugin *plugin = user;
	struct error err = {0};
	timer_cancel(&plugin->fault);
	kubelet_stream_close(&plugin->stream); /* its end is no disconnection */
	if (plugin->channel != NULL && client_list_and_watch(plugin, &err) < 0)
		kubelet_report_problem(plugin->kubelet, &err);
}

static void on_disconnect(void *user)
{
	struct kubelet_plugin *plugin = user;
	timer_cancel(&plugin->fault);
	if (plugin->is_client)
		client_disconnect(plugin);
}

void faults_on_stream(struct kubelet_plugin *plugin)
{
	struct fault_state *faults = &plugin->kubelet->faults;
	const struct fault_setting *setting = NULL;
	if (plugin->stream == NULL || plugin->channel == NULL)
		return;
	if (faults->settings[FAULT_LIST_STALL].times > 0)
		kubelet_stream_pause(plugin->stream);
	if (plugin->second == NULL && fault_take(faults, FAULT_LIST_TWICE) != NULL)
		(void)kubelet_stream_open(plugin, NULL, &plugin->second, NULL);
	if (plugin->fault != NULL)
		return;
	setting = fault_take(faults, FAULT_LIST_CANCEL);
	if (setting != NULL)
		(void)timer_start(plugin->kubelet->loop, setting->delay_ms, 0, on_cancel, plugin,
				  &plugin->fault, NULL);
	setting = setting == NULL ? fault_take(faults, FAULT_DISCONNECT) : NULL;
	if (setting != NULL)
		(void)timer_start(plugin->kubelet->loop, setting->delay_ms, 0, on_disconnect,
				  plugin, &plugin->fault, NULL);
}

static void on_flap(void *user)
{
	struct kubelet *kubelet = user;
	struct error err = {0};
	if (!kubelet->running)
		return;
	if (fault_take(&kubelet->faults, FAULT_FLAP) == NULL)
		timer_cancel(&kubelet->faults.flap);
	else if (kubelet_restart(kubelet, KUBELET_RESTART_WHOLE, &err) < 0)
		kubelet_report_problem(kubelet, &err);
}

int kubelet_fault_check(const char *spec, struct error *err)
{
	struct fault_setting setting = {0};
	return fault_setting_parse(spec, &setting, err);
}

int kubelet_fault_set(struct kubelet *kubelet, const char *spec, struct error *err)
{
	struct fault_setting setting = {0};
	int rc = fault_setting_parse(spec, &setting, err);
	if (rc != 0)
		return rc;
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_FAULT);
	event.text = spec;
	kubelet_report(kubelet, event);
	if (replaces_socket(setting.fault)) {
		for (enum fault other = FAULT_CONNECTION_SILENT; replaces_socket(other); other++)
			kubelet->faults.settings[other].times = 0;
	}
	kubelet->faults.settings[setting.fault] = setting;
	chain_each (plugin, kubelet->plugins)
		faults_on_stream(plugin);
	if (setting.fault == FAULT_FLAP) {
		timer_cancel(&kubelet->faults.flap);
		rc = timer_start(kubelet->loop, setting.delay_ms, setting.delay_ms, on_flap,
				 kubelet, &kubelet->faults.flap, err);
	}
	if (rc < 0)
		return rc;
	return replaces_socket(setting.fault) ? kubelet_reopen(kubelet, err) : 0;
}
