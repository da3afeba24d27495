/* SPDX-License-Identifier: MIT */
#include "rpc/socket.h"

#include "base/cleanup.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

int socket_bind(const char *path, unsigned mode, int *fd, struct socket_identity *identity,
		struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat status = {0};
	int made CLEANUP_FD = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (made < 0)
		return error_system(err, errno, "cannot make a socket");
	memcpy(address.sun_path, path, strnlen(path, sizeof(address.sun_path) - 1));
	if (bind(made, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno == EADDRINUSE)
			return error_set(err, ERROR_EXISTS, "cannot listen on %s: it exists", path);
		return error_system(err, errno, "cannot listen on %s", path);
	}
	if (chmod(path, (mode_t)mode) < 0 || lstat(path, &status) < 0) {
		int reason = errno;

		(void)unlink(path);
		return error_system(err, reason, "cannot prepare %s", path);
	}
	*identity = (struct socket_identity){(uint64_t)status.st_dev, (uint64_t)status.st_ino};
	*fd = STEAL_FD(made);
	return 0;
}

void socket_remove(const char *path, const struct socket_identity *identity)
{
	struct stat status = {0};

	if (lstat(path, &status) == 0 && S_ISSOCK(status.st_mode) &&
	    (uint64_t)status.st_dev == identity->device &&
	    (uint64_t)status.st_ino == identity->inode)
		(void)unlink(path);
}

void socket_ignore_sigpipe(void)
{
	struct sigaction action = {0};

	if (sigaction(SIGPIPE, NULL, &action) < 0 || action.sa_handler != SIG_DFL)
		return;
	action.sa_handler = SIG_IGN;
	(void)sigaction(SIGPIPE, &action, NULL);
}
