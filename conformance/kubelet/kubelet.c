/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/kubelet.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "conformance/kubelet/internal.h"

#include <stdio.h>
#include <string.h>

enum {
	DIAL_TIMEOUT_MS = 10 * 1000,
	PRE_START_TIMEOUT_MS = 30 * 1000,
	GRACE_MS = 5 * 60 * 1000,
	NODE_STATUS_MS = 10 * 1000,
	SOCKET_MODE = 0755, /* net.Listen with the umask 022 */
};

uint64_t kubelet_elapsed_ms(const struct kubelet *kubelet)
{
	return clock_monotonic_ms() - kubelet->born_ms + kubelet->advanced_ms;
}

void kubelet_report(struct kubelet *kubelet, struct kubelet_event event)
{
	if (kubelet->options.on_event == NULL || kubelet->freeing)
		return;
	event.elapsed_ms = kubelet_elapsed_ms(kubelet);
	kubelet->options.on_event(&event, kubelet->options.user);
}

void kubelet_report_problem(struct kubelet *kubelet, const struct error *err)
{
	struct kubelet_event event = KUBELET_EVENT_EMPTY(PROBLEM);
	event.text = err->text;
	kubelet_report(kubelet, event);
}

int kubelet_refuse(struct kubelet *kubelet, struct error *err, const char *format, ...)
{
	struct text text CLEANUP_TEXT = {0};
	va_list args;
	va_start(args, format);
	text_vaddf(&text, format, args);
	va_end(args);
	free(kubelet->refusal);
	kubelet->refusal = text_take(&text);
	if (kubelet->refusal == NULL)
		return error_memory(err);
	return error_set(err, ERROR_REMOTE, "%s", kubelet->refusal);
}

static void report_socket(struct kubelet *kubelet, enum kubelet_event_type type, const char *path)
{
	struct kubelet_event event = KUBELET_EVENT_EMPTY(STARTED);
	event.type = type;
	event.socket = path;
	kubelet_report(kubelet, event);
}

static void on_swept(const char *path, void *user)
{
	report_socket(user, KUBELET_EVENT_SOCKET_SWEPT, path);
}

static void on_moved(const char *path, void *user)
{
	report_socket(user, KUBELET_EVENT_SOCKET_MOVED, path);
}

static void on_left(const char *path, void *user)
{
	struct error stays = {0};
	(void)error_set(&stays, ERROR_EXISTS,
			"%s stays: somebody listens on it; --take-over moves it aside", path);
	kubelet_report_problem(user, &stays);
}

static void on_returned(const char *path, void *user)
{
	report_socket(user, KUBELET_EVENT_SOCKET_RETURNED, path);
}

static void kubelet_release(struct kubelet *kubelet)
{
	free(kubelet->plugin_dir);
	free(kubelet->registry_dir);
	free(kubelet->socket);
	free(kubelet->checkpoint);
	free(kubelet->interrupt);
	free(kubelet->refusal);
	free(kubelet);
}

static int check_options(const struct kubelet_options *options, struct error *err)
{
	if (options->plugin_dir == NULL || !path_is_absolute(options->plugin_dir))
		return error_set(err, ERROR_ARGUMENT, "plugin directory \"%s\" is not absolute",
				 options->plugin_dir == NULL ? "" : options->plugin_dir);
	if (options->registry_dir != NULL && !path_is_absolute(options->registry_dir))
		return error_set(err, ERROR_ARGUMENT, "registry directory \"%s\" is not absolute",
				 options->registry_dir);
	return 0;
}

static int fill_paths(struct kubelet *kubelet, struct error *err)
{
	struct kubelet_options *options = &kubelet->options;
	kubelet->plugin_dir = path_normalize(options->plugin_dir);
	if (kubelet->plugin_dir == NULL)
		return error_memory(err);
	kubelet->socket = path_join(kubelet->plugin_dir, KUBELET_SOCKET_NAME);
	if (options->registry_dir != NULL)
		kubelet->registry_dir = path_normalize(options->registry_dir);
	if (kubelet->socket == NULL ||
	    (options->registry_dir != NULL && kubelet->registry_dir == NULL))
		return error_memory(err);
	options->plugin_dir = kubelet->plugin_dir;
	options->registry_dir = kubelet->registry_dir;
	char *address CLEANUP_FREE = text_format("unix:%s", kubelet->socket);
	const char *path = NULL;
	return address == NULL ? error_memory(err) : rpc_address_path(address, &path, err);
}

