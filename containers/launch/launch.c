/* SPDX-License-Identifier: MIT */
#include "containers/launch/launch.h"

#include "base/memory.h"
#include "base/nt_status.h"
#include "containers/launch/launcher.h"

#include <stdlib.h>
#include <string.h>

enum { TIMEOUT_MS = 60 * 1000 };

void launcher_free(struct launcher *launcher)
{
	if (launcher != NULL)
		launcher->class->free_launcher(launcher);
}

bool launch_is_path(enum launch_system system, const char *word)
{
	return strpbrk(word, system == LAUNCH_WINDOWS ? "/\\" : "/") != NULL;
}

void launch_ended(struct launch *launch, enum launch_end end, const char *reason)
{
	if (launch->result.end != LAUNCH_RUNNING)
		return;
	launch->result.reason = arena_string(&launch->arena, reason);
	launch->result.end = end;
}

int launch_start(struct launcher *launcher, const struct launch_spec *spec, struct launch **out,
		 struct error *err)
{
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	if (spec->hold && launcher->class->wait_held == NULL)
		return error_set(err, ERROR_UNSUPPORTED, "programs cannot be held here");
	struct launch *launch = memory_allocate(1, launcher->class->launch_size);
	launch->launcher = launcher;
	launch->timeout_ms = spec->timeout_ms != 0 ? spec->timeout_ms : TIMEOUT_MS;
	launch->result.reason = "";
	launch->result.container_id = "";

	launch_check_grant(&spec->grant, launcher->system, &offences);
	if (offences.count > 0) {
		/* Every offence, in one text: the plugin's author wants to see them all. */
		struct text reason CLEANUP_TEXT = {0};
		text_add_joined(&reason, "; ", (const char *const *)offences.items);
		launch_ended(launch, LAUNCH_REFUSED, text_string(&reason));
		launch->finished = true;
	} else {
		int rc = launcher->class->start(launcher, launch, spec, err);
		if (rc < 0) {
			launch_free(launch);
			return rc;
		}
	}
	*out = launch;
	return 0;
}

int launch_wait_held(struct launch *launch, int64_t *pid, struct error *err)
{
	*pid = 0;
	return launch->finished ? 0 : launch->launcher->class->wait_held(launch, pid, err);
}

int launch_release(struct launch *launch, const char *line, struct error *err)
{
	return launch->finished ? 0 : launch->launcher->class->release(launch, line, err);
}

static int finish(struct launch *launch, bool stop, struct error *err)
{
	return launch->finished ? 0 : launch->launcher->class->finish(launch, stop, err);
}

int launch_wait(struct launch *launch, struct error *err)
{
	return finish(launch, false, err);
}

int launch_stop(struct launch *launch, struct error *err)
{
	return finish(launch, true, err);
}

const struct launch_result *launch_result(const struct launch *launch)
{
	return &launch->result;
}

void launch_free(struct launch *launch)
{
	if (launch == NULL)
		return;
	(void)finish(launch, true, NULL);
	arena_free(&launch->arena);
	text_free(&launch->result.out);
	text_free(&launch->result.err);
	text_list_free(&launch->result.notes);
	launch->launcher->class->free_launch(launch);
}

void launch_describe(const struct launch_result *result, char *out, size_t size)
{
	static const char *const sentences[] = {
		[LAUNCH_RUNNING] = "still running",
		[LAUNCH_REFUSED] = "launch refused",
		[LAUNCH_IGNORED] = "not launched",
		[LAUNCH_NO_SANDBOX] = "no container could be begun",
		[LAUNCH_FAILED] = "container could not be set up",
		[LAUNCH_NOT_STARTED] = "program not started",
		[LAUNCH_OUT_OF_MEMORY] = "killed at its memory limit",
		[LAUNCH_STOPPED] = "stopped on request",
		[LAUNCH_LOST] = "the runtime was lost",
	};
	const char *reason = result->reason != NULL ? result->reason : "";
	const char *name = host_signal_name(result->code);
	if (result->end == LAUNCH_KILLED && nt_status_is_exception(result->code))
		(void)snprintf(out, size, "killed by exception 0x%08x (%s)", (unsigned)result->code,
			       nt_status_name(result->code));
	else if (result->end == LAUNCH_KILLED)
		(void)snprintf(out, size, "killed by signal %d (%s)", result->code,
			       name != NULL ? name : "unnamed");
	else if (result->end == LAUNCH_EXITED)
		(void)snprintf(out, size, "exited with code %d", result->code);
	else if (result->end == LAUNCH_TIMED_OUT)
		(void)snprintf(out, size, "killed at its deadline after %llu ms",
			       (unsigned long long)result->run_ms);
	else
		(void)snprintf(out, size, "%s%s%s", sentences[result->end],
			       reason[0] != '\0' ? ": " : "", reason);
}
