/* SPDX-License-Identifier: MIT */
#include "containers/tests/rig.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/runtime/runtime.h"
#include "rpc/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DRAIN_MS = 300000 };

static void rig_need(int rc, const char *what, const struct error *err)
{
	if (rc == 0)
		return;
	(void)fprintf(stderr, "%s: %s\n", what, err->text);
	exit(1);
}

const char *rig_reason_to_skip(void)
{
	if (geteuid() != 0)
		return "needs root";
	return runtime_is_offered(NULL) < 0 ? "needs containerd" : NULL;
}

#define RIG_PREFIX "gpucert-test-"

enum { RIG_BASES_MAX = 4, RIG_BASE_SIZE = 64 };

/* A living test may be about to recover by itself. `name` begins with its process id. */
static bool rig_is_dead(const char *name)
{
	pid_t pid = (pid_t)strtol(name, NULL, 10);
	return pid > 0 && kill(pid, 0) < 0 && errno == ESRCH;
}

const char *rig_base(const char *name)
{
	static char bases[RIG_BASES_MAX][RIG_BASE_SIZE];
	static size_t count;
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	rig_need(file_list("/run", &names, &err), "/run", &err);
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = path_join("/run", names.items[i]);
		const struct runtime_recovery recovery = {.base_directory = path};
		size_t recovered = 0;
		if (text_starts_with(names.items[i], RIG_PREFIX) &&
		    rig_is_dead(names.items[i] + strlen(RIG_PREFIX)))
			(void)runtime_recover(&recovery, &recovered, NULL);
	}
	if (count == RIG_BASES_MAX)
		abort();
	(void)snprintf(bases[count], RIG_BASE_SIZE, "/run/" RIG_PREFIX "%d-%s", (int)getpid(),
		       name);
	return bases[count++];
}

const char *rig_program_directory(void)
{
	return GPUCERT_BINARY_DIR "/tests/container-programs";
}

void rig_open(struct rig *rig, const char *base_directory)
{
	rig_open_with(rig, base_directory, rig_program_directory());
}

void rig_open_with(struct rig *rig, const char *base_directory, const char *program_directory)
{
	const struct runtime_options options = {.base_directory = base_directory};
	struct launcher_containerd_options launcher = {.check_id = "test"};
	const struct runtime_description *description = NULL;
	struct error err = {0};
	rig_need(uv_loop_init(&rig->loop), "loop", &err);
	rig_need(runtime_start(&rig->loop, &options, &rig->runtime, &err), "start", &err);
	description = runtime_describe(rig->runtime);
	rig_need(images_prepare(description->work_directory, program_directory, &rig->images, &err),
		 "images", &err);
	const char *const references[] = {rig->images.probe.reference, IMAGES_PAUSE_REFERENCE,
					  NULL};
	rig_need(runtime_import(rig->runtime, rig->images.archive, references, &err), "import",
		 &err);
	launcher.cri = runtime_cri(rig->runtime);
	launcher.image = rig->images.probe.reference;
	launcher.log_directory = description->work_directory;
	launcher.cgroup_parent = description->cgroup_parent;
	launcher.run_id = description->run_id;
	rig_need(launcher_containerd_new(&launcher, &rig->launcher, &err), "launcher", &err);
}

void rig_close(struct rig *rig)
{
	struct error err = {0};
	launcher_free(rig->launcher);
	images_free(&rig->images);
	rig_need(runtime_stop(rig->runtime, &err), "stop", &err);
	rig_need(loop_drain(&rig->loop, DRAIN_MS, &err), "drain", &err);
}

struct launch *rig_run(struct rig *rig, const struct launch_spec *spec)
{
	struct launch *launch = NULL;
	struct error err = {0};
	rig_need(launch_start(rig->launcher, spec, &launch, &err), "launch", &err);
	rig_need(launch_wait(launch, &err), "wait", &err);
	return launch;
}
