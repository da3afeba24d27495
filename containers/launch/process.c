/* SPDX-License-Identifier: MIT */
/* Programs as processes of the host. */
#include "base/process.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/path.h"
#include "containers/launch/launcher.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>

/* Containers are killed at once; a process of the host gets a moment to end its own children. */
enum { KILL_GRACE_MS = 100 };

struct process_launcher {
	struct launcher base;
	uv_loop_t *loop;
	char *program_directory;
};

struct process_launch {
	struct launch base;
	struct process *process;
};

/* Says what a process of the host does not get. */
static int note_ignored(struct launch *launch, const struct launch_spec *spec, struct error *err)
{
	static const char *const names[GRANT_KINDS] = {
		[GRANT_MOUNT] = "mounts",
		[GRANT_DEVICE] = "device nodes",
		[GRANT_ANNOTATION] = "annotations",
		[GRANT_CDI_DEVICE] = "CDI devices",
	};
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < GRANT_KINDS; i++) {
		if (names[i] != NULL && spec->grant.lists[i].count > 0)
			rc = text_list_addf(&launch->result.notes, err,
					    "%zu %s not applied: the program runs on the host",
					    spec->grant.lists[i].count, names[i]);
	}
	return rc;
}

/* Adds command and environment of the child. */
static int list_words(const struct process_launcher *maker, const struct launch_spec *spec,
		      struct text_list *words, struct text_list *env, struct error *err)
{
	const char *first = spec->command[0];
	int rc = launch_is_path(launch_host, first)
			 ? text_list_add(words, first, err)
			 : text_list_take(words, path_join(maker->program_directory, first), err);
	for (const char *const *word = spec->command + 1; rc == 0 && *word != NULL; word++)
		rc = text_list_add(words, *word, err);
	for (size_t i = 0; rc == 0 && i < spec->grant.envs.count; i++)
		rc = text_list_addf(env, err, "%s=%s", spec->grant.envs.items[i].name,
				    spec->grant.envs.items[i].value);
	return rc;
}

static int start(struct launcher *launcher, struct launch *launch, const struct launch_spec *spec,
		 struct error *err)
{
	struct process_launcher *maker = (struct process_launcher *)launcher;
	struct process_launch *self = (struct process_launch *)launch;
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct text_list env CLEANUP_TEXT_LIST = {0};
	struct error failure = {0};
	launch->finished = true; /* there is nothing to wait for yet */
	int rc = list_words(maker, spec, &words, &env, err);
	if (rc == 0)
		rc = note_ignored(launch, spec, err);
	if (rc < 0)
		return rc;
	const struct process_spec child = {
		.argv = (const char *const *)words.items,
		.env = (const char *const *)env.items,
		.capture_max = LAUNCH_OUTPUT_MAX,
		.timeout_ms = launch->timeout_ms,
		.grace_ms = KILL_GRACE_MS,
	};
	rc = process_start(maker->loop, &child, &self->process, &failure);
	if (rc == ERROR_MEMORY)
		return error_memory(err);
	if (rc < 0) {
		launch_ended(launch, LAUNCH_NOT_STARTED, failure.text);
		return 0;
	}
	launch->finished = false;
	launch->result.started_ns = clock_realtime_ns();
	return 0;
}

static bool has_ended(void *process)
{
	return process_has_ended(process);
}

static int finish(struct launch *launch, bool stop, struct error *err)
{
	static const enum launch_end ends[] = {
		[PROCESS_EXITED] = LAUNCH_EXITED,
		[PROCESS_SIGNALLED] = LAUNCH_KILLED,
		[PROCESS_TIMED_OUT] = LAUNCH_TIMED_OUT,
		[PROCESS_STOPPED] = LAUNCH_STOPPED,
	};
	struct process_launcher *maker = (struct process_launcher *)launch->launcher;
	struct process_launch *self = (struct process_launch *)launch;
	struct launch_result *result = &launch->result;
	launch->finished = true;
	if (stop)
		process_stop(self->process);
	/* The process has its own deadline and is killed after it. */
	int rc = loop_wait(maker->loop, has_ended, self->process, UINT64_MAX, "end of the program",
			   err);
	if (rc < 0)
		return rc;
	const struct process_result *ended = process_result(self->process);
	text_append(&result->out, text_string(&ended->out), ended->out.size);
	text_append(&result->err, text_string(&ended->err), ended->err.size);
	result->code = ended->code;
	result->run_ms = ended->duration_ms;
	result->finished_ns = result->started_ns + (int64_t)ended->duration_ms * 1000000;
	launch_ended(launch, ends[ended->end], "");
	return result->out.failed || result->err.failed ? error_memory(err) : 0;
}

static void free_launch(struct launch *launch)
{
	struct process_launch *self = (struct process_launch *)launch;
	process_free(self->process);
	free(self);
}

static void free_launcher(struct launcher *launcher)
{
	struct process_launcher *self = (struct process_launcher *)launcher;
	free(self->program_directory);
	free(self);
}

static const struct launcher_class process_class = {
	.launch_size = sizeof(struct process_launch),
	.start = start,
	.finish = finish,
	.free_launch = free_launch,
	.free_launcher = free_launcher,
};

int launcher_process_new(uv_loop_t *loop, const char *program_directory, struct launcher **out,
			 struct error *err)
{
	struct process_launcher *self = calloc(1, sizeof(*self));
	int rc = 0;
	if (self == NULL)
		return error_memory(err);
	self->base.class = &process_class;
	self->base.system = launch_host;
	self->loop = loop;
	if (program_directory == NULL)
		rc = path_beside_program("../libexec/gpucert", &self->program_directory, err);
	else if ((self->program_directory = strdup(program_directory)) == NULL)
		rc = error_memory(err);
	if (rc < 0)
		free_launcher(&self->base);
	else
		*out = &self->base;
	return rc;
}
