/* SPDX-License-Identifier: MIT */
#pragma once

/* A device plugin that does what a script says, for testing the fake kubelet and the checks. It
 * runs on the loop of the test, or alone in the program scripted-plugin. */

#include "conformance/kubelet/doubles/script.h"

#include <uv.h>

struct scripted_plugin;

struct scripted_plugin_options {
	const char *plugin_dir;
	const char *kubelet_socket; /* NULL: kubelet.sock in plugin_dir */
	const char *registry_dir;   /* for register.via "watcher" */
	/* Called with a line about every call and other events; may be NULL. */
	void (*on_note)(const char *line, void *user);
	/* Called when the script ends the plugin; NULL: the process exits. */
	void (*on_exit)(int code, void *user);
	void *user;
};

/* `script` is borrowed until scripted_plugin_free(). */
int scripted_plugin_start(uv_loop_t *loop, const struct script *script,
			  const struct scripted_plugin_options *options,
			  struct scripted_plugin **out, struct error *err);

/* Ends every stream and removes the socket. NULL is allowed. */
void scripted_plugin_free(struct scripted_plugin *plugin);

/* Closes every connection without notice; the socket is removed. */
void scripted_plugin_cut(struct scripted_plugin *plugin);

/* Sends a new list on every open stream, and on every later one. */
int scripted_plugin_list(struct scripted_plugin *plugin, const struct kubelet_device_list *devices,
			 struct error *err);

const char *scripted_plugin_socket(const struct scripted_plugin *plugin); /* absolute path */
size_t scripted_plugin_calls(const struct scripted_plugin *plugin, enum script_method method);
size_t
scripted_plugin_streams(const struct scripted_plugin *plugin); /* open ListAndWatch streams */
size_t scripted_plugin_registered(const struct scripted_plugin *plugin); /* Register answered OK */
size_t scripted_plugin_refused(const struct scripted_plugin *plugin);
const char *scripted_plugin_last_error(const struct scripted_plugin *plugin); /* of Register */
