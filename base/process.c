/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/process_internal.h"
#include "base/wake.h"

#include <stdio.h>
#include <string.h>

enum {
	CHUNK_SIZE = 64 * 1024,
	/* How long output may stay open after the leader's end: only a process that left the group
	   can. */
	DRAIN_MS = 1000,
	UNKILLABLE_MS = 5000,
};

enum phase {
	RUNNING,     /* the timer, if any, is the deadline */
	TERMINATING, /* the timer is the grace period */
	KILLING,     /* the timer limits how long the kill may take */
	DRAINING,    /* the leader is reaped; the timer limits how long output may stay open */
	ENDED,
};

struct process_stream {
	struct process *process;
	uv_pipe_t pipe;
	bool open;
	bool is_stderr;
	struct text *captured;
	uint64_t *dropped;
	struct text line; /* the incomplete line received so far */
};

struct process {
	struct process *next;	  /* of `started` */
	struct process_spec spec; /* argv, env and directory are not kept */
	struct process_result result;
	enum phase phase;
	struct process_child child;
	bool leader_ended; /* perhaps not reaped yet: until then its number is not reused */
	bool wanted;	   /* not freed by the owner */
	bool lines_wanted; /* wanted, and on_line is set */
	uint64_t started_ns;
	struct wake *exit_wake; /* NULL once the leader has ended */
	unsigned handles;	/* libuv handles not closed yet */
	uv_timer_t timer;
	struct process_stream out, err;
	uv_pipe_t in;
	uv_write_t write;
	char chunk[CHUNK_SIZE];
};

/* Every process that is not freed: all other children are orphans. */
static struct process *started;

static void on_timer(uv_timer_t *timer);

bool process_is_started(int id)
{
	const struct process *process = started;
	while (process != NULL && process->child.id != id)
		process = process->next;
	return process != NULL;
}

static void on_closed(uv_handle_t *handle)
{
	struct process *process = handle->data;
	if (--process->handles > 0)
		return;
	struct process **at = &started;
	while (*at != NULL && *at != process)
		at = &(*at)->next;
	if (*at != NULL)
		*at = process->next;
	process_result_free(&process->result);
	text_free(&process->out.line);
	text_free(&process->err.line);
	free(process);
}

static void close_handle(void *handle)
{
	if (!uv_is_closing(handle))
		uv_close(handle, on_closed);
}

static void close_all(struct process *process)
{
	wake_free(STEAL(process->exit_wake));
	process_child_release(&process->child);
	close_handle(&process->timer);
	close_handle(&process->out.pipe);
	close_handle(&process->err.pipe);
	close_handle(&process->in);
}

static void set_timer(struct process *process, uint64_t timeout_ms)
{
	uv_update_time(process->timer.loop);
	(void)uv_timer_start(&process->timer, on_timer, timeout_ms, 0);
}

static bool output_is_open(const struct process *process)
{
	return process->out.open || process->err.open;
}

/* Drops the middle of output once it exceeds capture_max by `slack`. */
static void trim(const struct process_stream *stream, size_t slack)
{
	struct text *text = stream->captured;
	size_t max = stream->process->spec.capture_max;
	size_t head = max / 2;
	if (text->size <= max + slack)
		return;
	*stream->dropped += text->size - max;
	memmove(text->data + head, text->data + text->size - (max - head), max - head);
	text->size = max;
	text->data[max] = '\0';
}

static void end_if_over(struct process *process)
{
	if (process->phase == ENDED || process->child.id != 0 || output_is_open(process))
		return;
	process->phase = ENDED;
	trim(&process->out, 0);
	trim(&process->err, 0);
	if (!process->wanted) {
		close_all(process);
		return;
	}
	/* Nothing more will come, so nothing may keep the loop alive. */
	(void)uv_timer_stop(&process->timer);
	if (process->spec.on_end != NULL)
		process->spec.on_end(process, &process->result, process->spec.user);
}

