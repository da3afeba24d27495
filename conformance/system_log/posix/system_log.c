/* SPDX-License-Identifier: MIT */
#include "conformance/system_log/system_log.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	RECORD_MAX = 8192,    /* the kernel's longest record; it refuses a smaller room */
	RECORDS_MAX = 100000, /* per call: reading an endless log stops there */
};

struct system_log {
	int fd;
};

int system_log_open(const char *path, struct system_log **out, struct error *err)
{
	int fd CLEANUP_FD = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return error_system(err, errno, "%s", path);
	*out = memory_allocate(1, sizeof(**out));
	(*out)->fd = STEAL_FD(fd);
	system_log_skip(*out);
	return 0;
}

void system_log_close(struct system_log **log)
{
	if (*log != NULL)
		cleanup_fd_(&(*log)->fd);
	free(*log);
	*log = NULL;
}

void system_log_skip(struct system_log *log)
{
	(void)lseek(log->fd, 0, SEEK_END);
}

bool system_log_read(struct system_log *log, system_log_line *each, void *user)
{
	char data[RECORD_MAX + 1] = "";
	struct log_line line = {.text = ""};
	bool whole = true;
	for (size_t i = 0; i < RECORDS_MAX; i++) {
		ssize_t size = read(log->fd, data, RECORD_MAX);
		if (size == 0 || (size < 0 && errno == EAGAIN))
			return whole;
		if (size < 0 && errno != EPIPE && errno != EINTR)
			return false;
		whole = whole && (size > 0 || errno != EPIPE); /* EPIPE: overwritten */
		data[size > 0 ? size : 0] = '\0';
		for (const char *at = data; *at != '\0';) {
			at = log_line_of_kernel(at, &line);
			if (line.text[0] != '\0')
				each(&line, user);
		}
	}
	return false;
}
