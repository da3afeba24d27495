/* SPDX-License-Identifier: MIT */
#include "containers/launch/launch.h"

#include "base/cleanup.h"
#include "containers/launch/launcher.h"

#include <stdlib.h>
#include <string.h>

const char *launcher_name(const struct launcher *launcher)
{
	return launcher->class->name;
}

bool launcher_isolates(const struct launcher *launcher)
{
	return launcher->class->isolates;
}

void launcher_free(struct launcher *launcher)
{
	if (launcher != NULL)
		launcher->class->free_launcher(launcher);
}

enum launch_system launch_system(enum launch_system system)
{
	return system == LAUNCH_SYSTEM_OF_HOST ? LAUNCH_HOST : system;
}

bool launch_is_path(enum launch_system system, const char *word)
{
	return strpbrk(word, system == LAUNCH_WINDOWS ? "/\\" : "/") != NULL;
}

int launch_ended(struct launch *launch, enum launch_end end, const char *reason, struct error *err)
{
	char *copy = NULL;

	if (launch->result.end != LAUNCH_RUNNING)
		return 0;
	copy = strdup(reason);
	if (copy == NULL)
		return error_memory(err);
	free(launch->result.reason);
	launch->result.reason = copy;
	launch->result.end = end;
	return 0;
}

int launch_note(struct launch *launch, struct error *err, const char *format, ...)
{
	struct text note CLEANUP_TEXT = {0};
	va_list args;

	va_start(args, format);
	text_vaddf(&note, format, args);
	va_end(args);
	return text_list_take(&launch->result.notes, text_take(&note), err);
}

static int launch_prepare(struct launch *launch, struct launcher *launcher,
			  const struct launch_spec *spec, struct error *err)
{
	launch->launcher = launcher;
	launch->timeout_ms = spec->timeout_ms != 0 ? spec->timeout_ms : LAUNCH_TIMEOUT_MS;
	launch->output_max = spec->output_max != 0 ? spec->output_max : LAUNCH_OUTPUT_MAX;
	launch->result.reason = strdup("");
	launch->result.container_id = strdup("");
	if (launch->result.reason == NULL || launch->result.container_id == NULL)
		return error_memory(err);
	return 0;
}

/* Every offence, in one text: the plugin's author wants to see them all. */
static int launch_refuse(struct launch *launch, const struct text_list *offences, struct error *err)
{
	struct text reason CLEANUP_TEXT = {0};

	for (size_t i = 0; i < offences->count; i++)
		text_addf(&reason, "%s%s", i > 0 ? "; " : "", offences->items[i]);
	if (reason.failed)
		return error_memory(err);
	launch->finished = true;
	return launch_ended(launch, LAUNCH_REFUSED, text_string(&reason), err);
}

int launch_start(struct launcher *launcher, const struct launch_spec *spec, struct launch **out,
		 struct error *err)
{
	struct text_list offences CLEANUP_TEXT_LIST = {0};
	struct launch *launch = NULL;
	int rc = launch_check_spec(spec, launcher->system, &offences, err);

	if (rc == ERROR_MEMORY)
		return ERROR_MEMORY;
	launch = calloc(1, launcher->class->launch_size);
	if (launch == NULL) {
		error_memory(err);
		return ERROR_MEMORY;
	}
	rc = spec->hold && launcher->class->wait_held == NULL
		     ? error_set(err, ERROR_UNSUPPORTED, "programs cannot be held here")
		     : launch_prepare(launch, launcher, spec, err);
	if (rc == 0 && offences.count > 0)
		rc = launch_refuse(launch, &offences, err);
	else if (rc == 0)
		rc = launcher->class->start(launcher, launch, spec, err);
	if (rc != 0) {
		launch_free(launch);
		return rc;
	}
	*out = launch;
	return 0;
}

static int launch_finish(struct launch *launch, bool stop, struct error *err)
{
	if (launch->finished)
		return 0;
	return launch->launcher->class->finish(launch, stop, err);
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

int launch_wait(struct launch *launch, struct error *err)
{
	return launch_finish(launch, false, err);
}

int launch_stop(struct launch *launch, struct error *err)
{
	return launch_finish(launch, true, err);
}

const struct launch_result *launch_result(const struct launch *launch)
{
	return &launch->result;
}

void launch_free(struct launch *launch)
{
	if (launch == NULL)
		return;
	(void)launch_finish(launch, true, NULL);
	free(launch->result.reason);
	free(launch->result.container_id);
	text_free(&launch->result.out);
	text_free(&launch->result.err);
	text_list_free(&launch->result.notes);
	launch->launcher->class->free_launch(launch);
}

int launch_run(struct launcher *launcher, const struct launch_spec *spec, struct launch **out,
	       struct error *err)
{
	struct launch *launch = NULL;
	int rc = launch_start(launcher, spec, &launch, err);

	if (rc == 0)
		rc = launch_wait(launch, err);
	if (rc != 0) {
		launch_free(launch);
		return rc;
	}
	*out = launch;
	return 0;
}
