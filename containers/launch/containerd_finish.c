/* SPDX-License-Identifier: MIT */
/* From a running container to its result, and its removal. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/nt_status.h"
#include "base/path.h"
#include "containers/cri/container_log.h"
#include "containers/launch/containerd.h"
#include "rpc/loop.h"

#include <string.h>

enum {
	PAUSE_MAX_MS = 16,
	PAUSE_PER_POLL = 4, /* on an emulated processor polling slows the program down */
	LOG_FILE_MAX = 64 * 1024 * 1024, /* a program that writes more is stopped */
	SIGNAL_BASE = 128,
	SIGNAL_MAX = 64,
};

struct cri *containerd_cri(const struct launch *launch)
{
	return ((const struct containerd_launcher *)launch->launcher)->cri;
}

void containerd_pause(const struct launch *launch, uint64_t *pause_ms)
{
	const uint64_t poll_ms = ((const struct containerd_launch *)launch)->poll_ms;
	const uint64_t max =
		PAUSE_PER_POLL * poll_ms > PAUSE_MAX_MS ? PAUSE_PER_POLL * poll_ms : PAUSE_MAX_MS;
	*pause_ms = *pause_ms * 2 + 1 < max ? *pause_ms * 2 + 1 : max;
	loop_run_for(cri_loop(containerd_cri(launch)), *pause_ms);
}

void containerd_poll(struct containerd_launch *launch, bool *ended)
{
	struct launch_result *result = &launch->base.result;
	Runtime__V1__ContainerStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	struct error failure = {0};
	const uint64_t begin_ms = clock_monotonic_ms();
	int rc = cri_container_status_wait(containerd_cri(&launch->base), result->container_id,
					   false, &reply, &failure);
	launch->poll_ms = clock_monotonic_ms() - begin_ms;
	*ended = rc < 0 || reply->status->state == RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED;
	if (rc < 0)
		launch_ended(&launch->base, LAUNCH_LOST, failure.text);
	if (rc < 0 || !*ended)
		return;

	/* containerd records the start when an event reports it: after the end of a short program. */
	const Runtime__V1__ContainerStatus *status = reply->status;
	result->finished_ns = status->finished_at;
	result->started_ns =
		status->started_at < status->finished_at ? status->started_at : status->finished_at;
	/* The runtime's numbers may be anything; unsigned, their difference always exists. */
	result->run_ms = ((uint64_t)result->finished_ns - (uint64_t)result->started_ns) / 1000000;
	if (result->end != LAUNCH_RUNNING)
		return;

	/* Kills are reported by the exit code. */
	enum launch_end end = LAUNCH_OUT_OF_MEMORY;
	if (strcmp(status->reason, "OOMKilled") != 0) {
		const int code = status->exit_code;
		const bool windows = launch->base.launcher->system == LAUNCH_WINDOWS;
		const bool signalled =
			!windows && code > SIGNAL_BASE && code <= SIGNAL_BASE + SIGNAL_MAX;
		const bool killed = windows ? nt_status_is_exception(code) : signalled;
		result->code = signalled ? code - SIGNAL_BASE : code;
		end = killed ? LAUNCH_KILLED : LAUNCH_EXITED;
	}
	launch_ended(&launch->base, end, status->message);
}

static void wait_end(struct containerd_launch *launch, bool stop)
{
	char *log CLEANUP_FREE = path_join(launch->log_directory, POD_LOG_FILE);
	enum launch_end end = LAUNCH_RUNNING;
	const char *reason = "";
	uint64_t pause_ms = 0;
	while (true) {
		struct file_status status = {0};
		bool ended = false;
		containerd_poll(launch, &ended);
		if (ended)
			return;
		if (stop) {
			end = LAUNCH_STOPPED;
		} else if (clock_monotonic_ms() >= launch->deadline_ms) {
			end = LAUNCH_TIMED_OUT;
		} else if (file_status(log, true, &status, NULL) == 0 &&
			   status.size > LOG_FILE_MAX) {
			end = LAUNCH_STOPPED;
			reason = "more than 64 MiB of output";
		}
		if (end != LAUNCH_RUNNING)
			break;
		containerd_pause(&launch->base, &pause_ms);
	}

	struct error failure = {0};
	bool ended = false;
	launch_ended(&launch->base, end, reason);
	if (cri_undo_wait(containerd_cri(&launch->base), "StopContainer",
			  launch->base.result.container_id, &failure) < 0)
		text_list_addf(&launch->base.result.notes, "container could not be stopped: %s",
			       failure.text);
	else
		containerd_poll(launch, &ended);
}

static void read_output(struct containerd_launch *launch)
{
	struct launch_result *result = &launch->base.result;
	char *path CLEANUP_FREE = path_join(launch->log_directory, POD_LOG_FILE);
	struct container_log log CLEANUP_CONTAINER_LOG = {0};
	struct error failure = {0};
	if (container_log_read(&log, path, LAUNCH_OUTPUT_MAX, &failure) < 0) {
		text_list_addf(&result->notes, "output cannot be read: %s", failure.text);
		return;
	}
	result->out = log.out.content;
	result->err = log.err.content;
	log.out.content = (struct text){0};
	log.err.content = (struct text){0};
	if (log.malformed != 0)
		text_list_addf(&result->notes,
			       "%llu records of the container's log are malformed, first "
			       "line %llu: %s",
			       (unsigned long long)log.malformed,
			       (unsigned long long)log.malformed_line, log.malformed_why);

	/* runc's init reports a failed execve() on the container's stderr and fails: the container started,
	 * the program did not. */
	const char *text = text_string(&result->err);
	size_t length = strcspn(text, "\n");
	if (result->end == LAUNCH_EXITED && result->code != 0 && result->out.size == 0 &&
	    length + 1 == result->err.size && text_starts_with(text, "exec ")) {
		result->end = LAUNCH_RUNNING;
		launch_ended(&launch->base, LAUNCH_NOT_STARTED,
			     arena_format(&launch->base.arena, "%.*s", (int)length, text));
	}
}

int containerd_finish(struct launch *launch, bool stop, struct error *err)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	struct error failure = {0};
	(void)err;
	launch->finished = true;
	/* A program that is to be stopped stays held until it is. */
	if (!stop)
		containerd_close_hold(self);
	if (launch->result.end == LAUNCH_RUNNING)
		wait_end(self, stop);
	containerd_close_hold(self);
	if (self->started)
		read_output(self);

	/* The next launch need not wait for it. */
	if (self->sandbox_id != NULL)
		cri_begin_removal(containerd_cri(launch), self->sandbox_id);
	if (self->log_directory != NULL && file_remove_tree(self->log_directory, &failure) < 0)
		text_list_addf(&launch->result.notes, "log could not be removed: %s", failure.text);
	return 0;
}
