/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/nt_status.h"
#include "base/process_internal.h"
#include "base/wake.h"
#include "base/windows/process_spawn.h"
#include "base/windows/stop_event.h"
#include "base/windows/wide.h"

#include <io.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <psapi.h>

enum {
	PROCESS_CHUNK_SIZE = 64 * 1024,
	PROCESS_DRAIN_MS = 1000, /* how long output may stay open after the job's end */
	PROCESS_UNKILLABLE_MS = 5000,
	PROCESS_KILLED_CODE = 128 + 9, /* as a POSIX system would tell it */
	PROCESS_INTERRUPTED_CODE = 128 + 2,
};

enum process_phase {
	PROCESS_RUNNING,     /* the timer, if any, is the deadline */
	PROCESS_TERMINATING, /* the timer is the grace period */
	PROCESS_KILLING,     /* the timer is how long termination may take */
	PROCESS_DRAINING,    /* the leader is gone; the timer is how long output may stay open */
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
	struct process_spec spec; /* argv, env and directory are not kept */
	struct process_result result;
	enum process_phase phase;
	struct process_child child; /* id is 0 once it has ended */
	bool wanted;		    /* the owner has not freed it */
	bool lines_wanted;	    /* wanted, and there is an on_line */
	uint64_t started_ns;
	unsigned handles; /* libuv handles not closed yet */
	struct wake *exit_wake;
	uv_timer_t timer;
	struct process_stream out, err;
	char chunk[PROCESS_CHUNK_SIZE];
};

static void process_on_timer(uv_timer_t *timer);

