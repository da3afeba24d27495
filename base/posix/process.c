/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/posix/process_spawn.h"
#include "base/process_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PROCESS_CHUNK_SIZE = 64 * 1024,
	/* How long output may stay open after the leader's end: only a process that left the group
	   can. */
	PROCESS_DRAIN_MS = 1000,
	PROCESS_UNKILLABLE_MS = 5000,
};

enum process_phase {
	PROCESS_RUNNING,     /* the timer, if any, is the deadline */
	PROCESS_TERMINATING, /* the timer is the grace period */
	PROCESS_KILLING,     /* the timer is how long SIGKILL may take */
	PROCESS_DRAINING,    /* the leader is reaped; the timer is how long output may stay open */
	PROCESS_ENDED,
};

struct process_stream {
	struct process *process;
	uv_pipe_t pipe;
	bool open;
	bool is_stderr;
	struct process_output output;
};

struct process {
	struct process *next;	  /* of `started` */
	struct process_spec spec; /* argv, env and directory are not kept */
	struct process_result result;
	enum process_phase phase;
	pid_t id;	   /* 0 once reaped */
	bool leader_ended; /* but perhaps not reaped: that keeps its number, the group's, from reuse
			    */
	bool wanted;	   /* the owner has not freed it */
	bool lines_wanted; /* wanted, and there is an on_line */
	uint64_t started_ns;
	unsigned handles;     /* libuv handles not closed yet */
	uv_poll_t exit_watch; /* readable when the leader has ended */
	int exit_fd;	      /* -1: none, and exit_watch is not open */
	uv_timer_t timer;
	struct process_stream out, err;
	char chunk[PROCESS_CHUNK_SIZE];
};

/* Every process that is not freed: what tells children of this program's own from orphans. */
static struct process *started;

static void process_on_timer(uv_timer_t *timer);

bool process_is_started(pid_t id)
{
	const struct process *process = started;

	while (process != NULL && process->id != id)
		process = process->next;
	return process != NULL;
}

static void process_unlink(const struct process *process)
{
	struct process **at = &started;

	while (*at != NULL && *at != process)
		at = &(*at)->next;
	if (*at != NULL)
		*at = process->next;
}

static void process_on_closed(uv_handle_t *handle)
{
	struct process *process = handle->data;

	if (--process->handles > 0)
		return;
	process_unlink(process);
	process_result_free(&process->result);
	text_free(&process->out.output.line);
	text_free(&process->err.output.line);
	free(process);
}

static void process_close(void *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, process_on_closed);
}

static void process_close_all(struct process *process)
{
	if (process->exit_fd >= 0) {
		process_close(&process->exit_watch);
		(void)close(STEAL_FD(process->exit_fd));
	}
	process_close(&process->timer);
	process_close(&process->out.pipe);
	process_close(&process->err.pipe);
}

static void process_kill_group(const struct process *process, int signal)
{
	if (process->id > 0)
		(void)kill(-process->id, signal);
}

static void process_set_timer(struct process *process, uint64_t timeout_ms)
{
	uv_update_time(process->timer.loop);
	(void)uv_timer_start(&process->timer, process_on_timer, timeout_ms, 0);
}

static void process_maybe_end(struct process *process)
{
	struct process_result *result = &process->result;

	if (process->phase == PROCESS_ENDED || process->id != 0 || process->out.open ||
	    process->err.open)
		return;
	process->phase = PROCESS_ENDED;
	process_output_trim(&process->out.output);
	process_output_trim(&process->err.output);
	if (!process->wanted) {
		process_close_all(process);
		return;
	}
	/* Nothing more is to come, so nothing may keep the loop alive. */
	(void)uv_timer_stop(&process->timer);
	(void)uv_poll_stop(&process->exit_watch);
	if (process->spec.on_end != NULL)
		process->spec.on_end(process, result, process->spec.user);
}

static void process_set_code(struct process *process, int status, const struct rusage *usage)
{
	struct process_result *result = &process->result;
	bool ended_by_us = result->end != PROCESS_EXITED;

	result->duration_ms = (clock_monotonic_ns() - process->started_ns) / 1000000U;
	result->max_rss_kib = (uint64_t)usage->ru_maxrss;
	if (WIFEXITED(status)) {
		result->code = WEXITSTATUS(status);
	} else if (ended_by_us) {
		result->code = 128 + WTERMSIG(status);
	} else {
		result->end = PROCESS_SIGNALLED;
		result->code = WTERMSIG(status);
	}
}

