/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The device-plugins directory: clearing it of sockets as a starting kubelet does (manager.go,
 * CleanupPluginDirectory), and keeping the files of others safe: sockets that somebody serves in a
 * subdirectory, the checkpoint of another kubelet in its place.
 */

#include "conformance/kubelet/event.h"

#define KUBELET_SOCKET_NAME	"kubelet.sock"
#define KUBELET_CHECKPOINT_NAME "kubelet_internal_checkpoint"
#define KUBELET_MOVED_NAME	".gpucert-moved"

struct plugin_directory {
	const char *path;
	bool claimed;
	bool moved; /* KUBELET_MOVED_NAME exists, and its lock is held */
	int lock;
	struct text_list left; /* sockets of others, which are never swept */
	/* Receives the path of every file that is touched: KUBELET_EVENT_SOCKET_SWEPT, _MOVED,
	 * _RETURNED, and KUBELET_EVENT_PROBLEM for a served socket that stays. May be NULL. */
	void (*on_file)(enum kubelet_event_type what, const char *path, void *user);
	void *user;
};

/* Frees all but `path`. */
void plugin_directory_free(struct plugin_directory *directory);

/* Once, before the first start: checks that a kubelet can start here (ERROR_EXISTS: a kubelet is
 * listening, or kubelet.sock is not a socket; ERROR_PERMISSION, ERROR_IO: nothing can be written),
 * and then removes the sockets that nobody serves. Sockets that somebody serves are moved aside with
 * `take_over`, otherwise they stay.
 * *checkpoint is where a fake kubelet keeps its own: with the moved sockets when the directory
 * belongs to another kubelet (one listens, or left a checkpoint with a Checksum, which only a real
 * one can make), so that the other's file is never touched. Caller frees. ERROR_BUSY: another process
 * has taken the directory over. */
int plugin_directory_claim(struct plugin_directory *directory, bool take_over, char **checkpoint,
			   struct error *err);

/* Removes a fake kubelet's checkpoint, unless a real kubelet has put its own there. */
int plugin_directory_forget(const char *checkpoint, struct error *err);

enum sweep {
	SWEEP_ALL,     /* every socket */
	SWEEP_PLUGINS, /* every socket but kubelet.sock */
	SWEEP_KUBELET, /* only kubelet.sock */
};

/* Removes sockets; files that cannot be inspected stay. */
int plugin_directory_sweep(struct plugin_directory *directory, enum sweep what, struct error *err);

/* Puts back the files that were moved aside, kubelet.sock last. Sockets of plugins that nobody serves any more
 * are removed instead. A name that was taken meanwhile stays aside, and is the error. */
int plugin_directory_return(struct plugin_directory *directory, struct error *err);

/* As plugin_directory_return(), after a process that had taken the directory over died: files of its
 * kubelet are removed first. *restored (may be NULL): there was something to do. ERROR_BUSY: a living
 * process has taken the directory over. */
int plugin_directory_restore(const char *path, bool *restored, struct error *err);
