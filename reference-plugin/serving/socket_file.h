/* SPDX-License-Identifier: MIT */
#pragma once

/* Socket files: which one lies at a path, and the names and remains of the plugin's own. */

#include "rpc/socket.h"

/* What lies at a path, directories too; the inode is 0 where nothing does. */
struct socket_identity socket_file_at(const char *path);

/* A name that no other instance and no later one of this has: "LABEL-<unix ms>-<pid>.sock". Caller
 * frees; NULL: out of memory. */
char *socket_file_name(const char *label);

/* Does an instance with the same label that was started after the one of `own_name` serve? */
bool socket_file_newer_serves(const char *directory, const char *label, const char *own_name);

/* Is there a socket of one that was started before? */
bool socket_file_older_exists(const char *directory, const char *label, const char *own_name);

/* Removes sockets of that label that a killed instance left: nobody listens on them. What cannot be
 * read or removed stays. */
void socket_file_remove_stale(const char *directory, const char *label);

/* Is the file, which has a name of socket_file_name(), left over from an instance that ended? False
 * in doubt. */
bool socket_file_nobody_listens(const char *path);
