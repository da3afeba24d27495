/* SPDX-License-Identifier: MIT */
/* The launcher, and the way from a spec to a running container. */
#include "containers/launch/containerd.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/images/images.h"
#include "containers/launch/pod_config.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

static int make_uid(char uid[CONTAINERD_UID_SIZE], struct error *err)
{
	uint64_t number = 0;
	int rc = uv_random(NULL, NULL, &number, sizeof(number), 0, NULL);
	if (rc < 0)
		return error_uv(err, rc, "random bytes");
	(void)snprintf(uid, CONTAINERD_UID_SIZE, "%016llx", (unsigned long long)number);
	return 0;
}

/* The runtime does not make it. */
static int make_log_directory(struct containerd_launch *launch, const char *below, const char *name,
			      struct error *err)
{
	launch->log_directory =
		arena_format(&launch->base.arena, "%s/%s-%s", below, name, launch->uid);
	return file_make_directories(launch->log_directory, 0700, err);
}

/* A failure of the runtime's is a result; only our own lack of memory is an error. */
static int failed(struct containerd_launch *launch, enum launch_end end, const char *step,
		  const struct error *failure, struct error *err)
{
	launch_ended(&launch->base, end,
		     arena_format(&launch->base.arena, "%s: %s", step, failure->text));
	return failure->code == ERROR_MEMORY ? error_memory(err) : 0;
}

/* A runtime that is gone says nothing about the spec. */
static enum launch_end end_of_make(const struct error *failure)
{
	return failure->remote == RPC_UNAVAILABLE ? LAUNCH_LOST : LAUNCH_FAILED;
}

/* runc reports a program that cannot be executed with "exec:" and everything else (mounts, devices,
 * hooks) differently, hcsshim by the name of the system's call; both as a failed start. */
static enum launch_end end_of_start(const struct error *failure)
{
	return strstr(failure->text, "unable to start container process: exec:") != NULL ||
			       strstr(failure->text, "hcs::System::CreateProcess") != NULL
		       ? LAUNCH_NOT_STARTED
		       : end_of_make(failure);
}

static int make_pod(struct containerd_launcher *launcher, struct containerd_launch *launch,
		    struct pod_config *config, struct error *err)
{
	Runtime__V1__ImageStatusResponse *image CLEANUP_CRI_REPLY = NULL;
	struct error failure = {0};
	char *id CLEANUP_FREE = NULL;
	int rc = cri_image_status_wait(launcher->cri, launcher->image, false, &image, &failure);
	if (rc == 0 && image->image == NULL)
		rc = error_set(&failure, ERROR_NOT_FOUND, "%s is not there", launcher->image);
	if (rc < 0)
		return failed(launch, LAUNCH_NO_SANDBOX, "image", &failure, err);
	rc = cri_run_pod_sandbox_wait(launcher->cri, &config->sandbox, launcher->runtime_handler,
				      &launch->sandbox_id, &failure);
	if (rc < 0)
		return failed(launch, LAUNCH_NO_SANDBOX, "pod sandbox", &failure, err);
	rc = cri_create_container_wait(launcher->cri, launch->sandbox_id, &config->container,
				       &config->sandbox, &id, &failure);
	if (rc < 0)
		return failed(launch, end_of_make(&failure), "container", &failure, err);
	launch->base.result.container_id = arena_string(&launch->base.arena, id);
	launch->has_container = true;
	rc = cri_start_container_wait(launcher->cri, id, &failure);
	launch->started = rc == 0;
	return rc < 0 ? failed(launch, end_of_start(&failure), "start", &failure, err) : 0;
}

/* The command's first word, as a path in the container. */
static const char *program_path(struct arena *arena, enum launch_system system, const char *word)
{
	if (launch_is_path(system, word))
		return arena_string(arena, word);
	return system == LAUNCH_WINDOWS
		       ? arena_format(arena, IMAGES_WINDOWS_PROGRAM_DIRECTORY "\\%s%s", word,
				      text_ends_with(word, ".exe") ? "" : ".exe")
		       : arena_format(arena, IMAGES_PROGRAM_DIRECTORY "/%s", word);
}

