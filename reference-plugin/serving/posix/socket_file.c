/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/socket_file.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

bool socket_file_nobody_listens(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status;
	int fd CLEANUP_FD = -1;
	if (lstat(path, &status) != 0 || !S_ISSOCK(status.st_mode) ||
	    strlen(path) >= sizeof(address.sun_path))
		return false;
	memcpy(address.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	return fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 &&
	       errno == ECONNREFUSED;
}
