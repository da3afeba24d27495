/* SPDX-License-Identifier: MIT */
/* The launcher: from a spec to a running container, which may be held at a FIFO. */
#include "containers/launch/containerd.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/images/images.h"
#include "containers/launch/pod_config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const containerd_gate_paths[LAUNCH_GATES] = {LAUNCH_HOLD_PATH, LAUNCH_PAUSE_PATH};

/* A failure of the runtime is a result. */
static void failed(struct containerd_launch *launch, enum launch_end end, const char *step,
		   const struct error *failure)
{
	/* A runtime that is gone says nothing about the spec. */
	if (end == LAUNCH_FAILED && failure->remote == RPC_UNAVAILABLE)
		end = LAUNCH_LOST;
	launch_ended(&launch->base, end,
		     arena_format(&launch->base.arena, "%s: %s", step, failure->text));
}

static void start_pod(struct containerd_launcher *launcher, struct containerd_launch *launch,
		      struct pod_config *config)
{
	Runtime__V1__ImageStatusResponse *image CLEANUP_CRI_REPLY = NULL;
	struct error failure = {0};
	char *id CLEANUP_FREE = NULL;
	int rc = cri_image_status_wait(launcher->cri, launcher->image, false, &image, &failure);
	if (rc == 0 && image->image == NULL)
		rc = error_set(&failure, ERROR_NOT_FOUND, "%s does not exist", launcher->image);
	if (rc < 0) {
		failed(launch, LAUNCH_NO_SANDBOX, "image", &failure);
		return;
	}
	rc = cri_run_pod_sandbox_wait(launcher->cri, &config->sandbox, launcher->runtime_handler,
				      &launch->sandbox_id, &failure);
	if (rc < 0) {
		failed(launch, LAUNCH_NO_SANDBOX, "pod sandbox", &failure);
		return;
	}
	rc = cri_create_container_wait(launcher->cri, launch->sandbox_id, &config->container,
				       &config->sandbox, &id, &failure);
	if (rc < 0) {
		failed(launch, LAUNCH_FAILED, "container", &failure);
		return;
	}
	launch->base.result.container_id = arena_string(&launch->base.arena, id);
	launch->started = cri_start_container_wait(launcher->cri, id, &failure) == 0;
	if (launch->started)
		return;
	/* runc reports a program that cannot be executed with "exec:" and everything else (mounts, devices,
	 * hooks) differently, hcsshim by the name of the system's call; both as a failed start. */
	bool no_program =
		strstr(failure.text, "unable to start container process: exec:") != NULL ||
		strstr(failure.text, "hcs::System::CreateProcess") != NULL;
	failed(launch, no_program ? LAUNCH_NOT_STARTED : LAUNCH_FAILED, "start", &failure);
}

static int make(struct containerd_launcher *launcher, struct containerd_launch *launch,
		const struct launch_spec *spec, struct error *err)
{
	struct pod_config config CLEANUP_POD_CONFIG = {0};
	struct arena *arena = &launch->base.arena;
	const char *word = spec->command[0];
	if (launch_is_path(launcher->base.system, word))
		launch->program = arena_string(arena, word);
	else if (launcher->base.system == LAUNCH_WINDOWS)
		launch->program = arena_format(arena, IMAGES_WINDOWS_PROGRAM_DIRECTORY "\\%s%s",
					       word, text_ends_with(word, ".exe") ? "" : ".exe");
	else
		launch->program = arena_format(arena, IMAGES_PROGRAM_DIRECTORY "/%s", word);

	uint64_t number = 0;
	int rc = uv_random(NULL, NULL, &number, sizeof(number), 0, NULL);
	if (rc < 0)
		return error_uv(err, rc, "random bytes");
	(void)snprintf(launch->uid, sizeof(launch->uid), "%016llx", (unsigned long long)number);

	/* The runtime does not make the log directory. */
	launch->log_directory =
		arena_format(arena, "%s/%s-%s", launcher->log_directory, spec->name, launch->uid);
	rc = file_make_directories(launch->log_directory, 0700, err);
	for (size_t i = 0; rc == 0 && spec->hold && i < LAUNCH_GATES; i++) {
		launch->gates[i] = arena_format(arena, "%s/%s", launch->log_directory,
						path_base(containerd_gate_paths[i]));
		rc = host_make_fifo(launch->gates[i], err);
	}
	if (rc < 0)
		return rc;
	pod_config_make(&config, launcher, launch, spec);
	start_pod(launcher, launch, &config);
	return 0;
}

