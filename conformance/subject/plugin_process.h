/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The plugin under test as a child process. This folder only runs it; the checks judge its answers.
 *
 * The command line is split into words as a POSIX shell would do it (single and double quotes,
 * backslash), without a shell: no variables, no globs, no redirections. On Windows a backslash is
 * literal, except before a double quote, where the rules of CommandLineToArgvW apply. In each word
 *
 *   {plugin-dir}      becomes the fake kubelet's plugin directory
 *   {kubelet-socket}  becomes the path of its kubelet.sock
 *   {registry-dir}    becomes its plugins_registry directory
 *
 * and the child finds the same in the environment: DEVICE_PLUGIN_DIR and PLUGIN_SOCK_DIR, KUBELET_SOCKET,
 * PLUGINS_REGISTRY_DIR. It inherits our environment without TMPDIR and the GPUCERT_* variables, which may
 * hold secrets (but with GPUCERT_CACHE, for the Wine node). A plugin that supports neither placeholders
 * nor variables runs in a private mount namespace, in which the plugin directory covers the standard one
 * (Linux, needs CAP_SYS_ADMIN); nothing of that is visible outside, even if the standard directory does
 * not exist on the host. Placeholders and variables then name the standard directories, which are what
 * the plugin sees.
 */

#include "base/process.h"

#define KUBELET_STANDARD_PLUGIN_DIR   "/var/lib/kubelet/device-plugins"
#define KUBELET_STANDARD_REGISTRY_DIR "/var/lib/kubelet/plugins_registry"

struct plugin_process_spec {
	const char *command;
	const char *plugin_dir, *kubelet_socket; /* absolute */
	const char *registry_dir;		 /* NULL: none */
	bool private_mounts;			 /* the mount namespace described above */
	const char *standard_plugin_dir;	 /* NULL: KUBELET_STANDARD_PLUGIN_DIR */
	/* Its env is added to the variables above; grace_ms 0 is 30 s. */
	struct process_spec process;
};

/* ERROR_ARGUMENT for a command line that cannot be split or is empty, ERROR_NOT_FOUND and
 * ERROR_PERMISSION for a program that cannot be started, ERROR_UNSUPPORTED for private_mounts on
 * systems without mount namespaces. */
int plugin_process_start(uv_loop_t *loop, const struct plugin_process_spec *spec,
			 struct process **out, struct error *err);

/* Runs the loop until it has ended. ERROR_TIMEOUT. */
int plugin_process_wait(uv_loop_t *loop, struct process *plugin, uint64_t timeout_ms,
			struct error *err);

/* process_stop(), and runs the loop until it has ended. */
int plugin_process_stop(uv_loop_t *loop, struct process *plugin, struct error *err);

enum command_line_rules { COMMAND_LINE_POSIX, COMMAND_LINE_WINDOWS };

#ifdef _WIN32
#define COMMAND_LINE_HERE COMMAND_LINE_WINDOWS
#else
#define COMMAND_LINE_HERE COMMAND_LINE_POSIX
#endif

/* Splits a command line into words. ERROR_ARGUMENT names the unclosed quote; no words is success. */
int command_line_split(enum command_line_rules rules, const char *line, struct text_list *words,
		       struct error *err);

/* --fail-device or --restore-device: runs a command line of this system for the device, to its end, within a minute.
 * ERROR_ARGUMENT: it is empty; errors of command_line_split() and process_ask(). */
int device_command_run(const char *line, const char *device, struct error *err);