static void process_on_closed(uv_handle_t *handle)
{
	struct process *process = handle->data;

	if (--process->handles > 0)
		return;
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

/* The leader is no longer watched, and nothing of its job is left. */
static void process_release(struct process *process)
{
	wake_free(process->exit_wake);
	process->exit_wake = NULL;
	if (process->child.process != NULL)
		(void)CloseHandle(process->child.process);
	if (process->child.job != NULL)
		(void)CloseHandle(process->child.job);
	process->child.process = NULL;
	process->child.job = NULL;
	process->child.id = 0;
}

static void process_close_all(struct process *process)
{
	process_release(process);
	process_close(&process->timer);
	process_close(&process->out.pipe);
	process_close(&process->err.pipe);
}

static void process_set_timer(struct process *process, uint64_t timeout_ms)
{
	uv_update_time(process->timer.loop);
	(void)uv_timer_start(&process->timer, process_on_timer, timeout_ms, 0);
}

static void process_maybe_end(struct process *process)
{
	if (process->phase == PROCESS_ENDED || process->child.id != 0 || process->out.open ||
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
	if (process->spec.on_end != NULL)
		process->spec.on_end(process, &process->result, process->spec.user);
}

static void process_set_code(struct process *process)
{
	struct process_result *result = &process->result;
	PROCESS_MEMORY_COUNTERS memory = {.cb = sizeof(memory)};
	DWORD code = 0;

	(void)GetExitCodeProcess(process->child.process, &code);
	if (GetProcessMemoryInfo(process->child.process, &memory, sizeof(memory)))
		result->max_rss_kib = memory.PeakWorkingSetSize / 1024;
	result->duration_ms = (clock_monotonic_ns() - process->started_ns) / 1000000U;
	result->code = (int)code;
	if (result->end == PROCESS_EXITED && nt_status_is_exception((int)code))
		result->end = PROCESS_SIGNALLED;
	else if (result->end != PROCESS_EXITED && code == (DWORD)STATUS_CONTROL_C_EXIT)
		result->code = PROCESS_INTERRUPTED_CODE;
}

/* The leader has ended: takes its status, ends what is left of its job and waits for the end of the
 * output. */
static void process_on_exit(void *user)
{
	struct process *process = user;

	process_set_code(process);
	(void)TerminateJobObject(process->child.job, PROCESS_KILLED_CODE);
	process_release(process);
	process->phase = PROCESS_DRAINING;
	process_set_timer(process, PROCESS_DRAIN_MS);
	process_maybe_end(process);
}

static void process_close_stream(struct process_stream *stream)
{
	if (!stream->open)
		return;
	stream->open = false;
	process_close(&stream->pipe);
	process_maybe_end(stream->process);
}

static void process_give_up(struct process *process)
{
	process->result.unkillable = true;
	process->result.code = PROCESS_KILLED_CODE;
	process->result.duration_ms = (clock_monotonic_ns() - process->started_ns) / 1000000U;
	process_release(process);
	process->phase = PROCESS_DRAINING;
}

/* The group by Ctrl-Break where we have a console; programs of ours also without. */
static BOOL process_ask_to_end(const struct process *process)
{
	DWORD id = (DWORD)process->child.id;

	return GenerateConsoleCtrlEvent(CTRL_BREAK_EVENT, id) || stop_event_set(id);
}

static void process_terminate(struct process *process, enum process_end end)
{
	uint64_t grace = process->spec.grace_ms;

	process->result.end = end;
	process->phase = PROCESS_TERMINATING;
	(void)process_ask_to_end(process);
	process_set_timer(process, grace != 0 ? grace : PROCESS_GRACE_DEFAULT_MS);
}

static void process_kill(struct process *process)
{
	process->phase = PROCESS_KILLING;
	process_set_timer(process, PROCESS_UNKILLABLE_MS);
	(void)TerminateJobObject(process->child.job, PROCESS_KILLED_CODE);
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

	if (size > 0 && line[size - 1] == '\r')
		size--;
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
	process->out.pipe.data = process;
	process->err.pipe.data = process;
	process->handles = 3;
}

/* Takes `fd` over. */
static int process_open_stream(struct process_stream *stream, int fd, struct error *err)
{
	int rc = 0;

	if (fd < 0)
		return 0;
	rc = uv_pipe_open(&stream->pipe, fd);
	if (rc < 0) {
		(void)_close(fd);
		return error_uv(err, rc, "output of a child process");
	}
	stream->open = true;
	(void)uv_read_start((uv_stream_t *)&stream->pipe, process_on_alloc, process_on_read);
	return 0;
}

static int process_launch(struct process *process, struct error *err)
{
	int rcs[3] = {process_spawn(&process->spec, &process->child, err), 0, 0};

	if (rcs[0] < 0)
		return rcs[0];
	process->started_ns = clock_monotonic_ns();
	rcs[0] = wake_start(process->timer.loop, (intptr_t)process->child.process, process_on_exit,
			    process, &process->exit_wake, err);
	rcs[1] = process_open_stream(&process->out, process->child.out_fd, err);
	rcs[2] = process_open_stream(&process->err, process->child.err_fd, err);
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
		process->wanted = false;
		process->phase = PROCESS_ENDED;
		process_close_all(process);
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
	return process->child.id;
}

bool process_has_ended(const struct process *process)
{
	return process->phase == PROCESS_ENDED;
}

int process_signal(struct process *process, int signal, struct error *err)
{
	BOOL sent = FALSE;

	if (process->child.id == 0)
		return error_set(err, ERROR_NOT_FOUND, "the process has ended");
	switch (signal) {
	case SIGINT:
	case SIGTERM:
		sent = process_ask_to_end(process);
		break;
	case SIGKILL:
		sent = TerminateProcess(process->child.process, PROCESS_KILLED_CODE);
		break;
	default:
		return error_set(err, ERROR_UNSUPPORTED, "Windows has no signal %d", signal);
	}
	return sent ? 0
		    : error_windows(err, GetLastError(), "signal %d to process %d", signal,
				    process->child.id);
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
	if (process->phase == PROCESS_ENDED || process->child.id == 0) {
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
	(void)snprintf(out, size, "exception 0x%08x (%s)", (unsigned)code, nt_status_name(code));
}

void process_adopt_orphans(void)
{
}

int process_end_orphans(struct text_list *names, struct error *err)
{
	(void)names;
	(void)err;
	return 0;
}
