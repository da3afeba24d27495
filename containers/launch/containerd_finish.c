/* SPDX-License-Identifier: MIT */
/* From a running container to its result. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/nt_status.h"
#include "base/path.h"
#include "containers/cri/container_log.h"
#include "containers/launch/containerd.h"
#include "containers/launch/pod_config.h"
#include "rpc/loop.h"

#include <string.h>

enum {
	POLL_FIRST_MS = 2,
	POLL_MAX_MS = 16,
	LOG_FILE_MAX = 64 * 1024 * 1024, /* a program that writes more is stopped */
	SIGNAL_BASE = 128,
	SIGNAL_MAX = 64,
};

static struct cri *launch_cri(const struct containerd_launch *launch)
{
	return ((const struct containerd_launcher *)launch->base.launcher)->cri;
}

static bool launch_log_is_full(const struct containerd_launch *launch)
{
	char *path CLEANUP_FREE = path_join(launch->log_directory, POD_LOG_FILE);
	uv_fs_t request;
	bool full = path != NULL && uv_fs_stat(NULL, &request, path, NULL) == 0 &&
		    request.statbuf.st_size > LOG_FILE_MAX;

	if (path != NULL)
		uv_fs_req_cleanup(&request);
	return full;
}

/* Kills are told through the exit code. */
static bool launch_was_killed(const struct containerd_launch *launch, int *code)
{
	if (launch->base.launcher->system == LAUNCH_WINDOWS)
		return nt_status_is_exception(*code);
	if (*code <= SIGNAL_BASE || *code > SIGNAL_BASE + SIGNAL_MAX)
		return false;
	*code -= SIGNAL_BASE;
	return true;
}

static int launch_take_end(struct containerd_launch *launch,
			   const Runtime__V1__ContainerStatus *status, struct error *err)
{
	struct launch_result *result = &launch->base.result;
	enum launch_end end = LAUNCH_EXITED;
	int code = status->exit_code;

	/* containerd notes the start once it has been told of it: after the end of a short program.
	 */
	result->finished_ns = status->finished_at;
	result->started_ns =
		status->started_at < status->finished_at ? status->started_at : status->finished_at;
	/* The runtime's numbers may lie anywhere; unsigned, their difference always exists. */
	result->run_ms = ((uint64_t)result->finished_ns - (uint64_t)result->started_ns) / 1000000;
	if (result->end != LAUNCH_RUNNING)
		return 0;
	if (strcmp(status->reason, "OOMKilled") == 0)
		return launch_ended(&launch->base, LAUNCH_OUT_OF_MEMORY, status->message, err);
	end = launch_was_killed(launch, &code) ? LAUNCH_KILLED : LAUNCH_EXITED;
	result->code = code;
	return launch_ended(&launch->base, end, status->message, err);
}

int containerd_look(struct containerd_launch *launch, bool *ended, struct error *err)
{
	Runtime__V1__ContainerStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	struct error failure = {0};
	int rc = cri_container_status_wait(launch_cri(launch), launch->base.result.container_id,
					   &reply, &failure);

	*ended = true;
	if (rc == ERROR_MEMORY)
		return error_memory(err);
	if (rc < 0)
		return launch_ended(&launch->base, LAUNCH_LOST, failure.text, err);
	if (reply->status->state == RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED)
		return launch_take_end(launch, reply->status, err);
	*ended = false;
	return 0;
}

static int launch_kill(struct containerd_launch *launch, enum launch_end end, const char *reason,
		       struct error *err)
{
	struct error failure = {0};
	bool ended = false;
	int rc = launch_ended(&launch->base, end, reason, err);

	if (rc < 0)
		return rc;
	rc = cri_stop_container_wait(launch_cri(launch), launch->base.result.container_id, 0,
				     &failure);
	if (rc < 0)
		return launch_note(&launch->base, err, "container could not be stopped: %s",
				   failure.text);
	return containerd_look(launch, &ended, err);
}

static int launch_wait_end(struct containerd_launch *launch, bool stop, struct error *err)
{
	uint64_t pause_ms = POLL_FIRST_MS;

	for (;;) {
		bool ended = false;
		int rc = containerd_look(launch, &ended, err);

		if (rc < 0 || ended)
			return rc;
		if (stop)
			return launch_kill(launch, LAUNCH_STOPPED, "", err);
		if (clock_monotonic_ms() >= launch->deadline_ms)
			return launch_kill(launch, LAUNCH_TIMED_OUT, "", err);
		if (launch_log_is_full(launch))
			return launch_kill(launch, LAUNCH_STOPPED, "more than 64 MiB of output",
					   err);
		loop_run_for(cri_loop(launch_cri(launch)), pause_ms);
		pause_ms = pause_ms * 2 < POLL_MAX_MS ? pause_ms * 2 : POLL_MAX_MS;
	}
}

