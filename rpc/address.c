/* SPDX-License-Identifier: MIT */
#include "rpc/rpc.h"

#include <string.h>
#include <sys/un.h>

/* The kernel takes sizeof(sun_path) bytes; libuv and most peers want the NUL to fit as well. */
enum { PATH_MAX_BYTES = sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1 };

int rpc_address_path(const char *address, const char **path, struct error *err)
{
	const char *rest = NULL;

	if (strncmp(address, "unix:", 5) != 0)
		return error_set(err, ERROR_ARGUMENT,
				 "address \"%s\": expected unix:PATH or unix:///PATH", address);
	rest = address + 5;
	if (strncmp(rest, "//", 2) == 0) {
		rest += 2;
		if (*rest != '/')
			return error_set(err, ERROR_ARGUMENT,
					 "address \"%s\": a path behind unix:// must be absolute",
					 address);
	}
	if (*rest == '\0')
		return error_set(err, ERROR_ARGUMENT, "address \"%s\": the path is empty", address);
	if (strlen(rest) > PATH_MAX_BYTES)
		return error_set(err, ERROR_LIMIT,
				 "socket path \"%s\" has %zu bytes; at most %d are possible", rest,
				 strlen(rest), (int)PATH_MAX_BYTES);
	*path = rest;
	return 0;
}