/* The leader has ended: ends its group, takes its status and waits for the end of the output. */
static void process_reap(struct process *process)
{
	struct rusage usage = {0};
	int status = 0;

	process_kill_group(process, SIGKILL);
	while (wait4(process->id, &status, 0, &usage) < 0 && errno == EINTR)
		continue;
	process_set_code(process, status, &usage);
	process->id = 0;
	process->phase = PROCESS_DRAINING;
	process_set_timer(process, PROCESS_DRAIN_MS);
	process_maybe_end(process);
}

/* From here until it is reaped, the leader keeps its number, and the group's, from being reused. */
static void process_on_exit(uv_poll_t *watch, int status, int events)
{
	struct process *process = watch->data;
	bool output_open = process->out.open || process->err.open;

	(void)status;
	(void)events;
	(void)uv_poll_stop(watch);
	process->leader_ended = true;
	if (process->phase != PROCESS_TERMINATING || !output_open)
		process_reap(process);
}

static void process_close_stream(struct process_stream *stream)
{
	struct process *process = stream->process;

	if (!stream->open)
		return;
	stream->open = false;
	process_close(&stream->pipe);
	if (process->out.open || process->err.open)
		return;
	if (process->leader_ended && process->id != 0)
		process_reap(process);
	else
		process_maybe_end(process);
}

static void process_give_up(struct process *process)
{
	process->result.unkillable = true;
	process->result.code = 128 + SIGKILL;
	process->result.duration_ms = (clock_monotonic_ns() - process->started_ns) / 1000000U;
	process->id = 0;
	process->phase = PROCESS_DRAINING;
}

static void process_terminate(struct process *process, enum process_end end)
{
	uint64_t grace = process->spec.grace_ms;

	process->result.end = end;
	process->phase = PROCESS_TERMINATING;
	/* A stopped process cannot act on SIGTERM. SIGCONT comes first: behind SIGTERM it could
	   take away the SIGSTOP with which the child's own leak checker, if it has one, attaches to
	   it at its exit. */
	process_kill_group(process, SIGCONT);
	process_kill_group(process, SIGTERM);
	process_set_timer(process, grace != 0 ? grace : PROCESS_GRACE_DEFAULT_MS);
}

static void process_kill(struct process *process)
{
	process->phase = PROCESS_KILLING;
	process_set_timer(process, PROCESS_UNKILLABLE_MS);
	process_kill_group(process, SIGKILL);
	if (process->leader_ended)
		process_reap(process);
}

static void process_on_timer(uv_timer_t *timer)
{
	struct process *process = timer->data;

	switch (process->phase) {
	case PROCESS_RUNNING:
		process_terminate(process, PROCESS_TIMED_OUT);
		return;
	case PROCESS_TERMINATING:
		process_kill(process);
		return;
	case PROCESS_KILLING:
		process_give_up(process);
		break;
	case PROCESS_DRAINING:
	case PROCESS_ENDED:
		break;
	}
	process_close_stream(&process->out);
	process_close_stream(&process->err);
	process_maybe_end(process);
}

static void process_deliver_line(void *user, const char *line, size_t size)
{
	struct process_stream *stream = user;
	const struct process_spec *spec = &stream->process->spec;

	if (stream->process->lines_wanted)
		spec->on_line(stream->is_stderr, line, size, spec->user);
}

static void process_on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct process *process = handle->data;

	(void)suggested;
	*buffer = uv_buf_init(process->chunk, sizeof(process->chunk));
}

static void process_on_read(uv_stream_t *pipe, ssize_t count, const uv_buf_t *buffer)
{
	struct process *process = pipe->data;
	struct process_stream *stream =
		pipe == (uv_stream_t *)&process->out.pipe ? &process->out : &process->err;

	if (count > 0 && process->wanted) {
		process_output_add(&stream->output, buffer->base, (size_t)count);
		process_output_lines(&stream->output, buffer->base, (size_t)count,
				     &process->lines_wanted, process_deliver_line, stream);
	} else if (count < 0) {
		process_output_last_line(&stream->output, process_deliver_line, stream);
		process_close_stream(stream);
	}
}

static void process_init_stream(struct process *process, struct process_stream *stream,
				bool is_stderr, struct text *captured, uint64_t *dropped)
{
	*stream = (struct process_stream){
		.process = process,
		.is_stderr = is_stderr,
		.output = {.captured = captured,
			   .dropped = dropped,
			   .capture_max = process->spec.capture_max},
	};
	stream->pipe.data = process;
}