int kubelet_new(uv_loop_t *loop, const struct kubelet_options *options, struct kubelet **out,
		struct error *err)
{
	int rc = check_options(options, err);
	if (rc != 0)
		return rc;
	struct kubelet *kubelet = calloc(1, sizeof(*kubelet));
	if (kubelet == NULL)
		return error_memory(err);
	kubelet->loop = loop;
	kubelet->options = *options;
	kubelet->born_ms = clock_monotonic_ms();
	kubelet->random.state = options->seed;
	struct kubelet_options *own = &kubelet->options;
	if (own->dial_timeout_ms == 0)
		own->dial_timeout_ms = DIAL_TIMEOUT_MS;
	if (own->pre_start_timeout_ms == 0)
		own->pre_start_timeout_ms = PRE_START_TIMEOUT_MS;
	if (own->grace_ms == 0)
		own->grace_ms = GRACE_MS;
	rc = fill_paths(kubelet, err);
	if (rc != 0) {
		kubelet_release(kubelet);
		return rc;
	}
	kubelet->directory = (struct plugin_directory){.path = kubelet->plugin_dir,
						       .on_swept = on_swept,
						       .on_moved = on_moved,
						       .on_returned = on_returned,
						       .on_left = on_left,
						       .user = kubelet};
	*out = kubelet;
	return 0;
}

static int serve(struct kubelet *kubelet, struct error *err)
{
	char *address CLEANUP_FREE = text_format("unix:%s", kubelet->socket);
	if (address == NULL)
		return error_memory(err);
	/* Who may connect is decided by the right to write: as with 0600, the owner alone. */
	const struct rpc_server_options options = {.socket_mode = SOCKET_MODE};
	int rc = rpc_server_new(kubelet->loop, &options, &kubelet->server, err);
	if (rc == 0)
		rc = rpc_server_add(kubelet->server, "/v1beta1.Registration/Register",
				    registration_handle, kubelet, err);
	if (rc == 0)
		rc = rpc_server_listen(kubelet->server, address, err);
	if (rc != 0)
		kubelet_unlisten(kubelet);
	else
		report_socket(kubelet, KUBELET_EVENT_STARTED, kubelet->socket);
	return rc;
}

int kubelet_listen(struct kubelet *kubelet, struct error *err)
{
	bool replaced = false;
	int rc = faults_replace_socket(kubelet, &replaced, err);
	if (rc == 0 && !replaced)
		rc = serve(kubelet, err);
	kubelet->socket_known =
		rc == 0 && socket_identify(kubelet->socket, &kubelet->socket_identity);
	return rc;
}

const char *kubelet_socket_harm(struct kubelet *kubelet)
{
	struct socket_identity now;
	struct error harm = {0};
	if (!kubelet->socket_known || kubelet->socket_harm != NULL)
		return kubelet->socket_harm;
	if (!socket_identify(kubelet->socket, &now))
		kubelet->socket_harm = "removed";
	else if (!socket_is_same(&now, &kubelet->socket_identity))
		kubelet->socket_harm = "replaced";
	else
		return NULL;
	(void)error_set(&harm, ERROR_IO, "%s was %s by somebody else", kubelet->socket,
			kubelet->socket_harm);
	kubelet_report_problem(kubelet, &harm);
	return kubelet->socket_harm;
}

void kubelet_unlisten(struct kubelet *kubelet)
{
	bool listening = kubelet->server != NULL || kubelet->faults.listener != NULL;
	(void)kubelet_socket_harm(kubelet);
	kubelet->socket_known = false;
	registrations_stop(kubelet);
	struct rpc_server *server = STEAL(kubelet->server);
	rpc_server_close(server);
	struct fault_listener *listener = STEAL(kubelet->faults.listener);
	fault_listener_close(listener);
	if (listening)
		report_socket(kubelet, KUBELET_EVENT_STOPPED, kubelet->socket);
}

