/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A fake kubelet: the device manager of one node, as a device plugin sees it. This folder models only
 * the kubelet; the plugin under test is in conformance/subject/, verdicts are in conformance/checks/.
 *
 * It behaves as kubelet v1.36.2 does (pkg/kubelet/cm/devicemanager), or as v1.37 where several
 * sockets can serve one resource. Everything happens on one libuv loop. Functions whose name ends
 * in _wait, and those with a `timeout_ms`, run that loop and must not be called from its
 * callbacks.
 *
 * In addition to the model it gives checks raw access: every registration attempt and every ListAndWatch
 * message is recorded, and the channel to the plugin can be used for any call (plugin.h).
 *
 *   kubelet.h            life cycle, registrations, resources, waiting, named faults
 *   plugin.h             one connection to one plugin socket, raw calls
 *   stream.h             one ListAndWatch stream
 *   pod.h                admission of containers, Allocate, PreStartContainer
 *   event.h              everything that happens, as it happens
 */

#include "conformance/kubelet/event.h"
#include "conformance/kubelet/plugin.h"
#include "rpc/loop.h"

enum kubelet_profile {
	/* One slot per resource: a new registration replaces the old one without closing its
	 * stream, and the end of any stream of the resource disconnects whatever holds the slot
	 * (server.go, v1.36.2). */
	KUBELET_PROFILE_1_36,
	/* Identity is (resource, socket): several sockets coexist, a survivor takes over, the last
	 * disconnect marks the devices unhealthy (kubernetes PR #135437). */
	KUBELET_PROFILE_1_37,
};

/* "1.36", "1.37"; ERROR_ARGUMENT names the two. */
int kubelet_profile_parse(const char *name, enum kubelet_profile *out, struct error *err);

enum kubelet_os { KUBELET_OS_LINUX, KUBELET_OS_WINDOWS };

struct kubelet_options {
	const char *plugin_dir;	  /* absolute; created with mode 0750 when absent */
	const char *registry_dir; /* plugins_registry for the plugin watcher; NULL: no watcher */
	/* How plugins in a mount namespace of their own name registry_dir, in endpoints; NULL: as we do. Not copied. */
	const char *registry_dir_seen;
	enum kubelet_profile profile;
	enum kubelet_os os; /* which kubelet is modelled, not where this runs */
	bool take_over;	    /* move a live kubelet's files aside; kubelet_free() puts them back */
	uint64_t seed;	    /* of the random order of device ids; the same seed, the same order */
	/* A zero time means the kubelet's own. */
	uint64_t dial_timeout_ms;      /* 10 s: connecting to a plugin's socket, retries included */
	uint64_t pre_start_timeout_ms; /* 30 s: grpc-timeout of PreStartContainer */
	void (*on_event)(const struct kubelet_event *event, void *user); /* may be NULL */
	/* Devices that are not to be chosen, as if another pod held them; NULL: none. */
	bool (*is_held)(const char *resource, const char *id, void *user);
	void *user;
};

struct kubelet;

/* Copies the options. Nothing happens on disk yet. ERROR_ARGUMENT for a directory that is not
 * absolute, ERROR_LIMIT when kubelet.sock in it would exceed the 107 bytes of an AF_UNIX path. */
int kubelet_new(uv_loop_t *loop, const struct kubelet_options *options, struct kubelet **out,
		struct error *err);

/* As a kubelet starts: creates the directory, reads the checkpoint, removes every socket in it,
 * listens on kubelet.sock. The first start spares files of others: sockets that somebody serves are
 * moved aside with take_over, otherwise they stay, which is reported as a problem. ERROR_EXISTS when
 * another kubelet accepts connections there and take_over is not set; other errors are those of the
 * file system. */
int kubelet_start(struct kubelet *kubelet, struct error *err);

/* As a kubelet stops: disconnects every plugin, stops the server, removes kubelet.sock. Pods stay
 * in the checkpoint; kubelet_start() may follow. */
void kubelet_stop(struct kubelet *kubelet);

