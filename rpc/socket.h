/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Socket files, for code that manages the directories that contain them. On Windows they are
 * reparse points, or rendezvous files where AF_UNIX is missing (rpc/rendezvous.h).
 */

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Identifies a file, however often its name is reused. An inode number may be reused at once, so a
 * time is added: that of the last change of the content, which connecting and serving do not
 * change; on Windows that of the creation. */
struct socket_identity {
	uint64_t device;
	uint64_t inode;
	uint64_t born_ns;
};

/* Does a socket file exist? Links are followed. */
bool socket_is_at(const char *path);

/* The identity of the file at `path`, of whatever kind; links are followed. False: none exists. */
bool socket_identify(const char *path, struct socket_identity *out);
bool socket_is_same(const struct socket_identity *a, const struct socket_identity *b);

/* Does somebody accept connections at this path? False for no file, a file of another kind, and a
 * socket that nobody serves. ERROR_PERMISSION, ERROR_IO when that is unknown. Runs a loop of its
 * own for as long as connecting takes. */
int socket_is_served(const char *path, bool *served, struct error *err);

/* Ignores SIGPIPE in this process unless the program has a handler for it: a peer that goes away
 * must be an error of a write, never the end of the program. */
void socket_ignore_sigpipe(void);