static void process_init(struct process *process, uv_loop_t *loop)
{
	(void)uv_timer_init(loop, &process->timer);
	(void)uv_pipe_init(loop, &process->out.pipe, 0);
	(void)uv_pipe_init(loop, &process->err.pipe, 0);
	process->timer.data = process;
	process->exit_watch.data = process;
	process->exit_fd = -1;
	process->handles = 3;
}

/* Takes `fd` over. */
static int process_watch_exit(struct process *process, int fd, struct error *err)
{
	int rc = uv_poll_init(process->timer.loop, &process->exit_watch, fd);

	if (rc < 0) {
		(void)close(fd);
		return error_uv(err, rc, "watching a child process");
	}
	process->exit_fd = fd;
	process->handles++;
	(void)uv_poll_start(&process->exit_watch, UV_READABLE, process_on_exit);
	return 0;
}

static int process_open_stream(struct process_stream *stream, int fd, struct error *err)
{
	int rc = 0;

	if (fd < 0)
		return 0;
	rc = uv_pipe_open(&stream->pipe, fd);
	if (rc < 0) {
		(void)close(fd);
		return error_uv(err, rc, "output of a child process");
	}
	stream->open = true;
	(void)uv_read_start((uv_stream_t *)&stream->pipe, process_on_alloc, process_on_read);
	return 0;
}

static int process_launch(struct process *process, struct error *err)
{
	struct process_child child = {.exit_fd = -1, .out_fd = -1, .err_fd = -1};
	int rcs[3] = {process_spawn(&process->spec, &child, err), 0, 0};

	if (rcs[0] < 0)
		return rcs[0];
	process->id = child.id;
	process->next = started;
	started = process;
	process->started_ns = clock_monotonic_ns();
	rcs[0] = process_watch_exit(process, child.exit_fd, err);
	rcs[1] = process_open_stream(&process->out, child.out_fd, err);
	rcs[2] = process_open_stream(&process->err, child.err_fd, err);
	for (size_t i = 0; i < ARRAY_SIZE(rcs); i++) {
		if (rcs[i] < 0)
			return rcs[i];
	}
	return 0;
}

int process_start(uv_loop_t *loop, const struct process_spec *spec, struct process **out,
		  struct error *err)
{
	struct process *process = calloc(1, sizeof(*process));
	int rc = 0;

	if (process == NULL)
		return error_memory(err);
	process->spec = *spec;
	if (process->spec.capture_max == 0)
		process->spec.capture_max = PROCESS_CAPTURE_DEFAULT;
	process->wanted = true;
	process->lines_wanted = spec->on_line != NULL;
	process_init_stream(process, &process->out, false, &process->result.out,
			    &process->result.out_dropped);
	process_init_stream(process, &process->err, true, &process->result.err,
			    &process->result.err_dropped);
	process_init(process, loop);
	rc = process_launch(process, err);
	if (rc < 0) {
		process_free(process);
		return rc;
	}
	process->spec.argv = NULL;
	process->spec.env = NULL;
	process->spec.directory = NULL;
	if (spec->timeout_ms != 0)
		process_set_timer(process, spec->timeout_ms);
	*out = process;
	return 0;
}

int process_id(const struct process *process)
{
	return process->id;
}

bool process_has_ended(const struct process *process)
{
	return process->phase == PROCESS_ENDED;
}

int process_signal(struct process *process, int signal, struct error *err)
{
	if (process->id == 0)
		return error_set(err, ERROR_NOT_FOUND, "the process has ended");
	if (kill(process->id, signal) < 0)
		return error_system(err, errno, "signal %d to process %d", signal,
				    (int)process->id);
	return 0;
}

void process_stop(struct process *process)
{
	if (process->phase == PROCESS_RUNNING)
		process_terminate(process, PROCESS_STOPPED);
}

const struct process_result *process_result(const struct process *process)
{
	return &process->result;
}

struct process_result process_take_result(struct process *process)
{
	struct process_result taken = process->result;

	process->result = (struct process_result){0};
	return taken;
}

void process_free(struct process *process)
{
	if (process == NULL)
		return;
	process->wanted = false;
	process->lines_wanted = false;
	if (process->phase == PROCESS_ENDED || process->id == 0) {
		process->phase = PROCESS_ENDED;
		process_close_all(process);
		return;
	}
	process_kill(process);
	process_close_stream(&process->out);
	process_close_stream(&process->err);
}

void process_describe_signal(int code, char *out, size_t size)
{
	(void)snprintf(out, size, "signal %d (%s)", code, strsignal(code));
}
