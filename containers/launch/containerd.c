/* SPDX-License-Identifier: MIT */
#include "containers/launch/containerd.h"

#include "base/cleanup.h"
#include "containers/cri/version.h"

#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <errno.h>
#include <sys/prctl.h>
#endif

static char *copy_or_empty(const char *string)
{
	return strdup(string != NULL ? string : "");
}

static void containerd_launcher_free(struct launcher *launcher)
{
	struct containerd_launcher *self = (struct containerd_launcher *)launcher;

	free(self->image);
	free(self->log_directory);
	free(self->cgroup_parent);
	free(self->runtime_handler);
	free(self->run_id);
	free(self->check_id);
	free(self->runtime);
	free(self);
}

static void containerd_free_launch(struct launch *launch)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;

	containerd_close_hold(self);
	free(self->hold_fifo);
	free(self->sandbox_id);
	free(self->log_directory);
	free(self);
}

static const struct launcher_class containerd_class = {
	.name = "containerd",
	.isolates = true,
	.launch_size = sizeof(struct containerd_launch),
	.start = containerd_launch_start,
	.finish = containerd_launch_finish,
	.wait_held = containerd_wait_held,
	.release = containerd_release,
	.free_launch = containerd_free_launch,
	.free_launcher = containerd_launcher_free,
};

/* containerd passes CDI devices on since 1.7, and so the devices of Windows containers; before, it
 * ignores them without a word. */
static bool containerd_is_1_7(const char *version)
{
	unsigned major = 0;
	unsigned minor = 0;

	return cri_parse_version(version, &major, &minor) &&
	       (major > 1 || (major == 1 && minor >= 7));
}

/* Asking for a filter that the kernel cannot have is an error of the runtime's. */
static bool containerd_has_seccomp(void)
{
#ifdef _WIN32
	return false;
#else
	return !(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL);
#endif
}

static int containerd_ask_version(struct containerd_launcher *self, struct error *err)
{
	Runtime__V1__VersionResponse *version CLEANUP_CRI_REPLY = NULL;
	int rc = cri_version_wait(self->cri, &version, err);

	if (rc < 0)
		return rc;
	self->runtime = text_format("%s %s", version->runtime_name, version->runtime_version);
	self->applies_devices = strcmp(version->runtime_name, "containerd") != 0 ||
				containerd_is_1_7(version->runtime_version);
	/* Windows containers have no CDI (containerd internal/cri/opts/spec_nonlinux.go). */
	self->applies_cdi = self->applies_devices && self->base.system == LAUNCH_LINUX;
	return self->runtime != NULL ? 0 : error_memory(err);
}

int launcher_containerd_new(const struct launcher_containerd_options *options,
			    struct launcher **out, struct error *err)
{
	struct containerd_launcher *self = NULL;
	int rc = 0;

	if (options->cri == NULL || options->image == NULL || options->log_directory == NULL ||
	    options->run_id == NULL || options->run_id[0] == '\0' || options->check_id == NULL)
		return error_set(
			err, ERROR_ARGUMENT,
			"containerd launcher without runtime, image, log directory or ids");
	self = calloc(1, sizeof(*self));
	if (self == NULL)
		return error_memory(err);
	self->base.class = &containerd_class;
	self->base.system = launch_system(options->system);
	self->cri = options->cri;
	self->image = strdup(options->image);
	self->log_directory = strdup(options->log_directory);
	self->cgroup_parent = copy_or_empty(options->cgroup_parent);
	self->run_id = strdup(options->run_id);
	self->check_id = strdup(options->check_id);
	self->runtime_handler = copy_or_empty(options->runtime_handler);
	self->seccomp = containerd_has_seccomp();
	if (self->runtime_handler == NULL || self->image == NULL || self->log_directory == NULL ||
	    self->cgroup_parent == NULL || self->run_id == NULL || self->check_id == NULL)
		rc = error_memory(err);
	if (rc == 0)
		rc = containerd_ask_version(self, err);
	if (rc < 0) {
		containerd_launcher_free(&self->base);
		return rc;
	}
	*out = &self->base;
	return 0;
}
