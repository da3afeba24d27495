/* SPDX-License-Identifier: MIT */
#include "base/process.h"

#include "base/process_internal.h"

#include <stdio.h>
#include <string.h>

static int process_run_on(uv_loop_t *loop, const struct process_spec *spec,
			  struct process_result *result, struct error *err)
{
	struct process *process = NULL;
	int rc = process_start(loop, spec, &process, err);

	if (rc < 0)
		return rc;
	(void)uv_run(loop, UV_RUN_DEFAULT);
	*result = process_take_result(process);
	process_free(process);
	return 0;
}

int process_run(const struct process_spec *spec, struct process_result *result, struct error *err)
{
	uv_loop_t loop;
	int rc = uv_loop_init(&loop);

	if (rc < 0)
		return error_uv(err, rc, "event loop");
	rc = process_run_on(&loop, spec, result, err);
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
