/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Named misbehaviour of the kubelet. A lasting fault stays until it is cleared or has happened
 * `times` times; an immediate one happens once, now.
 */

#include "conformance/kubelet/kubelet.h"

enum kubelet_fault_value {
	KUBELET_FAULT_NO_VALUE,
	KUBELET_FAULT_MILLISECONDS, /* "500" */
	KUBELET_FAULT_STATUS,	    /* "14", "UNAVAILABLE", or one of them, ':' and a message */
};

struct kubelet_fault {
	const char *name;
	const char *meaning; /* one sentence */
	enum kubelet_fault_value value;
	bool immediate;
};

/* All of them, in the order of the documentation. */
const struct kubelet_fault *kubelet_faults(size_t *count);

/*
 * "NAME", "NAME=VALUE", each optionally followed by "*TIMES":
 *
 *   register-status=CODE[:MESSAGE]  Register is answered with this status, unexamined
 *   register-delay=MS               the answer to Register is held back
 *   register-hang                   Register is never answered
 *   connection-silent               kubelet.sock accepts and never says anything
 *   connection-garbage              kubelet.sock accepts, writes bytes that are no HTTP/2, closes
 *   connection-close                kubelet.sock accepts and closes at once
 *   connection-refuse               kubelet.sock is there, but nobody listens
 *   socket-absent                   kubelet.sock is removed
 *   list-stall                      ListAndWatch is not read: flow control stops the plugin
 *   list-cancel                     now: every ListAndWatch is cancelled
 *   disconnect                      now: every connection to a plugin is closed
 *   plugin-sockets-removed          now: every plugin socket is unlinked, connections stay
 *   socket-recreated                now: kubelet_restart(KUBELET_RESTART_KUBELET_SOCKET)
 *   restart                         now: kubelet_restart(KUBELET_RESTART_WHOLE)
 *
 * The connection-* faults and socket-absent exclude each other: the last one counts.
 * ERROR_ARGUMENT names what is wrong; errors of the file system.
 */
int kubelet_fault_set(struct kubelet *kubelet, const char *spec, struct error *err);

/* Whether `spec` could be set, without setting it. ERROR_ARGUMENT names what is wrong. */
int kubelet_fault_check(const char *spec, struct error *err);

/* Ends a lasting fault; NULL: all. kubelet.sock is there and served again. Register calls that hang
 * are left hanging: their callers were promised nothing. */
int kubelet_fault_clear(struct kubelet *kubelet, const char *name, struct error *err);
