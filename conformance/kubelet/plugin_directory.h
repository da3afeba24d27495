/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_KUBELET_PLUGIN_DIRECTORY_H
#define CONFORMANCE_KUBELET_PLUGIN_DIRECTORY_H

/*
 * The device-plugins directory: making it, clearing it of sockets as a starting kubelet does
 * (manager.go, CleanupPluginDirectory), and keeping what belongs to another kubelet safe in a
 * subdirectory.
 */

#include "base/error.h"

#include <stdbool.h>

#define KUBELET_SOCKET_NAME	"kubelet.sock"
#define KUBELET_CHECKPOINT_NAME "kubelet_internal_checkpoint"
#define KUBELET_MOVED_NAME	".gpucert-moved"

struct plugin_directory {
	char *path;
	bool moved; /* something lies in KUBELET_MOVED_NAME */
	/* Told the path of every file that is touched; may be NULL. */
	void (*on_swept)(const char *path, void *user);
	void (*on_moved)(const char *path, void *user);
	void (*on_returned)(const char *path, void *user);
	void *user;
};

/* Makes the directory (0750) when it is absent. */
int plugin_directory_create(struct plugin_directory *directory, struct error *err);

/* Before the first start: refuses a directory whose kubelet.sock is served (ERROR_EXISTS), unless
 * `take_over` is set, which moves every socket aside. The checkpoint of a real kubelet (it has a
 * Checksum) is moved aside in any case. */
int plugin_directory_claim(struct plugin_directory *directory, bool take_over, struct error *err);

enum sweep {
	SWEEP_ALL,     /* every socket */
	SWEEP_PLUGINS, /* every socket but kubelet.sock */
};

/* Removes sockets; whatever cannot be looked at stays. */
int plugin_directory_sweep(struct plugin_directory *directory, enum sweep what, struct error *err);

/* Puts back what was moved aside, kubelet.sock last. Sockets of plugins that nobody serves any more
 * are removed instead. A name that was taken meanwhile stays aside, and is the error. */
int plugin_directory_return(struct plugin_directory *directory, struct error *err);

/* As plugin_directory_return(), after a process that had taken the directory over died: what its
 * kubelet left there goes first. *restored (may be NULL) tells whether there was anything to do. */
int plugin_directory_restore(const char *path, bool *restored, struct error *err);

#endif
