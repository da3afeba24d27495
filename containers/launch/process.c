/* SPDX-License-Identifier: MIT */
/* Programs as processes of the host. */
#include "base/process.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/launch/launcher.h"
#include "rpc/loop.h"

#include <stdlib.h>

/* Unlike a container, a process of the host gets a moment to end its own children. */
enum { KILL_GRACE_MS = 100 };

struct process_launcher {
	struct launcher base;
	uv_loop_t *loop;
};

struct process_launch {
	struct launch base;
	struct process *process;
};

static int start(struct launcher *launcher, struct launch *launch, const struct launch_spec *spec,
		 struct error *err)
{
	static const char *const not_applied[GRANT_KINDS] = {
		[GRANT_MOUNT] = "mounts",
		[GRANT_DEVICE] = "device nodes",
		[GRANT_ANNOTATION] = "annotations",
		[GRANT_CDI_DEVICE] = "CDI devices",
	};
	struct process_launcher *maker = (struct process_launcher *)launcher;
	struct process_launch *self = (struct process_launch *)launch;
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct text_list env CLEANUP_TEXT_LIST = {0};
	struct error failure = {0};
	const char *program = spec->command[0];
	char *helper CLEANUP_FREE = NULL;
	int rc = launch_is_path(launch_host, program) ? 0 : path_of_helper(program, &helper, err);
	launch->finished = rc < 0;
	if (rc < 0)
		return rc;
	text_list_add(&words, helper != NULL ? helper : program);
	for (const char *const *word = spec->command + 1; *word != NULL; word++)
		text_list_add(&words, *word);
	for (size_t i = 0; i < spec->grant.envs.count; i++)
		text_list_addf(&env, "%s=%s", spec->grant.envs.items[i].name,
			       spec->grant.envs.items[i].value);
	for (size_t i = 0; i < GRANT_KINDS; i++) {
		if (not_applied[i] != NULL && spec->grant.lists[i].count > 0)
			text_list_addf(&launch->result.notes,
				       "%zu %s not applied: the program runs on the host",
				       spec->grant.lists[i].count, not_applied[i]);
	}

	const struct process_spec child = {
		.argv = (const char *const *)words.items,
		.env = (const char *const *)env.items,
		.capture_max = LAUNCH_OUTPUT_MAX,
		.timeout_ms = launch->timeout_ms,
		.grace_ms = KILL_GRACE_MS,
	};
	launch->finished = process_start(maker->loop, &child, &self->process, &failure) < 0;
	if (launch->finished)
		launch_ended(launch, LAUNCH_NOT_STARTED, failure.text);
	else
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
	return 0;
}

static void free_launch(struct launch *launch)
{
	struct process_launch *self = (struct process_launch *)launch;
	process_free(self->process);
	free(self);
}

static void free_launcher(struct launcher *launcher)
{
	free(launcher);
}

static const struct launcher_class process_class = {
	.launch_size = sizeof(struct process_launch),
	.start = start,
	.finish = finish,
	.free_launch = free_launch,
	.free_launcher = free_launcher,
};

struct launcher *launcher_process_new(uv_loop_t *loop)
{
	struct process_launcher *self = memory_allocate(1, sizeof(*self));
	self->base.class = &process_class;
	self->base.system = launch_host;
	self->loop = loop;
	return &self->base;
}
