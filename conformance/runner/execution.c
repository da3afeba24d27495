/* SPDX-License-Identifier: MIT */
#include "conformance/runner/execution.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/process.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void on_line(bool is_stderr, const char *line, size_t size, void *user)
{
	struct execution *execution = user;
	execution->heard_ms = clock_monotonic_ms();
	if (is_stderr || execution->protocol.code != 0)
		return;
	if (result_add_line(&execution->result, line, size, &execution->protocol) < 0)
		process_stop(execution->process);
}

uint64_t execution_limit_ms(const struct check *check, const struct context *context)
{
	uint64_t bodies = check->each_kubelet ? 2 : 1;
	return context_wait_ms(context, bodies * check->timeout_s * 1000);
}

void execution_set(struct execution *execution, enum report_outcome outcome, char *reason)
{
	free(execution->reason);
	execution->outcome = outcome;
	execution->reason = reason;
}

int execution_start(const struct execution_spec *spec, struct execution *execution,
		    struct error *err)
{
	const char *const argv[] = {
		spec->program, spec->check->id, spec->context->run_directory, spec->directory, NULL,
	};
	const struct process_spec child = {
		.argv = argv,
		.timeout_ms =
			spec->context->keep ? 0 : execution_limit_ms(spec->check, spec->context),
		.on_line = on_line,
		.user = execution,
	};

	*execution = (struct execution){
		.spec = *spec,
		.heard_ms = clock_monotonic_ms(),
		.timeout_ms = child.timeout_ms,
		.result = {.journal = spec->journal,
			   .check = spec->check->id,
			   .on_plugin = spec->on_plugin,
			   .user = spec->user},
	};
	if (spec->log != NULL)
		system_log_skip(spec->log);
	return process_start(spec->loop, &child, &execution->process, err);
}

bool execution_has_ended(struct execution *execution)
{
	const struct execution_spec *spec = &execution->spec;
	if (process_has_ended(execution->process))
		return true;

	execution->interrupted = execution->interrupted || *spec->interrupted;
	if (spec->silence_ms != 0 && !execution->result.kept &&
	    clock_monotonic_ms() - execution->heard_ms >= spec->silence_ms)
		execution->silent = true;
	if (execution->interrupted || execution->silent)
		process_stop(execution->process);
	return false;
}

int execution_end(struct execution *execution, struct error *err)
{
	const struct process_result *ended = process_result(execution->process);
	const struct error *protocol = &execution->protocol;
	const bool exited = ended->end == PROCESS_EXITED;
	char description[256] = "";
	const char *reason = "";
	execution->duration_ms = ended->duration_ms;
	text_add_all(&execution->err, &ended->err);
	int rc = log_watch_record(&execution->spec, execution, err);
	if (rc < 0)
		return rc;

	/* Of a body that ended by itself, or waits at a failure. */
	const enum report_outcome outcome = result_outcome(&execution->result, &reason);
	execution_set(execution, outcome, memory_copy(reason));
	if (execution->silent) {
		execution_set(execution, REPORT_TIMEOUT,
			      text_format("the check recorded nothing for %llu s",
					  (unsigned long long)execution->spec.silence_ms / 1000));
	} else if (execution->interrupted) {
		if (!execution->result.kept)
			execution_set(execution, REPORT_NOTRUN,
				      memory_copy("the run was interrupted during this check"));
	} else if (ended->end == PROCESS_TIMED_OUT) {
		execution_set(execution, REPORT_TIMEOUT,
			      text_format("the check did not end within %llu s",
					  (unsigned long long)execution->timeout_ms / 1000));
	} else if (protocol->code != 0 && ended->end != PROCESS_SIGNALLED) {
		/* A killed process' last line may be incomplete: that is a crash. */
		execution_set(execution, REPORT_BROKEN,
			      text_format("result pipe: %s", protocol->text));
	} else if (exited && ended->code == REPORT_EXIT_BROKEN) {
		execution_set(execution, REPORT_BROKEN,
			      memory_copy("the check's process could not write its results"));
	} else if (!exited || ended->code != 0 || !execution->result.finished) {
		process_describe(ended, description, sizeof(description));
		execution_set(
			execution, REPORT_CRASH,
			text_format("the check's process %s before it finished", description));
	}
	return 0;
}

void execution_free(struct execution *execution)
{
	process_free(execution->process);
	result_free(&execution->result);
	text_free(&execution->err);
	free(execution->reason);
	*execution = (struct execution){0};
}

int execution_child(const struct check_suite *const *suites, int argc, char **argv)
{
	const struct check_suite *suite = NULL;
	const struct check *check = NULL;
	struct context context = {0};
	struct error err = {0};
	int result_fd = -1;

	if (argc != 4 || process_take_output(&result_fd, NULL) < 0) {
		(void)fprintf(
			stderr,
			"gpucert starts this program for each check; use 'gpucert run CHECK'\n");
		return 2;
	}

	int rc = plan_find(suites, argv[1], &suite, &check, &err);
	if (rc == 0)
		rc = context_read(argv[2], &context, &err);
	if (rc == 0)
		rc = check_run_execute(check, &context, argv[3], result_fd, &err);
	if (rc < 0)
		(void)fprintf(stderr, "%s: %s\n", argv[1], err.text);
	context_free(&context);
	return rc < 0 ? REPORT_EXIT_BROKEN : 0;
}
