/* SPDX-License-Identifier: MIT */
#pragma once

/* Socket files: which one is at a path, and the plugin's own names and stale files. */

#include "rpc/socket.h"

/* The file at a path, directories too; inode 0: none. */
struct socket_identity socket_file_at(const char *path);

/* A name unique among instances, past and future: "LABEL-<unix ms>-<pid>.sock". Caller frees; NULL:
 * out of memory. */
char *socket_file_name(const char *label);

/* Does a newer instance than that of `own_name` serve under the same label? */
bool socket_file_newer_serves(const char *directory, const char *label, const char *own_name);

/* Does a socket of an older instance exist? */
bool socket_file_older_exists(const char *directory, const char *label, const char *own_name);

/* Removes sockets of that label that a killed instance left: nobody listens on them. Sockets that
 * cannot be checked or removed stay. */
void socket_file_remove_stale(const char *directory, const char *label);

/* Is the file, named by socket_file_name(), left over from an instance that ended? False in
 * doubt. */
bool socket_file_nobody_listens(const char *path);