static int launch_read_log(struct containerd_launch *launch, struct error *err)
{
	struct launch_result *result = &launch->base.result;
	char *path CLEANUP_FREE = path_join(launch->log_directory, POD_LOG_FILE);
	struct container_log log = {0};
	struct error failure = {0};
	int rc = 0;

	if (path == NULL)
		return error_memory(err);
	rc = container_log_read(&log, path, launch->base.output_max, &failure);
	if (rc < 0) {
		container_log_free(&log);
		return launch_note(&launch->base, err, "output cannot be read: %s", failure.text);
	}
	result->out = log.out.content;
	result->err = log.err.content;
	result->out_dropped = log.out.dropped;
	result->err_dropped = log.err.dropped;
	log.out.content = (struct text){0};
	log.err.content = (struct text){0};
	if (log.malformed > 0)
		rc = launch_note(&launch->base, err,
				 "%llu records of the container's log are malformed, first line "
				 "%llu: %s",
				 (unsigned long long)log.malformed,
				 (unsigned long long)log.malformed_line, log.malformed_why);
	container_log_free(&log);
	return rc;
}

/* runc's init reports a failed execve() on the container's stderr and fails: the container started,
 * the program did not. */
static int launch_detect_exec_failure(struct containerd_launch *launch, struct error *err)
{
	struct launch_result *result = &launch->base.result;
	const char *text = text_string(&result->err);
	size_t length = strcspn(text, "\n");
	char *line CLEANUP_FREE = NULL;

	if (result->end != LAUNCH_EXITED || result->code == 0 || result->out.size > 0 ||
	    length + 1 != result->err.size || !text_starts_with(text, "exec "))
		return 0;
	line = strndup(text, length);
	if (line == NULL)
		return error_memory(err);
	result->end = LAUNCH_RUNNING;
	return launch_ended(&launch->base, LAUNCH_NOT_STARTED, line, err);
}

static int launch_note_failure(struct containerd_launch *launch, int rc, const char *what,
			       const struct error *failure, struct error *err)
{
	if (rc == 0)
		return 0;
	return launch_note(&launch->base, err, "%s could not be removed: %s", what, failure->text);
}

static int launch_clean(struct containerd_launch *launch, struct error *err)
{
	struct cri *cri = launch_cri(launch);
	struct error failure = {0};
	int result = 0;
	int rc = 0;

	if (launch->has_container) {
		rc = cri_remove_container_wait(cri, launch->base.result.container_id, &failure);
		result = launch_note_failure(launch, rc, "container", &failure, err);
	}
	if (launch->sandbox_id != NULL) {
		rc = cri_stop_pod_sandbox_wait(cri, launch->sandbox_id, &failure);
		if (rc == 0)
			rc = cri_remove_pod_sandbox_wait(cri, launch->sandbox_id, &failure);
		if (result == 0)
			result = launch_note_failure(launch, rc, "pod sandbox", &failure, err);
	}
	if (launch->log_directory != NULL) {
		rc = file_remove_tree(launch->log_directory, &failure);
		if (result == 0)
			result = launch_note_failure(launch, rc, "log", &failure, err);
	}
	return result;
}

int containerd_launch_finish(struct launch *launch, bool stop, struct error *err)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	struct launch_result *result = &launch->result;
	uint64_t cri_begin = cri_time_ms(launch_cri(self));
	bool ran = result->end == LAUNCH_RUNNING;
	uint64_t begin = 0;
	int rc = 0;
	int clean = 0;

	launch->finished = true;
	containerd_close_hold(self);
	if (ran)
		rc = launch_wait_end(self, stop, err);
	if (rc == 0 && ran)
		rc = launch_read_log(self, err);
	if (rc == 0 && ran)
		rc = launch_detect_exec_failure(self, err);
	begin = clock_monotonic_ms();
	clean = launch_clean(self, rc == 0 ? err : NULL);
	result->cleanup_ms = clock_monotonic_ms() - begin;
	result->cri_ms += cri_time_ms(launch_cri(self)) - cri_begin;
	return rc < 0 ? rc : clean;
}
