/* SPDX-License-Identifier: MIT */
/* Holding a program at a FIFO of its container. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/launch/containerd.h"

#include <errno.h>
#include <string.h>
#include <uv.h>

const char *const containerd_gate_paths[LAUNCH_GATES] = {LAUNCH_HOLD_PATH, LAUNCH_PAUSE_PATH};

int containerd_make_hold(struct containerd_launch *launch, struct error *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < LAUNCH_GATES; i++) {
		launch->gates[i] = arena_format(&launch->base.arena, "%s/%s", launch->log_directory,
						path_base(containerd_gate_paths[i]));
		rc = host_make_fifo(launch->gates[i], err);
	}
	return rc;
}

void containerd_close_hold(struct containerd_launch *launch)
{
	uv_fs_t request;
	if (launch->hold_fd >= 0)
		(void)uv_fs_close(NULL, &request, launch->hold_fd, NULL);
	launch->hold_fd = -1;
}

/* A FIFO without a reader refuses a writer that does not want to wait: once it does not, the
 * program is there. Nothing tells when that is, so it is asked again and again. */
static int wait_reader(struct containerd_launch *launch, struct error *err)
{
	const char *fifo = launch->gate < LAUNCH_GATES ? launch->gates[launch->gate] : NULL;
	uint64_t pause_ms = 0;
	bool ended = fifo == NULL;
	int rc = 0;
	while (rc == 0 && !ended && clock_monotonic_ms() < launch->deadline_ms) {
		uv_fs_t request;
		int fd = uv_fs_open(NULL, &request, fifo, UV_FS_O_WRONLY | UV_FS_O_NONBLOCK, 0,
				    NULL);
		uv_fs_req_cleanup(&request);
		launch->hold_fd = fd >= 0 ? fd : -1;
		if (fd >= 0)
			break;
		if (fd != UV_ENXIO)
			return error_uv(err, fd, "%s", fifo);
		rc = containerd_look(launch, &ended, err);
		if (rc == 0 && !ended)
			containerd_pause(&launch->base, &pause_ms);
	}
	return rc;
}

int containerd_wait_held(struct launch *launch, int64_t *pid, struct error *err)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	int rc = wait_reader(self, err);
	if (rc == 0 && self->hold_fd >= 0)
		rc = cri_container_pid_wait(containerd_cri(launch), launch->result.container_id,
					    pid, err);
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

int containerd_release(struct launch *launch, const char *line, struct error *err)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	char *text CLEANUP_FREE = text_format("%s\n", line);
	if (text == NULL)
		return error_memory(err);
	if (self->hold_fd < 0)
		return 0;
	/* It fits into the pipe, so it is written whole or not at all. */
	int reason = file_write_all(self->hold_fd, text, strlen(text)) ? 0 : errno;
	const char *fifo = self->gates[self->gate++];
	containerd_close_hold(self);
	return reason == 0 || reason == EPIPE ? 0 : error_system(err, reason, "%s", fifo);
}
