/* SPDX-License-Identifier: MIT */
#include "bench/figures.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool read_all(int fd, char *buffer, size_t size)
{
	return recv(fd, buffer, size, MSG_WAITALL) == (ssize_t)size;
}

int echo_measure(size_t request_size, size_t reply_size, size_t calls, struct samples *out,
		 struct error *err)
{
	char *buffer CLEANUP_FREE =
		memory_allocate(1, request_size > reply_size ? request_size : reply_size);
	int ends[2] = {-1, -1};
	bool held = true;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_system(err, errno, "socket pair");
	pid_t child = fork();
	if (child == 0) {
		(void)close(ends[0]);
		while (read_all(ends[1], buffer, request_size) &&
		       file_write_all(ends[1], buffer, reply_size))
			;
		_exit(0);
	}

	(void)close(ends[1]);
	for (size_t i = 0; held && child > 0 && i < calls + calls / 10; i++) {
		uint64_t start = clock_monotonic_ns();
		held = file_write_all(ends[0], buffer, request_size) &&
		       read_all(ends[0], buffer, reply_size);
		if (i >= calls / 10)
			samples_add(out, clock_monotonic_ns() - start);
	}
	(void)close(ends[0]);
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	if (child < 0 || !held)
		return error_set(err, ERROR_IO, "the echo process ended early");
	return 0;
}
