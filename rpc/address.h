/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The forms of addresses:
 *
 *   unix:PATH, unix:///PATH                   a socket file of at most 107 bytes: AF_UNIX on Linux
 *                                             and on Windows, where PATH may begin with a drive
 *   npipe:////./pipe/NAME, \\.\pipe\NAME      a named pipe, on Windows only
 *
 * On a Windows without AF_UNIX a socket file is a rendezvous file instead (rpc/rendezvous.h).
 */

#include "base/error.h"

enum address_kind {
	ADDRESS_FILE, /* a socket file */
	ADDRESS_PIPE, /* a named pipe of Windows */
};

enum address_rules { ADDRESS_POSIX, ADDRESS_WINDOWS };

#ifdef _WIN32
#define ADDRESS_RULES_HERE ADDRESS_WINDOWS
#else
#define ADDRESS_RULES_HERE ADDRESS_POSIX
#endif

enum {
	/* sockaddr_un.sun_path has 108 bytes on Linux and on Windows; most peers require the NUL. */
	ADDRESS_PATH_MAX = 107,
	ADDRESS_PIPE_MAX = 256, /* CreateNamedPipe: the whole name, "\\.\pipe\" included */
};

struct address {
	enum address_kind kind;
	char name[ADDRESS_PIPE_MAX + 1]; /* a path, or \\.\pipe\NAME */
};

/* ERROR_ARGUMENT for every other form, ERROR_LIMIT for a path or name that is too long,
 * ERROR_UNSUPPORTED for a named pipe on other systems. */
int address_parse(const char *text, enum address_rules rules, struct address *out,
		  struct error *err);

/* The address of a socket file. ERROR_ARGUMENT for an empty path, ERROR_LIMIT for a long one. */
int address_of_path(const char *path, struct address *out, struct error *err);
