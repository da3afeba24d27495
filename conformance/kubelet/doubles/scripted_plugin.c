/* SPDX-License-Identifier: MIT */
#include "conformance/kubelet/doubles/scripted_plugin.h"

#include "base/cleanup.h"
#include "base/path.h"
#include "conformance/kubelet/doubles/scripted_internal.h"
#include "rpc/socket.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DIRECTORY_LOOK_MS = 500 };

void scripted_note(struct scripted_plugin *plugin, const char *format, ...)
{
	struct text line CLEANUP_TEXT = {0};
	va_list args;
	if (plugin->options.on_note == NULL)
		return;
	text_addf(&line, "%s: ", plugin->script->resource);
	va_start(args, format);
	text_vaddf(&line, format, args);
	va_end(args);
	plugin->options.on_note(text_string(&line), plugin->options.user);
}

void scripted_exit(struct scripted_plugin *plugin, int code)
{
	scripted_note(plugin, "exit %d", code);
	if (plugin->options.on_exit == NULL)
		_exit(code);
	plugin->options.on_exit(code, plugin->options.user);
}

/* The identity of a file; 0: it does not exist. */
static uint64_t identity_of(const char *path)
{
	struct socket_identity identity;
	return socket_identify(path, &identity) ? (identity.inode << 32 ^ identity.born_ns) | 1 : 0;
}

static int choose_socket(struct scripted_plugin *plugin, struct error *err)
{
	const struct script *script = plugin->script;
	const char *directory = script->via == SCRIPT_VIA_WATCHER ? plugin->options.registry_dir
								  : plugin->options.plugin_dir;
	static unsigned counter;
	if (plugin->socket != NULL && !script->fresh_socket)
		return 0;
	char *name CLEANUP_FREE = NULL;
	if (script->socket == NULL)
		name = text_format("scripted-%d-%u.sock", (int)uv_os_getpid(), counter++);
	else if (plugin->socket == NULL)
		name = strdup(script->socket);
	else
		name = text_format("%u-%s", counter++, script->socket);
	free(plugin->socket);
	plugin->socket = name == NULL ? NULL : path_join(directory, name);
	return plugin->socket == NULL ? error_memory(err) : 0;
}

static void on_goaway(void *user)
{
	struct scripted_plugin *plugin = user;
	rpc_server_say_goaway(plugin->server);
}

int scripted_listen(struct scripted_plugin *plugin, struct error *err)
{
	const struct rpc_server_options options = {.limits = {.message_max = 64 << 20}};
	int rc = choose_socket(plugin, err);
	if (rc != 0)
		return rc;
	char *address CLEANUP_FREE = text_format("unix:%s", plugin->socket);
	if (address == NULL)
		return error_memory(err);
	scripted_unlisten(plugin);
	bool served = false;
	if (plugin->script->one_instance)
		rc = socket_is_served(plugin->socket, &served, err);
	if (rc != 0)
		return rc;
	if (served)
		return error_set(err, ERROR_EXISTS, "%s is served already", plugin->socket);
	if (plugin->script->remove_stale)
		(void)unlink(plugin->socket);
	rc = rpc_server_new(plugin->loop, &options, &plugin->server, err);
	if (rc == 0)
		rc = scripted_add_methods(plugin, err);
	if (rc == 0)
		rc = rpc_server_listen(plugin->server, address, err);
	plugin->socket_identity = rc == 0 ? identity_of(plugin->socket) : 0;
	if (rc == 0 && plugin->script->socket_mode != 0)
		(void)chmod(plugin->socket, (mode_t)plugin->script->socket_mode);
	if (rc == 0 && plugin->script->directory_mode != 0)
		(void)chmod(plugin->options.plugin_dir, (mode_t)plugin->script->directory_mode);
	if (rc == 0 && plugin->script->goaway_ms > 0)
		rc = timer_start(plugin->loop, plugin->script->goaway_ms, plugin->script->goaway_ms,
				 on_goaway, plugin, &plugin->goaway, err);
	scripted_note(plugin, "listen %s%s%s", plugin->socket, rc == 0 ? "" : ": ",
		      rc == 0 || err == NULL ? "" : err->text);
	return rc;
}

void scripted_unlisten(struct scripted_plugin *plugin)
{
	scripted_drop_calls(plugin);
	timer_cancel(&plugin->goaway);
	struct rpc_server *server = STEAL(plugin->server);
	rpc_server_close(server);
	plugin->socket_identity = 0;
}

static void on_reaction(void *user)
{
	struct scripted_plugin *plugin = user;
	timer_cancel(&plugin->reaction);
	plugin->kubelet_identity = identity_of(plugin->kubelet_socket);
	scripted_begin(plugin);
}

static void react(struct scripted_plugin *plugin, enum script_reaction reaction, const char *what)
{
	scripted_note(plugin, "%s", what);
	if (reaction == SCRIPT_REACT_IGNORE)
		return;
	if (reaction == SCRIPT_REACT_EXIT) {
		scripted_exit(plugin, 0);
		return;
	}
	if (plugin->reaction == NULL &&
	    timer_start(plugin->loop, plugin->script->reaction_delay_ms, 0, on_reaction, plugin,
			&plugin->reaction, NULL) != 0)
		scripted_exit(plugin, 1);
}