/* The node status loop: where the kubelet looks at grace periods. */
static void on_node_status(void *user)
{
	resource_sweep(user);
}

static int begin_running(struct kubelet *kubelet, struct error *err)
{
	int rc = kubelet_listen(kubelet, err);
	if (rc == 0)
		rc = timer_start(kubelet->loop, NODE_STATUS_MS, NODE_STATUS_MS, on_node_status,
				 kubelet, &kubelet->node_status, err);
	if (rc == 0 && kubelet->registry_dir != NULL)
		rc = watcher_start(kubelet, err);
	kubelet->running = true;
	if (rc != 0)
		kubelet_stop(kubelet);
	return rc;
}

int kubelet_start(struct kubelet *kubelet, struct error *err)
{
	if (kubelet->running)
		return 0;
	int rc = plugin_directory_create(&kubelet->directory, err);
	if (rc == 0 && !kubelet->directory.claimed)
		rc = plugin_directory_claim(&kubelet->directory, kubelet->options.take_over,
					    &kubelet->checkpoint, err);
	else if (rc == 0)
		rc = plugin_directory_sweep(&kubelet->directory, SWEEP_ALL, err);
	if (rc != 0)
		return rc;
	checkpoint_read(kubelet);
	return begin_running(kubelet, err);
}

void kubelet_stop(struct kubelet *kubelet)
{
	if (!kubelet->running)
		return;
	kubelet->running = false;
	watcher_stop(kubelet);
	timer_cancel(&kubelet->node_status);
	clients_stop(kubelet);
	kubelet_unlisten(kubelet);
}

/* What a plugin put at the path, or did to the directory, is no obstacle, as for a real kubelet. */
static int remake_socket(struct kubelet *kubelet, struct error *err)
{
	kubelet_stop(kubelet);
	int rc = plugin_directory_create(&kubelet->directory, err);
	if (rc == 0)
		rc = plugin_directory_sweep(&kubelet->directory, SWEEP_KUBELET, err);
	checkpoint_read(kubelet);
	return rc == 0 ? begin_running(kubelet, err) : rc;
}

int kubelet_restart(struct kubelet *kubelet, enum kubelet_restart what, struct error *err)
{
	switch (what) {
	case KUBELET_RESTART_WHOLE:
		break;
	case KUBELET_RESTART_PLUGIN_SOCKETS:
		return plugin_directory_sweep(&kubelet->directory, SWEEP_PLUGINS, err);
	case KUBELET_RESTART_KUBELET_SOCKET:
		return remake_socket(kubelet, err);
	}
	kubelet_stop(kubelet);
	return kubelet_start(kubelet, err);
}

void kubelet_free(struct kubelet *kubelet)
{
	struct error err = {0};
	if (kubelet == NULL)
		return;
	kubelet_stop(kubelet);
	kubelet_unlisten(kubelet);
	if (kubelet->checkpoint_written)
		(void)plugin_directory_forget(kubelet->checkpoint, NULL);
	if (plugin_directory_return(&kubelet->directory, &err) != 0)
		kubelet_report_problem(kubelet, &err);
	plugin_directory_free(&kubelet->directory);
	kubelet->freeing = true;
	registrations_free(kubelet);
	while (kubelet->plugins != NULL) {
		struct kubelet_plugin *plugin = kubelet->plugins;
		kubelet->plugins = plugin->next;
		client_free(plugin);
	}
	resources_free(kubelet);
	allocations_free(kubelet);
	kubelet_release(kubelet);
}

const char *kubelet_socket(const struct kubelet *kubelet)
{
	return kubelet->socket;
}

const char *kubelet_plugin_dir(const struct kubelet *kubelet)
{
	return kubelet->plugin_dir;
}

const char *kubelet_registry_dir(const struct kubelet *kubelet)
{
	return kubelet->registry_dir;
}

uv_loop_t *kubelet_loop(const struct kubelet *kubelet)
{
	return kubelet->loop;
}

bool kubelet_is_running(const struct kubelet *kubelet)
{
	return kubelet->running;
}

void kubelet_advance_time(struct kubelet *kubelet, uint64_t ms)
{
	kubelet->advanced_ms += ms;
	resource_sweep(kubelet);
}
