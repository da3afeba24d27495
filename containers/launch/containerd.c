/* SPDX-License-Identifier: MIT */
#include "containers/launch/containerd.h"

#include "base/cleanup.h"
#include "containers/cri/version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

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
	free(self->run_id);
	free(self->check_id);
	free(self->runtime);
	free(self);
}

static void containerd_free_launch(struct launch *launch)
{
	struct containerd_launch *self = (struct containerd_launch *)launch;

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
	.free_launch = containerd_free_launch,
	.free_launcher = containerd_launcher_free,
};

/* containerd passes CDI devices on since 1.7; before, it ignores them without a word. */
static bool containerd_applies_cdi(const char *version)
{
	unsigned major = 0;
	unsigned minor = 0;

	return cri_parse_version(version, &major, &minor) &&
	       (major > 1 || (major == 1 && minor >= 7));
}

static int containerd_ask_version(struct containerd_launcher *self, struct error *err)
{
	Runtime__V1__VersionResponse *version CLEANUP_CRI_REPLY = NULL;
	int rc = cri_version_wait(self->cri, &version, err);

	if (rc < 0)
		return rc;
	self->runtime = text_format("%s %s", version->runtime_name, version->runtime_version);
	self->applies_cdi = strcmp(version->runtime_name, "containerd") != 0 ||
			    containerd_applies_cdi(version->runtime_version);
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
	self->cri = options->cri;
	self->image = strdup(options->image);
	self->log_directory = strdup(options->log_directory);
	self->cgroup_parent = copy_or_empty(options->cgroup_parent);
	self->run_id = strdup(options->run_id);
	self->check_id = strdup(options->check_id);
	/* Asking for a filter that the kernel cannot have is an error of the runtime's. */
	self->seccomp = !(prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0 && errno == EINVAL);
	if (self->image == NULL || self->log_directory == NULL || self->cgroup_parent == NULL ||
	    self->run_id == NULL || self->check_id == NULL)
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