enum kubelet_restart {
	/* Stop and start: plugin sockets are unlinked, then kubelet.sock appears again. */
	KUBELET_RESTART_WHOLE,
	/* Plugin sockets are unlinked; kubelet.sock and every connection stay. */
	KUBELET_RESTART_PLUGIN_SOCKETS,
	/* As KUBELET_RESTART_WHOLE, but plugin sockets stay. */
	KUBELET_RESTART_KUBELET_SOCKET,
};

int kubelet_restart(struct kubelet *kubelet, enum kubelet_restart what, struct error *err);

/* Stops, puts back what was moved, frees. The handles close on later rounds of the loop
 * (loop_drain()). No event is reported after it returns. NULL is allowed. */
void kubelet_free(struct kubelet *kubelet);

const char *kubelet_socket(const struct kubelet *kubelet); /* PLUGIN_DIR/kubelet.sock */
/* What another process did to kubelet.sock since the first start (in a private directory that is the
 * plugin): "removed", "replaced"; NULL: nothing. */
const char *kubelet_socket_harm(struct kubelet *kubelet);
const char *kubelet_plugin_dir(const struct kubelet *kubelet);
const char *kubelet_registry_dir(const struct kubelet *kubelet); /* NULL: no watcher */
/* Since kubelet_new(), virtual time included. */
uint64_t kubelet_elapsed_ms(const struct kubelet *kubelet);

/* Moves the kubelet's clock forward: grace periods pass without waiting. Nothing else is affected.
 */
void kubelet_advance_time(struct kubelet *kubelet, uint64_t ms);

/*
 * Registrations.
 */

/* The number of records that are kept. The connection of an older one is closed when nothing needs it: a
 * kubelet 1.36 never closes the connection of a replaced plugin. */
enum { KUBELET_REGISTRATIONS_KEPT = 256 };

/* One attempt to register. Strings and pointers live as long as its record. Times are
 * clock_monotonic_ms(); 0 means that it has not happened. */
struct kubelet_registration {
	size_t index;	 /* of kubelet_registration_at() */
	bool by_watcher; /* through plugins_registry instead of a Register call */
	uint64_t time_ms;
	const char *version, *endpoint, *resource; /* as sent; a watcher's versions joined by "," */
	bool has_options;			   /* RegisterRequest.options was sent */
	struct kubelet_plugin_options sent_options; /* the kubelet ignores them */
	const char *socket;  /* where the kubelet dials; NULL when the request was refused before */
	bool socket_existed; /* at the moment the attempt arrived */
	unsigned dial_attempts; /* connections tried; 1 and connected_ms set: it accepted at once */
	uint64_t connected_ms;
	uint64_t options_asked_ms, options_answered_ms; /* GetDevicePluginOptions */
	int options_code;				/* its gRPC status; RPC_NO_STATUS before */
	struct kubelet_plugin_options options;
	bool deduplicated; /* 1.37: this socket was connected already; nothing was done */
	bool abandoned;	   /* the caller left before the answer */
	uint64_t answered_ms;
	int code; /* gRPC status of the answer; RPC_OK means registered, RPC_NO_STATUS unanswered */
	const char *message;
	struct kubelet_plugin *plugin; /* the connection; NULL when none was made */
};

size_t kubelet_registration_count(const struct kubelet *kubelet); /* since kubelet_new() */
/* NULL: there is none with this index. The oldest record that is kept stands for older ones. */
const struct kubelet_registration *kubelet_registration_at(const struct kubelet *kubelet,
							   size_t index);

/* Goes through the records that are kept, from that index on. */
#define registration_each(registration, kubelet, from)                                             \
	for (const struct kubelet_registration *(registration) =                                   \
		     kubelet_registration_at(kubelet, from);                                       \
	     (registration) != NULL;                                                               \
	     (registration) = kubelet_registration_at(kubelet, (registration)->index + 1))

/*
 * Resources.
 */

