/* SPDX-License-Identifier: MIT */
/* Holding a program at a FIFO of its container. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "containers/launch/containerd.h"
#include "rpc/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { POLL_FIRST_MS = 1, POLL_MAX_MS = 16 };

static struct containerd_launch *held_launch(struct launch *launch)
{
	return (struct containerd_launch *)launch;
}

static struct cri *held_cri(const struct launch *launch)
{
	return ((const struct containerd_launcher *)launch->launcher)->cri;
}

int containerd_make_hold(struct containerd_launch *launch, struct error *err)
{
	launch->hold_fifo = path_join(launch->log_directory, "launch");
	if (launch->hold_fifo == NULL)
		return error_memory(err);
	/* Whoever the program runs as may read it. */
	if (mkfifo(launch->hold_fifo, 0600) < 0 || chmod(launch->hold_fifo, 0644) < 0)
		return error_system(err, errno, "%s", launch->hold_fifo);
	return 0;
}

void containerd_close_hold(struct containerd_launch *launch)
{
	if (launch->hold_fd >= 0)
		(void)close(launch->hold_fd);
	launch->hold_fd = -1;
}

/* A FIFO without a reader refuses a writer that does not want to wait: once it does not, the
 * program is there. Nothing tells when that is, so it is asked again and again. */
static int hold_wait_reader(struct containerd_launch *launch, struct error *err)
{
	uint64_t pause_ms = POLL_FIRST_MS;
	bool ended = false;
	int rc = 0;

	while (rc == 0 && !ended && launch->hold_fd < 0) {
		launch->hold_fd = open(launch->hold_fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
		if (launch->hold_fd >= 0)
			break;
		if (errno != ENXIO)
			return error_system(err, errno, "%s", launch->hold_fifo);
		rc = containerd_look(launch, &ended, err);
		if (clock_monotonic_ms() >= launch->deadline_ms)
			break;
		if (rc == 0 && !ended)
			loop_run_for(cri_loop(held_cri(&launch->base)), pause_ms);
		pause_ms = pause_ms * 2 < POLL_MAX_MS ? pause_ms * 2 : POLL_MAX_MS;
	}
	return rc;
}

int containerd_wait_held(struct launch *launch, int64_t *pid, struct error *err)
{
	struct containerd_launch *self = held_launch(launch);
	int rc = self->hold_fifo != NULL
			 ? hold_wait_reader(self, err)
			 : error_set(err, ERROR_ARGUMENT, "a launch that is not held");

	if (rc == 0 && self->hold_fd >= 0)
		rc = cri_container_pid_wait(held_cri(launch), launch->result.container_id, pid,
					    err);
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

int containerd_release(struct launch *launch, const char *line, struct error *err)
{
	struct containerd_launch *self = held_launch(launch);
	char *text CLEANUP_FREE = text_format("%s\n", line);
	size_t size = text != NULL ? strlen(text) : 0;
	int failure = 0;

	if (text == NULL)
		return error_memory(err);
	if (self->hold_fd < 0)
		return 0;
	/* It fits into the pipe, so it is written whole or not at all. */
	if (write(self->hold_fd, text, size) != (ssize_t)size)
		failure = errno;
	containerd_close_hold(self);
	return failure == 0 || failure == EPIPE ? 0
						: error_system(err, failure, "%s", self->hold_fifo);
}
