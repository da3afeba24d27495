/* SPDX-License-Identifier: MIT */
#include "bench/echo.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static bool echo_read(int fd, char *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = read(fd, buffer + done, size - done);
		if (count <= 0)
			return false;
		done += (size_t)count;
	}
	return true;
}

static bool echo_write(int fd, const char *buffer, size_t size)
{
	for (size_t done = 0; done < size;) {
		ssize_t count = write(fd, buffer + done, size - done);
		if (count <= 0)
			return false;
		done += (size_t)count;
	}
	return true;
}

static void echo_serve(int fd, char *buffer, size_t request_size, size_t reply_size)
{
	while (echo_read(fd, buffer, request_size) && echo_write(fd, buffer, reply_size))
		;
	_exit(0);
}

int echo_measure(size_t request_size, size_t reply_size, size_t calls, struct samples *out,
		 struct error *err)
{
	size_t larger = request_size > reply_size ? request_size : reply_size;
	char *buffer CLEANUP_FREE = calloc(1, larger);
	int ends[2] = {-1, -1};
	bool held = true;
	pid_t child = -1;
	if (buffer == NULL)
		return error_memory(err);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return error_system(err, errno, "socket pair");
	child = fork();
	if (child == 0) {
		(void)close(ends[0]);
		echo_serve(ends[1], buffer, request_size, reply_size);
	}
	(void)close(ends[1]);
	for (size_t i = 0; held && child > 0 && i < calls + calls / 10; i++) {
		uint64_t start = clock_monotonic_ns();
		held = echo_write(ends[0], buffer, request_size) &&
		       echo_read(ends[0], buffer, reply_size);
		if (i >= calls / 10)
			samples_add(out, clock_monotonic_ns() - start);
	}
	(void)close(ends[0]);
	if (child > 0)
		(void)waitpid(child, NULL, 0);
	return child > 0 && held ? 0 : error_set(err, ERROR_IO, "the echo process ended early");
}