struct kubelet_resource_status {
	bool known;	    /* registered once and not removed since */
	bool connected;	    /* a plugin serves it */
	bool listed;	    /* a ListAndWatch message came since the last registration or restart */
	size_t capacity;    /* healthy and unhealthy devices */
	size_t allocatable; /* healthy devices */
	size_t in_use;	    /* assigned to containers */
};

struct kubelet_resource_status kubelet_resource_status(const struct kubelet *kubelet,
						       const char *resource);

/* Names of the known resources, sorted, appended to `out`. */
void kubelet_resource_names(const struct kubelet *kubelet, struct text_list *out);

/* The list in force; NULL before the first message. Valid until the next message. */
const struct kubelet_device_list *kubelet_resource_devices(const struct kubelet *kubelet,
							   const char *resource);

/* The device in that list, with the same validity; NULL: not listed. */
const struct kubelet_device *kubelet_resource_device(const struct kubelet *kubelet,
						     const char *resource, const char *id);

/* The connection that Allocate goes to; NULL when the resource is not known. It may be
 * disconnected. */
struct kubelet_plugin *kubelet_resource_plugin(const struct kubelet *kubelet, const char *resource);

/*
 * Waiting. Each runs the loop until its condition holds: ERROR_TIMEOUT naming what did not happen,
 * or ERROR_CANCELLED with the reason given to kubelet_interrupt().
 */

int kubelet_wait(struct kubelet *kubelet, loop_condition *done, void *user, uint64_t timeout_ms,
		 const char *what, struct error *err);

/* Until an attempt with at least this index, of any resource, has been answered with RPC_OK. An error
 * includes the last refusal. */
int kubelet_wait_registration(struct kubelet *kubelet, size_t from, uint64_t timeout_ms,
			      struct error *err);

/* Until the resource is connected and has a list. */
int kubelet_wait_listed(struct kubelet *kubelet, const char *resource, uint64_t timeout_ms,
			struct error *err);

/* Ends the wait that is running and every later one with ERROR_CANCELLED and `reason` (the plugin
 * process died, a signal came); may be called from callbacks. NULL lifts it. */
void kubelet_interrupt(struct kubelet *kubelet, const char *reason);

/*
 * Named misbehaviour of the kubelet, which lasts or happens `times` times.
 */

/*
 * "NAME", "NAME=VALUE", each optionally followed by "*TIMES":
 *
 *   register-status=CODE[:MESSAGE]  Register is answered with this status ("14", "UNAVAILABLE"),
 *                                   unexamined
 *   watcher-status=CODE[:MESSAGE]   the same for a plugin in plugins_registry
 *   register-delay=MS               the answer to Register is held back, and ListAndWatch with it
 *   register-hang                   Register is never answered
 *   register-malformed              Register succeeds, and its answer is not a message
 *   connection-silent               kubelet.sock accepts and never says anything
 *   connection-garbage              kubelet.sock accepts, writes bytes that are not HTTP/2, closes
 *   connection-close                kubelet.sock accepts and closes at once
 *   connection-refuse               kubelet.sock exists, but nobody listens
 *   socket-absent                   kubelet.sock is removed
 *   list-stall                      ListAndWatch is not read: flow control stops the plugin
 *   list-twice                      a second ListAndWatch is opened on each connection
 *   list-cancel=MS                  ListAndWatch is cancelled after so long, and opened again
 *   disconnect=MS                   so long after ListAndWatch the connection is closed
 *   options-twice                   GetDevicePluginOptions is called twice at the same time
 *   flap=MS                         the kubelet restarts whenever so long has passed
 *
 * The connection-* faults and socket-absent exclude each other: the last one counts.
 * ERROR_ARGUMENT names the mistake; errors of the file system.
 */
int kubelet_fault_set(struct kubelet *kubelet, const char *spec, struct error *err);

/* Validates `spec` without setting it. ERROR_ARGUMENT names the mistake. */
int kubelet_fault_check(const char *spec, struct error *err);

/* Their names, NULL-ended, in the order above. */
const char *const *kubelet_fault_names(void);
