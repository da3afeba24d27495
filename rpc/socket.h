/* SPDX-License-Identifier: MIT */
#ifndef RPC_SOCKET_H
#define RPC_SOCKET_H

/* Listening AF_UNIX sockets whose file is removed only by who made it. libuv's own would remove
 * whatever is at the path when they are closed. */

#include "base/error.h"

#include <stdint.h>

/* Which file it is, however often the name is reused. */
struct socket_identity {
	uint64_t device;
	uint64_t inode;
};

/* A bound socket, not yet listening, so that nobody gets in before its mode is set. Caller closes
 * *fd. ERROR_EXISTS: something is at the path. ERROR_NOT_FOUND: its directory is not there.
 * ERROR_PERMISSION, ERROR_IO. */
int socket_bind(const char *path, unsigned mode, int *fd, struct socket_identity *identity,
		struct error *err);

/* Removes the file unless another one has taken its place. */
void socket_remove(const char *path, const struct socket_identity *identity);

/* Ignores SIGPIPE in this process unless the program has a handler for it: a peer that goes away
 * must be an error of a write, never the end of the program. */
void socket_ignore_sigpipe(void);

#endif
