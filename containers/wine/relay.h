/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Joins two device-plugin directories: the kubelet's, where sockets are AF_UNIX, and the one that a
 * plugin under Wine sees, where rendezvous files take their place (rpc/rendezvous.h). A file that appears
 * on one side appears under the same name on the other, and is removed with it; connections
 * are relayed byte by byte, half-closes included. So a plugin under Wine
 * registers, is dialled back, and notices a kubelet's restart as on any node.
 *
 *   kubelet/kubelet.sock   socket                →  wine/kubelet.sock   rendezvous file of a port of the relay
 *   kubelet/wddm.sock      socket of the relay   ←  wine/wddm.sock      rendezvous file of the plugin
 *
 * Neither side is trusted: a file that is not a rendezvous file is reported once and ignored; a client that
 * connects to the relay's port and does not present the nonce in time is dropped; the numbers of
 * files and connections are bounded.
 */

#include "rpc/loop.h"
#include "rpc/rendezvous.h"

#include <sys/stat.h>

enum {
	RELAY_POLL_MS = 50, /* between scans */
	RELAY_NONCE_MS = 5000,
	RELAY_MIRRORS_MAX = 64,
	RELAY_LINKS_MAX = 256,
	RELAY_CHUNK = 64 * 1024,
};

struct relay;

enum relay_side { RELAY_KUBELET, RELAY_WINE };

struct relay_options {
	const char *directories[2]; /* by enum relay_side; both must exist, and outlive the relay */
	unsigned nonce_ms; /* how long a connection may take to present its nonce; 0: RELAY_NONCE_MS
			    */
	/* Reports a refusal or failure, as a sentence. May be NULL. */
	void (*on_note)(const char *note, void *user);
	void *user;
};

/* ERROR_NOT_FOUND: no such directory. */
int relay_open(uv_loop_t *loop, const struct relay_options *options, struct relay **out,
	       struct error *err);

/* Scans both directories now; the relay does it every RELAY_POLL_MS. */
void relay_scan(struct relay *relay);

/* Removes its files in both directories and closes all connections; the memory is freed when
 * libuv has closed the handles. NULL is allowed. */
void relay_close(struct relay *relay);

/* From here on: internal to relay.c, relay_link.c and their tests. */

/* Identifies a file: names and inode numbers are reused. A change of its mode keeps it. */
struct relay_identity {
	ino_t inode;
	struct timespec written;
};

/* A file on one side and the relay's copy on the other. */
struct relay_mirror {
	struct relay *relay; /* NULL once dropped, while only its handle remains */
	char *name;
	enum relay_side side; /* of the original */
	struct relay_identity original, copy;
	struct rendezvous rendezvous; /* the original's, or the relay's own */
	bool refused;		      /* not a rendezvous file: there is no copy */
	union {
		uv_handle_t handle;
		uv_stream_t stream;
		uv_pipe_t pipe; /* listens at kubelet/NAME */
		uv_tcp_t tcp;	/* listens at rendezvous.port */
	} listener;
};

struct relay_link;

struct relay {
	uv_loop_t *loop;
	struct relay_options options;
	struct relay_mirror *mirrors[RELAY_MIRRORS_MAX];
	size_t mirror_count;
	struct relay_link *links[RELAY_LINKS_MAX];
	size_t link_count;
	struct timer *poll;
	bool too_many; /* was reported */
};

void relay_note(struct relay *relay, const char *format, ...) PRINTF_LIKE(2, 3);

/* The path of a name on a side. Caller frees. */
char *relay_path(const struct relay *relay, enum relay_side side, const char *name);

/* A connection waits at the mirror's listener. */
void relay_link_accept(struct relay_mirror *mirror);
void relay_link_close(struct relay_link *link);