static int start(struct launcher *launcher, struct launch *launch, const struct launch_spec *spec,
		 struct error *err)
{
	struct containerd_launcher *maker = (struct containerd_launcher *)launcher;
	struct containerd_launch *self = (struct containerd_launch *)launch;
	const bool windows = launcher->system == LAUNCH_WINDOWS;
	const char *ignored = NULL;
	self->hold_fd = -1;
	if (grant_names_cdi(&spec->grant) && !maker->applies_cdi)
		ignored = "CDI devices";
	else if (windows && spec->grant.devices.count > 0 && !maker->applies_devices)
		ignored = "devices";
	if (ignored != NULL) {
		launch->finished = true;
		launch_ended(launch, LAUNCH_IGNORED,
			     arena_format(&launch->arena, "%s ignores %s%s", maker->runtime,
					  ignored, windows ? " of Windows containers" : ""));
		return 0;
	}

	int rc = make(maker, self, spec, err);
	self->deadline_ms = clock_monotonic_ms() + launch->timeout_ms;
	if (rc == 0 && launch->result.end != LAUNCH_RUNNING)
		rc = containerd_finish(launch, true, err);
	return rc;
}

void containerd_close_hold(struct containerd_launch *launch)
{
	uv_fs_t request;
	if (launch->hold_fd >= 0)
		(void)uv_fs_close(NULL, &request, launch->hold_fd, NULL);
	launch->hold_fd = -1;
}

static int wait_held(struct launch *launch, int64_t *pid, struct error *err)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	const char *fifo = self->gate < LAUNCH_GATES ? self->gates[self->gate] : NULL;
	uint64_t pause_ms = 0;
	bool ended = fifo == NULL;

	/* A FIFO without a reader refuses a writer that does not wait: once it accepts one, the program is held.
	 * There is no event for it. */
	while (!ended && self->hold_fd < 0 && clock_monotonic_ms() < self->deadline_ms) {
		uv_fs_t request;
		int fd = uv_fs_open(NULL, &request, fifo, UV_FS_O_WRONLY | UV_FS_O_NONBLOCK, 0,
				    NULL);
		uv_fs_req_cleanup(&request);
		if (fd >= 0)
			self->hold_fd = fd;
		else if (fd != UV_ENXIO)
			return error_uv(err, fd, "%s", fifo);
		else
			containerd_poll(self, &ended);
		if (fd < 0 && !ended)
			containerd_pause(launch, &pause_ms);
	}
	if (self->hold_fd < 0)
		return 0;
	int rc = cri_container_pid_wait(containerd_cri(launch), launch->result.container_id, pid,
					err);
	return rc == ERROR_NOT_FOUND ? 0 : rc;
}

static int release(struct launch *launch, const char *line, struct error *err)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	char *text CLEANUP_FREE = text_format("%s\n", line);
	if (self->hold_fd < 0)
		return 0;
	/* It fits into the pipe, so it is written whole or not at all. */
	int reason = file_write_all(self->hold_fd, text, strlen(text)) ? 0 : errno;
	const char *fifo = self->gates[self->gate++];
	containerd_close_hold(self);
	/* The time at the gate was not the program's. */
	self->deadline_ms = clock_monotonic_ms() + launch->timeout_ms;
	if (reason == 0 || reason == EPIPE)
		return 0;
	return error_system(err, reason, "%s", fifo);
}

static void free_launcher(struct launcher *launcher)
{
	struct containerd_launcher *self = (struct containerd_launcher *)launcher;
	cri_removals_wait(self->cri);
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
	.wait_held = wait_held,
	.release = release,
	.free_launch = free_launch,
	.free_launcher = free_launcher,
};

int launcher_containerd_new(const struct launcher_containerd_options *options,
			    struct launcher **out, struct error *err)
{
	Runtime__V1__VersionResponse *version CLEANUP_CRI_REPLY = NULL;
	int rc = cri_version_wait(options->cri, &version, err);
	if (rc < 0)
		return rc;
	struct containerd_launcher *self = memory_allocate(1, sizeof(*self));
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
	self->runtime = arena_format(&self->strings, "%s %s", version->runtime_name,
				     version->runtime_version);
	/* containerd passes CDI devices on since 1.7, and so the devices of Windows containers; older ones ignore them
	 * silently. Windows containers have no CDI (containerd internal/cri/opts/spec_nonlinux.go). */
	self->applies_devices = strcmp(version->runtime_name, "containerd") != 0 ||
				cri_version_at_least(version->runtime_version, 1, 7);
	self->applies_cdi = self->applies_devices && self->base.system == LAUNCH_LINUX;
	*out = &self->base;
	return 0;
}
