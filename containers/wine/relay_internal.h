/* SPDX-License-Identifier: MIT */
#pragma once

/* Internal to relay*.c. */

#include "containers/wine/relay.h"
#include "rpc/loop.h"
#include "rpc/rendezvous.h"

#include <stdbool.h>
#include <sys/stat.h>

enum { RELAY_CHUNK = 64 * 1024 };

/* Which file it is: names and inode numbers are used again. A change of its mode is none of it. */
struct relay_identity {
	ino_t inode;
	struct timespec written;
};

/* A file of one side and what the relay made of it on the other. */
struct relay_mirror {
	struct relay *relay; /* NULL once it is dropped and only its handle is left */
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
	bool too_many; /* was told */
};

void relay_note(struct relay *relay, const char *format, ...) PRINTF_LIKE(2, 3);

/* The path of a name on a side. NULL: out of memory. */
char *relay_path(const struct relay *relay, enum relay_side side, const char *name);

/* A connection waits at the mirror's listener. */
void relay_link_accept(struct relay_mirror *mirror);
void relay_link_close(struct relay_link *link);
