/* SPDX-License-Identifier: MIT */
#include "workloads/common/program.h"

#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* In a container /dev/null may be missing: the descriptor then stays closed. */
static void open_when_closed(int fd, int flags)
{
	if (fcntl(fd, F_GETFD) >= 0)
		return;
	int null CLEANUP_FD = open("/dev/null", flags | O_CLOEXEC);
	if (null == fd) {
		(void)fcntl(null, F_SETFD, 0);
		(void)STEAL_FD(null);
	} else if (null >= 0) {
		(void)dup2(null, fd);
	}
}

int output_claim(int *fd, struct error *err)
{
	(void)signal(SIGPIPE, SIG_IGN);
	if (fcntl(STDOUT_FILENO, F_GETFD) < 0)
		return error_system(err, errno, "standard output");
	open_when_closed(STDIN_FILENO, O_RDONLY);
	open_when_closed(STDERR_FILENO, O_WRONLY);
	int claimed CLEANUP_FD = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (claimed < 0 || (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 && errno != EBADF))
		return error_system(err, errno, "standard output");
	*fd = STEAL_FD(claimed);
	return 0;
}