static void take_duration(struct process *process)
{
	process->result.duration_ms = (clock_monotonic_ns() - process->started_ns) / 1000000U;
}

/* The leader has ended: ends its group, takes its status and waits for the end of the output. */
static void reap(struct process *process)
{
	take_duration(process);
	close_handle(&process->in);
	process_child_reap(&process->child, &process->result);
	process->phase = DRAINING;
	set_timer(process, DRAIN_MS);
	end_if_over(process);
}

/* From here until it is reaped, the leader keeps its number, and the group's, from being reused. */
static void on_exit_wake(void *user)
{
	struct process *process = user;
	wake_free(STEAL(process->exit_wake));
	process->leader_ended = true;
	if (process->phase != TERMINATING || !output_is_open(process))
		reap(process);
}

static void close_stream(struct process_stream *stream)
{
	struct process *process = stream->process;
	if (!stream->open)
		return;
	stream->open = false;
	close_handle(&stream->pipe);
	if (output_is_open(process))
		return;
	if (process->leader_ended && process->child.id != 0)
		reap(process);
	else
		end_if_over(process);
}

static void terminate(struct process *process, enum process_end end)
{
	uint64_t grace = process->spec.grace_ms;
	process->result.end = end;
	process->phase = TERMINATING;
	(void)process_child_ask(&process->child);
	set_timer(process, grace != 0 ? grace : PROCESS_GRACE_DEFAULT_MS);
}

static void kill_group(struct process *process)
{
	process->phase = KILLING;
	set_timer(process, UNKILLABLE_MS);
	process_child_kill(&process->child);
	if (process->leader_ended)
		reap(process);
}

static void on_timer(uv_timer_t *timer)
{
	struct process *process = timer->data;
	switch (process->phase) {
	case RUNNING:
		terminate(process, PROCESS_TIMED_OUT);
		return;
	case TERMINATING:
		kill_group(process);
		return;
	case KILLING: /* in vain */
		process->result.unkillable = true;
		process->result.code = PROCESS_KILLED_CODE;
		close_handle(&process->in);
		take_duration(process);
		wake_free(STEAL(process->exit_wake));
		process_child_release(&process->child);
		process->phase = DRAINING;
		break;
	case DRAINING:
	case ENDED:
		break;
	}
	close_stream(&process->out);
	close_stream(&process->err);
	end_if_over(process);
}

static void deliver_line(struct process_stream *stream)
{
	const struct process_spec *spec = &stream->process->spec;
	const char *line = text_string(&stream->line);
	size_t size = stream->line.size;
	if (size > 0 && line[size - 1] == '\r')
		size--;
	if (stream->process->lines_wanted)
		spec->on_line(stream->is_stderr, line, size, spec->user);
	text_reset(&stream->line);
}

/* Captures new output, and splits it into lines while on_line accepts them. */
static void take_output(struct process_stream *stream, const char *data, size_t size)
{
	text_append(stream->captured, data, size);
	/* Only when half of it is too much, so that the cost of moving stays linear. */
	trim(stream, stream->process->spec.capture_max / 2);

	while (size > 0 && stream->process->lines_wanted) {
		const char *newline = memchr(data, '\n', size);
		size_t part = newline != NULL ? (size_t)(newline - data) : size;
		size_t room = PROCESS_LINE_MAX - stream->line.size;
		bool whole = newline != NULL && part <= room;
		if (part > room)
			part = room;
		text_append(&stream->line, data, part);
		data += part + (whole ? 1 : 0);
		size -= part + (whole ? 1 : 0);
		if (!whole && stream->line.size < PROCESS_LINE_MAX)
			continue;
		/* A line of full length whose newline has not arrived waits for the next byte. */
		if (!whole && size == 0)
			return;
		deliver_line(stream);
	}
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct process *process = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(process->chunk, sizeof(process->chunk));
}

