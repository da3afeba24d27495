/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Joins two device-plugin directories: the kubelet's, where sockets are AF_UNIX, and the one that a
 * plugin under Wine sees, where rendezvous files stand in for them (rpc/rendezvous.h). What appears
 * on one side appears under the same name on the other, what is removed is removed there, and
 * connections are carried over byte by byte, half-closes included. So a plugin under Wine
 * registers, is dialled back, and notices a kubelet's restart as on any node.
 *
 *   kubelet/kubelet.sock   socket      →  wine/kubelet.sock   rendezvous file of a port of the
 * relay kubelet/wddm.sock      socket of   ←  wine/wddm.sock      rendezvous file of the plugin the
 * relay
 *
 * Neither side is trusted: a file that is no rendezvous file is told once and left alone; who
 * connects to the relay's port and does not present the nonce in time is dropped; the numbers of
 * files and connections are bounded.
 */

#include "base/error.h"

#include <stddef.h>
#include <uv.h>

enum {
	RELAY_POLL_MS = 100, /* between looks; changes are looked at at once where they are told */
	RELAY_NONCE_MS = 5000,
	RELAY_MIRRORS_MAX = 64,
	RELAY_LINKS_MAX = 256,
};

struct relay;

struct relay_options {
	const char *kubelet_directory;
	const char *wine_directory;
	unsigned nonce_ms; /* how long a connection may take to present its nonce; 0: RELAY_NONCE_MS
			    */
	/* Something that was refused or failed, as a sentence. May be NULL. */
	void (*on_note)(const char *note, void *user);
	void *user;
};

/* Both directories must exist. Strings are copied. ERROR_NOT_FOUND, ERROR_MEMORY. */
int relay_open(uv_loop_t *loop, const struct relay_options *options, struct relay **out,
	       struct error *err);

/* Looks at both directories now, as it does by itself when they change. */
void relay_look(struct relay *relay);

size_t relay_mirror_count(const struct relay *relay);
size_t relay_link_count(const struct relay *relay); /* connections, greeted or not */

/* Removes what it made in both directories and closes all connections; the memory is freed when
 * libuv has closed the handles. NULL is allowed. */
void relay_close(struct relay *relay);
