/* SPDX-License-Identifier: MIT */
#pragma once

#include "rpc/socket.h"

/* What lies at a path, links not followed. */
enum socket_file_kind {
	SOCKET_FILE_NONE,  /* nothing */
	SOCKET_FILE_OTHER, /* something else */
	SOCKET_FILE_SOCKET,
};

enum socket_file_kind socket_file_look(const char *path, struct socket_identity *identity);

/* Removes what is there. False: it is still there. */
bool socket_file_remove(const char *path);
