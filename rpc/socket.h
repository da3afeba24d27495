/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Socket files as those see them who look after the directories they lie in. On Windows they are
 * reparse points, or rendezvous files where AF_UNIX is missing (rpc/rendezvous.h).
 */

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Which file it is, however often its name is reused. An inode number may be used again at once, so
 * a time belongs to it: that of the last change of the content, which connecting and serving do not
 * move; on Windows that of the creation. */
struct socket_identity {
	uint64_t device;
	uint64_t inode;
	uint64_t born_ns;
};

/* Is there a socket file? Links are followed. */
bool socket_is_at(const char *path);

/* The identity of the file at `path`, of whatever kind; links are followed. False: there is none.
 */
bool socket_identify(const char *path, struct socket_identity *out);
bool socket_is_same(const struct socket_identity *a, const struct socket_identity *b);

/* Does somebody accept connections at this path? False for no file, a file of another kind, and a
 * socket that nobody serves. ERROR_PERMISSION, ERROR_IO when that is unknown. Runs a loop of its
 * own for as long as connecting takes. */
int socket_is_served(const char *path, bool *served, struct error *err);

/* Ignores SIGPIPE in this process unless the program has a handler for it: a peer that goes away
 * must be an error of a write, never the end of the program. */
void socket_ignore_sigpipe(void);
