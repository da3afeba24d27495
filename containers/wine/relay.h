/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Joins two device-plugin directories: the kubelet's, where sockets are AF_UNIX, and the one that a
 * plugin under Wine sees, where rendezvous files stand in for them (rpc/rendezvous.h). What appears
 * on one side appears under the same name on the other, what is removed is removed there, and
 * connections are carried over byte by byte, half-closes included. So a plugin under Wine
 * registers, is dialled back, and notices a kubelet's restart as on any node.
 *
 *   kubelet/kubelet.sock   socket                →  wine/kubelet.sock   rendezvous file of a port of the relay
 *   kubelet/wddm.sock      socket of the relay   ←  wine/wddm.sock      rendezvous file of the plugin
 *
 * Neither side is trusted: a file that is not a rendezvous file is told once and left alone; who
 * connects to the relay's port and does not present the nonce in time is dropped; the numbers of
 * files and connections are bounded.
 */

#include "base/error.h"

#include <uv.h>

enum {
	RELAY_POLL_MS = 50, /* between looks */
	RELAY_NONCE_MS = 5000,
	RELAY_MIRRORS_MAX = 64,
	RELAY_LINKS_MAX = 256,
};

struct relay;

enum relay_side { RELAY_KUBELET, RELAY_WINE };

struct relay_options {
	const char *directories[2]; /* by enum relay_side; both must exist, and outlive the relay */
	unsigned nonce_ms; /* how long a connection may take to present its nonce; 0: RELAY_NONCE_MS
			    */
	/* Something that was refused or failed, as a sentence. May be NULL. */
	void (*on_note)(const char *note, void *user);
	void *user;
};

/* ERROR_NOT_FOUND, ERROR_MEMORY. */
int relay_open(uv_loop_t *loop, const struct relay_options *options, struct relay **out,
	       struct error *err);

/* Looks at both directories now, as it does by itself again and again. */
void relay_look(struct relay *relay);

/* Removes what it made in both directories and closes all connections; the memory is freed when
 * libuv has closed the handles. NULL is allowed. */
void relay_close(struct relay *relay);
