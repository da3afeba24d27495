/* SPDX-License-Identifier: MIT */
/* From a running container to its result. */
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
	*pause_ms = *pause_ms * 2 + 1 < PAUSE_MAX_MS ? *pause_ms * 2 + 1 : PAUSE_MAX_MS;
	loop_run_for(cri_loop(containerd_cri(launch)), *pause_ms);
}

static bool log_is_full(const struct containerd_launch *launch)
{
	char *path CLEANUP_FREE = path_join(launch->log_directory, POD_LOG_FILE);
	uv_fs_t request = {0};
	bool full = path != NULL && uv_fs_stat(NULL, &request, path, NULL) == 0 &&
		    request.statbuf.st_size > LOG_FILE_MAX;
	uv_fs_req_cleanup(&request);
	return full;
}

/* Kills are told through the exit code. */
static bool was_killed(const struct containerd_launch *launch, int *code)
{
	if (launch->base.launcher->system == LAUNCH_WINDOWS)
		return nt_status_is_exception(*code);
	if (*code <= SIGNAL_BASE || *code > SIGNAL_BASE + SIGNAL_MAX)
		return false;
	*code -= SIGNAL_BASE;
	return true;
}

static void take_end(struct containerd_launch *launch, const Runtime__V1__ContainerStatus *status)
{
	struct launch_result *result = &launch->base.result;
	enum launch_end end = LAUNCH_OUT_OF_MEMORY;
	/* containerd notes the start once it has been told of it: after the end of a short program.
	 */
	result->finished_ns = status->finished_at;
	result->started_ns =
		status->started_at < status->finished_at ? status->started_at : status->finished_at;
	/* The runtime's numbers may lie anywhere; unsigned, their difference always exists. */
	result->run_ms = ((uint64_t)result->finished_ns - (uint64_t)result->started_ns) / 1000000;
	if (result->end != LAUNCH_RUNNING)
		return;
	if (strcmp(status->reason, "OOMKilled") != 0) {
		result->code = status->exit_code;
		end = was_killed(launch, &result->code) ? LAUNCH_KILLED : LAUNCH_EXITED;
	}
	launch_ended(&launch->base, end, status->message);
}

int containerd_look(struct containerd_launch *launch, bool *ended, struct error *err)
{
	Runtime__V1__ContainerStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	struct error failure = {0};
	int rc = cri_container_status_wait(containerd_cri(&launch->base),
					   launch->base.result.container_id, false, &reply,
					   &failure);
	if (rc == ERROR_MEMORY)
		return error_memory(err);
	*ended = rc < 0 || reply->status->state == RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED;
	if (rc < 0)
		launch_ended(&launch->base, LAUNCH_LOST, failure.text);
	else if (*ended)
		take_end(launch, reply->status);
	return 0;
}

static int kill_program(struct containerd_launch *launch, enum launch_end end, const char *reason,
			struct error *err)
{
	struct error failure = {0};
	bool ended = false;
	launch_ended(&launch->base, end, reason);
	if (cri_undo_wait(containerd_cri(&launch->base), "StopContainer",
			  launch->base.result.container_id, &failure) < 0)
		return text_list_addf(&launch->base.result.notes, err,
				      "container could not be stopped: %s", failure.text);
	return containerd_look(launch, &ended, err);
}

static int wait_end(struct containerd_launch *launch, bool stop, struct error *err)
{
	uint64_t pause_ms = 0;
	for (;;) {
		bool ended = false;
		int rc = containerd_look(launch, &ended, err);
		if (rc < 0 || ended)
			return rc;
		if (stop)
			return kill_program(launch, LAUNCH_STOPPED, "", err);
		if (clock_monotonic_ms() >= launch->deadline_ms)
			return kill_program(launch, LAUNCH_TIMED_OUT, "", err);
		if (log_is_full(launch))
			return kill_program(launch, LAUNCH_STOPPED, "more than 64 MiB of output",
					    err);
		containerd_pause(&launch->base, &pause_ms);
	}
}

static int read_log(struct containerd_launch *launch, struct error *err)
{
	char *path CLEANUP_FREE = path_join(launch->log_directory, POD_LOG_FILE);
	struct container_log log CLEANUP_CONTAINER_LOG = {0};
	struct error failure = {0};
	if (path == NULL)
		return error_memory(err);
	if (container_log_read(&log, path, LAUNCH_OUTPUT_MAX, &failure) < 0)
		return text_list_addf(&launch->base.result.notes, err, "output cannot be read: %s",
				      failure.text);
	launch->base.result.out = log.out.content;
	launch->base.result.err = log.err.content;
	log.out.content = (struct text){0};
	log.err.content = (struct text){0};
	return log.malformed == 0
		       ? 0
		       : text_list_addf(&launch->base.result.notes, err,
					"%llu records of the container's log are malformed, first "
					"line %llu: %s",
					(unsigned long long)log.malformed,
					(unsigned long long)log.malformed_line, log.malformed_why);
}

/* runc's init reports a failed execve() on the container's stderr and fails: the container started,
 * the program did not. */
static void detect_exec_failure(struct containerd_launch *launch)
{
	struct launch_result *result = &launch->base.result;
	const char *text = text_string(&result->err);
	size_t length = strcspn(text, "\n");
	if (result->end != LAUNCH_EXITED || result->code == 0 || result->out.size > 0 ||
	    length + 1 != result->err.size || !text_starts_with(text, "exec "))
		return;
	result->end = LAUNCH_RUNNING;
	launch_ended(&launch->base, LAUNCH_NOT_STARTED,
		     arena_format(&launch->base.arena, "%.*s", (int)length, text));
}

/* What cannot be removed is told, and the rest is removed all the same. */
static void note_failure(struct containerd_launch *launch, int rc, const char *what,
			 const struct error *failure)
{
	if (rc < 0)
		(void)text_list_addf(&launch->base.result.notes, NULL,
				     "%s could not be removed: %s", what, failure->text);
}

static void clean(struct containerd_launch *launch)
{
	struct cri *cri = containerd_cri(&launch->base);
	struct error failure = {0};
	int rc = 0;
	if (launch->has_container) {
		rc = cri_undo_wait(cri, "RemoveContainer", launch->base.result.container_id,
				   &failure);
		note_failure(launch, rc, "container", &failure);
	}
	if (launch->sandbox_id != NULL) {
		rc = cri_undo_wait(cri, "StopPodSandbox", launch->sandbox_id, &failure);
		if (rc == 0)
			rc = cri_undo_wait(cri, "RemovePodSandbox", launch->sandbox_id, &failure);
		note_failure(launch, rc, "pod sandbox", &failure);
	}
	if (launch->log_directory != NULL) {
		rc = file_remove_tree(launch->log_directory, &failure);
		note_failure(launch, rc, "log", &failure);
	}
}

int containerd_finish(struct launch *launch, bool stop, struct error *err)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	int rc = 0;
	launch->finished = true;
	/* What is to be stopped does not go on before it is. */
	if (!stop)
		containerd_close_hold(self);
	if (launch->result.end == LAUNCH_RUNNING)
		rc = wait_end(self, stop, err);
	containerd_close_hold(self);
	if (rc == 0 && self->started)
		rc = read_log(self, err);
	if (rc == 0 && self->started)
		detect_exec_failure(self);
	clean(self);
	return rc;
}