static int make(struct containerd_launcher *launcher, struct containerd_launch *launch,
		const struct launch_spec *spec, struct error *err)
{
	struct pod_config config CLEANUP_POD_CONFIG = {0};
	int rc = make_uid(launch->uid, err);
	launch->program =
		program_path(&launch->base.arena, launcher->base.system, spec->command[0]);
	if (rc == 0)
		rc = make_log_directory(launch, launcher->log_directory, spec->name, err);
	if (rc == 0 && spec->hold)
		rc = containerd_make_hold(launch, err);
	if (rc == 0)
		rc = pod_config_make(&config, launcher, launch, spec, err);
	return rc == 0 ? make_pod(launcher, launch, &config, err) : rc;
}

static int ignored(const struct containerd_launcher *maker, struct launch *launch, const char *what)
{
	launch->finished = true;
	launch_ended(
		launch, LAUNCH_IGNORED,
		arena_format(&launch->arena, "%s ignores %s%s", maker->runtime, what,
			     maker->base.system == LAUNCH_WINDOWS ? " of Windows containers" : ""));
	return 0;
}

static int start(struct launcher *launcher, struct launch *launch, const struct launch_spec *spec,
		 struct error *err)
{
	struct containerd_launcher *maker = (struct containerd_launcher *)launcher;
	struct containerd_launch *self = (struct containerd_launch *)launch;
	self->hold_fd = -1;
	if (grant_names_cdi(&spec->grant) && !maker->applies_cdi)
		return ignored(maker, launch, "CDI devices");
	if (launcher->system == LAUNCH_WINDOWS && spec->grant.devices.count > 0 &&
	    !maker->applies_devices)
		return ignored(maker, launch, "devices");
	int rc = make(maker, self, spec, err);
	self->deadline_ms = clock_monotonic_ms() + launch->timeout_ms;
	if (rc == 0 && launch->result.end != LAUNCH_RUNNING)
		rc = containerd_finish(launch, true, err);
	return rc;
}

static void free_launcher(struct launcher *launcher)
{
	struct containerd_launcher *self = (struct containerd_launcher *)launcher;
	arena_free(&self->strings);
	free(self);
}

static void free_launch(struct launch *launch)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	free(self->sandbox_id);
	free(self);
}

static const struct launcher_class containerd_class = {
	.launch_size = sizeof(struct containerd_launch),
	.start = start,
	.finish = containerd_finish,
	.wait_held = containerd_wait_held,
	.release = containerd_release,
	.free_launch = free_launch,
	.free_launcher = free_launcher,
};

/* containerd passes CDI devices on since 1.7, and so the devices of Windows containers; before, it
 * ignores them without a word. */
static int ask_version(struct containerd_launcher *self, struct error *err)
{
	Runtime__V1__VersionResponse *version CLEANUP_CRI_REPLY = NULL;
	int rc = cri_version_wait(self->cri, &version, err);
	if (rc < 0)
		return rc;
	char *runtime CLEANUP_FREE =
		text_format("%s %s", version->runtime_name, version->runtime_version);
	self->runtime = arena_string(&self->strings, runtime);
	self->applies_devices = strcmp(version->runtime_name, "containerd") != 0 ||
				cri_version_at_least(version->runtime_version, 1, 7);
	/* Windows containers have no CDI (containerd internal/cri/opts/spec_nonlinux.go). */
	self->applies_cdi = self->applies_devices && self->base.system == LAUNCH_LINUX;
	return runtime == NULL || self->strings.failed ? error_memory(err) : 0;
}

int launcher_containerd_new(const struct launcher_containerd_options *options,
			    struct launcher **out, struct error *err)
{
	struct containerd_launcher *self = calloc(1, sizeof(*self));
	if (self == NULL)
		return error_memory(err);
	self->base.class = &containerd_class;
	self->base.system = options->system;
	self->cri = options->cri;
	self->seccomp = host_has_seccomp();
	self->image = arena_string(&self->strings, options->image);
	self->log_directory = arena_string(&self->strings, options->log_directory);
	self->cgroup_parent = arena_string(&self->strings, options->cgroup_parent);
	self->run_id = arena_string(&self->strings, options->run_id);
	self->check_id = arena_string(&self->strings, options->check_id);
	self->runtime_handler = arena_string(&self->strings, options->runtime_handler);
	int rc = ask_version(self, err);
	if (rc < 0)
		free_launcher(&self->base);
	else
		*out = &self->base;
	return rc;
}
