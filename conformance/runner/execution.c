/* SPDX-License-Identifier: MIT */
#include "conformance/runner/execution.h"

#include "base/cleanup.h"
#include "base/process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct reader {
	uv_pipe_t pipe;
	bool open;  /* the handle is not closed yet */
	bool ended; /* every writer has closed the pipe */
	struct text line;
	struct result *result;
	struct error protocol; /* the first way in which the check broke the result protocol */
	char chunk[16384];
};

static void reader_closed(uv_handle_t *handle)
{
	struct reader *reader = handle->data;
	reader->open = false;
}

static void reader_allocate(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
	struct reader *reader = handle->data;
	(void)suggested;
	*buffer = uv_buf_init(reader->chunk, sizeof(reader->chunk));
}

static void reader_take(struct reader *reader, const char *data, size_t size)
{
	const char *end = data + size;
	while (data < end && reader->protocol.code == 0) {
		const char *newline = memchr(data, '\n', (size_t)(end - data));
		const char *stop = newline != NULL ? newline : end;
		text_append(&reader->line, data, (size_t)(stop - data));
		data = stop + 1;
		if (reader->line.failed)
			(void)error_memory(&reader->protocol);
		else if (reader->line.size > RESULT_LINE_MAX)
			(void)error_set(&reader->protocol, ERROR_LIMIT,
					"a line is longer than %d bytes", (int)RESULT_LINE_MAX);
		else if (newline != NULL)
			(void)result_add_line(reader->result, text_string(&reader->line),
					      reader->line.size, &reader->protocol);
		if (newline != NULL)
			text_reset(&reader->line);
	}
}

static void reader_read(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
	struct reader *reader = stream->data;
	if (size > 0)
		reader_take(reader, buffer->base, (size_t)size);
	if (size < 0) {
		reader->ended = true;
		uv_close((uv_handle_t *)stream, reader_closed);
	}
}

static int reader_open(struct reader *reader, uv_loop_t *loop, int fd, struct error *err)
{
	int rc = uv_pipe_init(loop, &reader->pipe, 0);
	if (rc == 0) {
		reader->open = true;
		reader->pipe.data = reader;
		rc = uv_pipe_open(&reader->pipe, fd);
	}
	if (rc == 0)
		rc = uv_read_start((uv_stream_t *)&reader->pipe, reader_allocate, reader_read);
	return rc < 0 ? error_uv(err, rc, "result pipe") : 0;
}

static void reader_close(struct reader *reader, uv_loop_t *loop)
{
	if (reader->open && !uv_is_closing((uv_handle_t *)&reader->pipe))
		uv_close((uv_handle_t *)&reader->pipe, reader_closed);
	while (reader->open)
		(void)uv_run(loop, UV_RUN_ONCE);
	text_free(&reader->line);
}

uint64_t execution_limit_ms(const struct check *check, const struct context *context)
{
	return context_wait_ms(context, (uint64_t)check->timeout_s * 1000);
}

int execution_set(struct execution *execution, enum report_outcome outcome, char *reason,
		  struct error *err)
{
	free(execution->reason);
	execution->outcome = outcome;
	execution->reason = reason;
	return reason != NULL ? 0 : error_memory(err);
}

static int judge(struct execution *execution, const struct reader *reader,
		 const struct process_result *ended, bool interrupted, struct error *err)
{
	char description[256] = "";
	const char *reason = "";
	if (interrupted)
		return execution_set(execution, REPORT_NOTRUN,
				     strdup("the run was interrupted during this check"), err);
	if (reader->protocol.code != 0)
		return execution_set(execution, REPORT_BROKEN,
				     text_format("result pipe: %s", reader->protocol.text), err);
	process_describe(ended, description, sizeof(description));
	if (ended->end == PROCESS_TIMED_OUT)
		return execution_set(execution, REPORT_TIMEOUT,
				     text_format("the check did not end within %llu s",
						 (unsigned long long)execution->timeout_ms / 1000),
				     err);
	if (ended->end == PROCESS_EXITED && ended->code == REPORT_EXIT_BROKEN)
		return execution_set(execution, REPORT_BROKEN,
				     strdup("the check's process could not tell what it saw"), err);
	if (ended->end != PROCESS_EXITED || ended->code != 0 || !execution->result.finished)
		return execution_set(
			execution, REPORT_CRASH,
			text_format("the check's process %s before it finished", description), err);
	enum report_outcome outcome = result_outcome(&execution->result, &reason);
	return execution_set(execution, outcome, strdup(reason), err);
}

