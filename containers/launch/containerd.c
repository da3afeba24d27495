/* SPDX-License-Identifier: MIT */
#include "containers/launch/containerd.h"

#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>

static void free_launcher(struct launcher *launcher)
{
	struct containerd_launcher *self = (struct containerd_launcher *)launcher;
	arena_free(&self->strings);
	free(self);
}

static void free_launch(struct launch *launch)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;
	free(self->program);
	free(self->hold_fifo);
	free(self->sandbox_id);
	free(self->log_directory);
	free(self);
}

static const struct launcher_class containerd_class = {
	.launch_size = sizeof(struct containerd_launch),
	.start = containerd_start,
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