/* Something changed in the directory: is it our socket, or kubelet.sock? */
static void look(struct scripted_plugin *plugin)
{
	uint64_t kubelet = identity_of(plugin->kubelet_socket);
	bool gone = plugin->socket_identity != 0 &&
		    identity_of(plugin->socket) != plugin->socket_identity;
	bool fresh = kubelet != 0 && kubelet != plugin->kubelet_identity;
	plugin->kubelet_identity = kubelet;
	if (gone)
		plugin->socket_identity = 0;
	if (fresh && plugin->script->via == SCRIPT_VIA_REGISTER &&
	    (!gone || plugin->script->on_kubelet_socket != SCRIPT_REACT_IGNORE))
		react(plugin, plugin->script->on_kubelet_socket, "kubelet.sock is new");
	else if (gone)
		react(plugin, plugin->script->on_socket_removed, "own socket is gone");
}

static void on_change(uv_fs_event_t *changes, const char *name, int events, int status)
{
	(void)name;
	(void)events;
	if (status == 0 && changes->data != NULL)
		look(changes->data);
}

static void on_changes_closed(uv_handle_t *handle)
{
	free(handle);
}

static void unwatch_directory(struct scripted_plugin *plugin)
{
	uv_fs_event_t *changes = STEAL(plugin->changes);
	if (changes == NULL)
		return;
	changes->data = NULL;
	uv_close((uv_handle_t *)changes, on_changes_closed);
}

static int watch_directory(struct scripted_plugin *plugin, struct error *err)
{
	plugin->directory_identity = identity_of(plugin->options.plugin_dir);
	plugin->changes = calloc(1, sizeof(*plugin->changes));
	if (plugin->changes == NULL)
		return error_memory(err);
	(void)uv_fs_event_init(plugin->loop, plugin->changes);
	plugin->changes->data = plugin;
	int rc = uv_fs_event_start(plugin->changes, on_change, plugin->options.plugin_dir, 0);
	return rc == 0 ? 0 : error_uv(err, rc, "cannot watch %s", plugin->options.plugin_dir);
}

/* A directory that is made anew is watched anew. */
static void on_directory_time(void *user)
{
	struct scripted_plugin *plugin = user;
	uint64_t now = identity_of(plugin->options.plugin_dir);
	if (now == 0 || now == plugin->directory_identity)
		return;
	unwatch_directory(plugin);
	if (watch_directory(plugin, NULL) == 0)
		look(plugin);
}

int scripted_plugin_start(uv_loop_t *loop, const struct script *script,
			  const struct scripted_plugin_options *options,
			  struct scripted_plugin **out, struct error *err)
{
	struct scripted_plugin *plugin = calloc(1, sizeof(*plugin));
	if (plugin == NULL)
		return error_memory(err);
	plugin->loop = loop;
	plugin->script = script;
	plugin->options = *options;
	plugin->repeats_left = script->register_repeat;
	plugin->retries_left = script->register_retries;
	plugin->kubelet_socket = options->kubelet_socket == NULL
					 ? path_join(options->plugin_dir, "kubelet.sock")
					 : strdup(options->kubelet_socket);
	int rc = plugin->kubelet_socket == NULL ? error_memory(err) : 0;
	if (plugin->script->pre_start_link != NULL)
		(void)unlink(plugin->script->pre_start_link);
	if (rc == 0)
		rc = watch_directory(plugin, err);
	if (rc == 0)
		rc = timer_start(loop, DIRECTORY_LOOK_MS, DIRECTORY_LOOK_MS, on_directory_time,
				 plugin, &plugin->directory_timer, err);
	if (rc == 0) {
		plugin->kubelet_identity = identity_of(plugin->kubelet_socket);
		rc = scripted_start_listening(plugin, err);
	}
	if (rc != 0) {
		scripted_plugin_free(plugin);
		return rc;
	}
	*out = plugin;
	return 0;
}

void scripted_plugin_free(struct scripted_plugin *plugin)
{
	if (plugin == NULL)
		return;
	timer_cancel(&plugin->reaction);
	scripted_stop_registering(plugin);
	timer_cancel(&plugin->directory_timer);
	unwatch_directory(plugin);
	scripted_unlisten(plugin);
	kubelet_device_list_free(&plugin->override);
	text_list_free(&plugin->answered);
	text_list_free(&plugin->leaked);
	free(plugin->latest.data);
	free(plugin->kubelet_socket);
	free(plugin->socket);
	free(plugin);
}

void scripted_plugin_cut(struct scripted_plugin *plugin)
{
	scripted_unlisten(plugin);
}

const char *scripted_plugin_socket(const struct scripted_plugin *plugin)
{
	return plugin->socket;
}

size_t scripted_plugin_calls(const struct scripted_plugin *plugin, enum script_method method)
{
	return plugin->calls[method];
}

size_t scripted_plugin_registered(const struct scripted_plugin *plugin)
{
	return plugin->registered;
}

size_t scripted_plugin_refused(const struct scripted_plugin *plugin)
{
	return plugin->refused;
}

const char *scripted_plugin_last_error(const struct scripted_plugin *plugin)
{
	return plugin->last_error;
}