static int start(const struct execution_spec *spec, struct execution *execution,
		 struct reader *reader, struct process **process, struct error *err)
{
	const char *const argv[] = {
		spec->program,	 "run-check", spec->check->id, spec->context->run_directory,
		spec->directory, NULL,
	};
	int ends[2] = {-1, -1};
	struct process_spec child = {
		.argv = argv,
		.timeout_ms = execution->timeout_ms,
	};
	int rc = uv_pipe(ends, UV_NONBLOCK_PIPE, 0);
	if (rc < 0)
		return error_uv(err, rc, "result pipe");
	child.pass_fd = ends[1];
	rc = reader_open(reader, spec->loop, ends[0], err);
	if (rc < 0 && !reader->open)
		(void)close(ends[0]);
	if (rc == 0)
		rc = process_start(spec->loop, &child, process, err);
	(void)close(ends[1]);
	return rc;
}

int execution_run(const struct execution_spec *spec, struct execution *execution, struct error *err)
{
	struct reader reader = {.result = &execution->result};
	struct process *process = NULL;
	bool interrupted = false;
	bool stopped = false;
	*execution = (struct execution){
		.timeout_ms = execution_limit_ms(spec->check, spec->context),
		.result = {.journal = spec->journal,
			   .check = spec->check->id,
			   .on_plugin = spec->on_plugin,
			   .user = spec->user},
	};
	int rc = start(spec, execution, &reader, &process, err);
	while (rc == 0 && !(process_has_ended(process) && reader.ended)) {
		interrupted = interrupted || *spec->interrupted;
		if ((interrupted || reader.protocol.code != 0) && !stopped) {
			stopped = true;
			process_stop(process);
		}
		/* A process that the check left behind may hold the pipe open; what the check
		 * itself wrote is in the pipe by now, so one more round reads it. */
		if (process_has_ended(process)) {
			(void)uv_run(spec->loop, UV_RUN_NOWAIT);
			break;
		}
		(void)uv_run(spec->loop, UV_RUN_ONCE);
	}
	reader_close(&reader, spec->loop);
	if (rc == 0) {
		const struct process_result *ended = process_result(process);
		execution->duration_ms = ended->duration_ms;
		text_append(&execution->err, text_string(&ended->err), ended->err.size);
		rc = judge(execution, &reader, ended, interrupted, err);
	}
	process_free(process);
	return rc;
}

void execution_free(struct execution *execution)
{
	result_free(&execution->result);
	text_free(&execution->err);
	free(execution->reason);
	*execution = (struct execution){0};
}

int execution_child(const struct check_suite *const *suites, const struct text_list *arguments)
{
	const struct check_suite *suite = NULL;
	const struct check *check = NULL;
	struct context context = {0};
	struct error err = {0};
	int result_fd = -1;
	if (arguments->count != 3 || process_take_passed(&result_fd, NULL) < 0) {
		(void)fprintf(
			stderr,
			"run-check is how gpucert starts its own checks; use 'gpucert run CHECK'\n");
		return 2;
	}
	int rc = plan_find(suites, arguments->items[0], &suite, &check, &err);
	if (rc == 0)
		rc = context_read(arguments->items[1], &context, &err);
	if (rc == 0)
		rc = check_run_execute(check, &context, arguments->items[2], result_fd, &err);
	if (rc < 0)
		(void)fprintf(stderr, "%s: %s\n", arguments->items[0], err.text);
	context_free(&context);
	return rc < 0 ? REPORT_EXIT_BROKEN : 0;
}