static void on_read(uv_stream_t *pipe, ssize_t count, const uv_buf_t *buffer)
{
	struct process *process = pipe->data;
	struct process_stream *stream =
		pipe == (uv_stream_t *)&process->out.pipe ? &process->out : &process->err;
	if (count > 0 && process->wanted) {
		take_output(stream, buffer->base, (size_t)count);
	} else if (count < 0) {
		if (stream->line.size != 0)
			deliver_line(stream);
		close_stream(stream);
	}
}

static void init_stream(struct process *process, uv_loop_t *loop, struct process_stream *stream,
			struct text *captured, uint64_t *dropped)
{
	stream->process = process;
	stream->is_stderr = stream == &process->err;
	stream->captured = captured;
	stream->dropped = dropped;
	(void)uv_pipe_init(loop, &stream->pipe, 0);
	stream->pipe.data = process;
}

/* Takes ownership of `fd`. */
static int open_stream(struct process_stream *stream, int fd, struct error *err)
{
	int owned CLEANUP_FD = fd;
	if (fd < 0)
		return 0;
	int rc = uv_pipe_open(&stream->pipe, fd);
	if (rc < 0)
		return error_uv(err, rc, "output of a child process");
	owned = -1;
	stream->open = true;
	(void)uv_read_start((uv_stream_t *)&stream->pipe, on_alloc, on_read);
	return 0;
}

/* All input is written, or the child reads no more. */
static void on_written(uv_write_t *request, int status)
{
	(void)status;
	close_handle(request->handle);
}

/* Takes ownership of `fd`. */
static int open_input(struct process *process, int fd, struct error *err)
{
	int owned CLEANUP_FD = fd;
	const uv_buf_t buffer = uv_buf_init((char *)(uintptr_t)process->spec.input,
					    (unsigned)process->spec.input_size);
	if (fd < 0)
		return 0;
	int rc = uv_pipe_open(&process->in, fd);
	if (rc < 0)
		return error_uv(err, rc, "input of a child process");
	owned = -1;
	rc = uv_write(&process->write, (uv_stream_t *)&process->in, &buffer, 1, on_written);
	return rc < 0 ? error_uv(err, rc, "input of a child process") : 0;
}

static int launch(struct process *process, struct error *err)
{
	struct process_child *child = &process->child;
	int rcs[4] = {process_spawn(&process->spec, child, err), 0, 0, 0};
	if (rcs[0] < 0)
		return rcs[0];
	process->started_ns = clock_monotonic_ns();
	rcs[0] = wake_start(process->timer.loop, child->ended, on_exit_wake, process,
			    &process->exit_wake, err);
	rcs[1] = open_stream(&process->out, child->out_fd, err);
	rcs[2] = open_stream(&process->err, child->err_fd, err);
	rcs[3] = open_input(process, child->in_fd, err);
	for (size_t i = 0; i < ARRAY_SIZE(rcs); i++) {
		if (rcs[i] < 0)
			return rcs[i];
	}
	return 0;
}

int process_start(uv_loop_t *loop, const struct process_spec *spec, struct process **out,
		  struct error *err)
{
	struct process *process = memory_allocate(1, sizeof(*process));
	struct process_result *result = &process->result;
	process->spec = *spec;
	if (process->spec.capture_max == 0)
		process->spec.capture_max = PROCESS_CAPTURE_DEFAULT;
	process->wanted = true;
	process->lines_wanted = spec->on_line != NULL;
	init_stream(process, loop, &process->out, &result->out, &result->out_dropped);
	init_stream(process, loop, &process->err, &result->err, &result->err_dropped);
	(void)uv_timer_init(loop, &process->timer);
	process->timer.data = process;
	(void)uv_pipe_init(loop, &process->in, 0);
	process->in.data = process;
	process->handles = 4;
	process->next = started;
	started = process;

