/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/kubelet.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "conformance/kubelet/endpoints.h"
#include "conformance/kubelet/pods.h"
#include "conformance/kubelet/resources.h"
#include "rpc/address.h"

#include <string.h>

enum {
	DIAL_TIMEOUT_MS = 10 * 1000,
	PRE_START_TIMEOUT_MS = 30 * 1000,
	NODE_STATUS_MS = 10 * 1000,
	PLUGIN_DIR_MODE = 0750,
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
	struct kubelet_event event = kubelet_event_of(KUBELET_EVENT_PROBLEM);
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
	return error_set(err, ERROR_REMOTE, "%s", kubelet->refusal);
}

int kubelet_refuse_status(struct kubelet *kubelet, struct error *err, const char *what,
			  const struct rpc_answer *reply)
{
	char *status CLEANUP_FREE = go_status_text(reply->code, reply->message);
	return kubelet_refuse(kubelet, err, "%s%s", what, status);
}

static void report_socket(enum kubelet_event_type type, const char *path, void *user)
{
	struct kubelet_event event = kubelet_event_of(type);
	event.socket = path;
	kubelet_report(user, event);
}

/* Events of the plugin directory; a problem is a socket that stays. */
static void on_file(enum kubelet_event_type type, const char *path, void *user)
{
	struct error stays = {0};
	if (type != KUBELET_EVENT_PROBLEM) {
		report_socket(type, path, user);
		return;
	}
	(void)error_set(&stays, ERROR_EXISTS,
			"%s stays: somebody listens on it; --take-over moves it aside", path);
	kubelet_report_problem(user, &stays);
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

/* `path` normalised; it must be absolute. */
static int take_path(const char *what, const char *path, char **out, struct error *err)
{
	if (!path_is_absolute(path))
		return error_set(err, ERROR_ARGUMENT, "%s directory \"%s\" is not absolute", what,
				 path);
	*out = path_normalize(path);
	return 0;
}

int kubelet_new(uv_loop_t *loop, const struct kubelet_options *options, struct kubelet **out,
		struct error *err)
{
	struct kubelet *kubelet = memory_allocate(1, sizeof(*kubelet));
	struct address address;
	kubelet->loop = loop;
	kubelet->options = *options;
	kubelet->born_ms = clock_monotonic_ms();
	kubelet->random.state = options->seed;
	if (options->dial_timeout_ms == 0)
		kubelet->options.dial_timeout_ms = DIAL_TIMEOUT_MS;
	if (options->pre_start_timeout_ms == 0)
		kubelet->options.pre_start_timeout_ms = PRE_START_TIMEOUT_MS;

	int rc = take_path("plugin", options->plugin_dir, &kubelet->plugin_dir, err);
	if (rc == 0 && options->registry_dir != NULL)
		rc = take_path("registry", options->registry_dir, &kubelet->registry_dir, err);
	if (rc == 0) {
		kubelet->socket = path_join(kubelet->plugin_dir, KUBELET_SOCKET_NAME);
		rc = address_of_path(kubelet->socket, &address, err);
	}
	if (rc < 0) {
		kubelet_release(kubelet);
		return rc;
	}
	kubelet->options.plugin_dir = kubelet->plugin_dir;
	kubelet->options.registry_dir = kubelet->registry_dir;
	kubelet->directory = (struct plugin_directory){
		.path = kubelet->plugin_dir, .on_file = on_file, .user = kubelet};
	*out = kubelet;
	return 0;
}

/* Stops serving and removes kubelet.sock. */
static void unlisten(struct kubelet *kubelet)
{
	bool listening = kubelet->server != NULL || kubelet->faults.listener != NULL;
	(void)kubelet_socket_harm(kubelet);
	kubelet->socket_known = false;
	registrations_stop(kubelet);
	rpc_server_close(STEAL(kubelet->server));
	fault_listener_close(STEAL(kubelet->faults.listener));
	if (listening)
		report_socket(KUBELET_EVENT_STOPPED, kubelet->socket, kubelet);
}

static int listen_on_socket(struct kubelet *kubelet, struct error *err)
{
	/* The right to write decides who may connect: only the owner, as with 0600. */
	const struct rpc_server_options options = {.socket_mode = SOCKET_MODE};
	char *address CLEANUP_FREE = text_format("unix:%s", kubelet->socket);
	bool replaced = false;
	int rc = faults_replace_socket(kubelet, &replaced, err);
	if (rc == 0 && !replaced) {
		rc = rpc_server_new(kubelet->loop, &options, &kubelet->server, err);
		if (rc == 0)
			rc = rpc_server_add(kubelet->server, "/v1beta1.Registration/Register",
					    registration_handle, kubelet, err);
		if (rc == 0)
			rc = rpc_server_listen(kubelet->server, address, err);
		if (rc < 0)
			unlisten(kubelet);
		else
			report_socket(KUBELET_EVENT_STARTED, kubelet->socket, kubelet);
	}
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

int kubelet_reopen(struct kubelet *kubelet, struct error *err)
{
	unlisten(kubelet);
	return kubelet->running ? listen_on_socket(kubelet, err) : 0;
}

/* The node status loop, in which the kubelet checks grace periods. */
static void on_node_status(void *user)
{
	resources_sweep(user);
}

static int begin_running(struct kubelet *kubelet, struct error *err)
{
	int rc = listen_on_socket(kubelet, err);
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
	int rc = file_make_directories(kubelet->plugin_dir, PLUGIN_DIR_MODE, err);
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
	unlisten(kubelet);
}

int kubelet_restart(struct kubelet *kubelet, enum kubelet_restart what, struct error *err)
{
	if (what == KUBELET_RESTART_PLUGIN_SOCKETS)
		return plugin_directory_sweep(&kubelet->directory, SWEEP_PLUGINS, err);
	kubelet_stop(kubelet);
	if (what == KUBELET_RESTART_WHOLE)
		return kubelet_start(kubelet, err);

	/* A file of the plugin at the path does not matter, as to a real kubelet. */
	int rc = file_make_directories(kubelet->plugin_dir, PLUGIN_DIR_MODE, err);
	if (rc == 0)
		rc = plugin_directory_sweep(&kubelet->directory, SWEEP_KUBELET, err);
	checkpoint_read(kubelet);
	return rc == 0 ? begin_running(kubelet, err) : rc;
}

void kubelet_free(struct kubelet *kubelet)
{
	struct error err = {0};
	if (kubelet == NULL)
		return;
	timer_cancel(&kubelet->faults.flap);
	kubelet_stop(kubelet);
	unlisten(kubelet);
	if (kubelet->checkpoint_written)
		(void)plugin_directory_forget(kubelet->checkpoint, NULL);
	if (plugin_directory_return(&kubelet->directory, &err) != 0)
		kubelet_report_problem(kubelet, &err);
	plugin_directory_free(&kubelet->directory);
	kubelet->freeing = true;
	registrations_free(kubelet);
	clients_free(kubelet, true);
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

void kubelet_advance_time(struct kubelet *kubelet, uint64_t ms)
{
	kubelet->advanced_ms += ms;
	resources_sweep(kubelet);
}

int kubelet_profile_parse(const char *name, enum kubelet_profile *out, struct error *err)
{
	bool newer = strcmp(name, "1.37") == 0;
	*out = newer ? KUBELET_PROFILE_1_37 : KUBELET_PROFILE_1_36;
	if (newer || strcmp(name, "1.36") == 0)
		return 0;
	return error_set(err, ERROR_ARGUMENT, "no profile \"%s\"; there are 1.36 and 1.37", name);
}