	int rc = launch(process, err);
	if (rc < 0) {
		process_free(process);
		return rc;
	}
	process->spec.argv = NULL;
	process->spec.env = NULL;
	process->spec.directory = NULL;
	if (spec->timeout_ms != 0)
		set_timer(process, spec->timeout_ms);
	*out = process;
	return 0;
}

int process_id(const struct process *process)
{
	return process->child.id;
}

bool process_has_ended(const struct process *process)
{
	return process->phase == ENDED;
}

int process_signal(struct process *process, int signal, struct error *err)
{
	if (process->child.id == 0)
		return error_set(err, ERROR_NOT_FOUND, "the process has ended");
	return process_child_signal(&process->child, signal, err);
}

void process_stop(struct process *process)
{
	if (process->phase == RUNNING)
		terminate(process, PROCESS_STOPPED);
}

const struct process_result *process_result(const struct process *process)
{
	return &process->result;
}

void process_free(struct process *process)
{
	if (process == NULL)
		return;
	process->wanted = false;
	process->lines_wanted = false;
	if (process->phase == ENDED || process->child.id == 0) {
		process->phase = ENDED;
		close_all(process);
		return;
	}
	kill_group(process);
	close_stream(&process->out);
	close_stream(&process->err);
}

int process_run(const struct process_spec *spec, struct process_result *result, struct error *err)
{
	struct process *process = NULL;
	uv_loop_t loop;
	int rc = uv_loop_init(&loop);
	if (rc < 0)
		return error_uv(err, rc, "event loop");
	rc = process_start(&loop, spec, &process, err);
	if (rc == 0) {
		(void)uv_run(&loop, UV_RUN_DEFAULT);
		*result = process->result;
		process->result = (struct process_result){0};
		process_free(process);
	}
	(void)uv_run(&loop, UV_RUN_DEFAULT); /* closes the handles */
	(void)uv_loop_close(&loop);
	return rc;
}

void process_result_free(struct process_result *result)
{
	text_free(&result->out);
	text_free(&result->err);
}

void process_describe(const struct process_result *result, char *out, size_t size)
{
	const char *outcome = result->unkillable ? " and could not be killed" : "";
	char signal[128] = "";
	switch (result->end) {
	case PROCESS_EXITED:
		(void)snprintf(out, size, "exited with code %d", result->code);
		return;
	case PROCESS_SIGNALLED:
		process_describe_signal(result->code, signal, sizeof(signal));
		(void)snprintf(out, size, "killed by %s", signal);
		return;
	case PROCESS_TIMED_OUT:
		(void)snprintf(out, size, "timed out after %.1f s%s",
			       (double)result->duration_ms / 1000.0, outcome);
		return;
	case PROCESS_STOPPED:
		(void)snprintf(out, size, "stopped on request%s", outcome);
		return;
	}
}

int process_ask(const struct process_spec *spec, char **out, struct error *err)
{
	struct process_result result = {0};
	char how[128] = "";
	int rc = process_run(spec, &result, err);
	if (rc < 0)
		return rc;

	/* The last line of its stderr, without the newline. */
	const char *text = text_string(&result.err);
	size_t end = result.err.size;
	while (end > 0 && text[end - 1] == '\n')
		end--;
	size_t start = end;
	while (start > 0 && text[start - 1] != '\n')
		start--;
	const char *reason = text + start;
	const int length = (int)(end - start);
	process_describe(&result, how, sizeof(how));
	if (result.end == PROCESS_EXITED && result.code == PROCESS_CANNOT_RUN)
		rc = error_set(err, ERROR_UNSUPPORTED, "%.*s", length, reason);
	else if (result.end != PROCESS_EXITED || result.code != 0)
		rc = error_set(err, ERROR_IO, "%s%s%.*s", how, length > 0 ? ": " : "", length,
			       reason);
	else
		*out = memory_copy(text_string(&result.out));
	process_result_free(&result);
	return rc;
}
