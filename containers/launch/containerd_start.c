/* SPDX-License-Identifier: MIT */
/* From a spec to a running container. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/images/images.h"
#include "containers/launch/containerd.h"
#include "containers/launch/pod_config.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

enum { UID_BYTES = 8, UID_SIZE = 2 * UID_BYTES + 1 };

static int launch_make_uid(char uid[UID_SIZE], struct error *err)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[UID_BYTES] = {0};

	int rc = uv_random(NULL, NULL, bytes, sizeof(bytes), 0, NULL);

	if (rc < 0)
		return error_uv(err, rc, "random bytes");
	for (size_t i = 0; i < sizeof(bytes); i++) {
		uid[2 * i] = digits[bytes[i] >> 4];
		uid[2 * i + 1] = digits[bytes[i] & 15];
	}
	uid[UID_SIZE - 1] = '\0';
	return 0;
}

/* The runtime does not make it. */
static int launch_make_log_directory(struct containerd_launch *launch, const char *below,
				     const char *name, const char *uid, struct error *err)
{
	char *own CLEANUP_FREE = text_format("%s-%s", name, uid);

	launch->log_directory = own != NULL ? path_join(below, own) : NULL;
	if (launch->log_directory == NULL)
		return error_memory(err);
	return file_make_directories(launch->log_directory, 0700, err);
}

/* A failure of the runtime's is a result; only our own lack of memory is an error. */
static int launch_failed(struct containerd_launch *launch, enum launch_end end, const char *step,
			 const struct error *failure, struct error *err)
{
	struct text reason CLEANUP_TEXT = {0};

	if (failure->code == ERROR_MEMORY)
		return error_memory(err);
	text_addf(&reason, "%s: %s", step, failure->text);
	if (reason.failed)
		return error_memory(err);
	return launch_ended(&launch->base, end, text_string(&reason), err);
}

static int launch_check_image(struct containerd_launcher *launcher,
			      struct containerd_launch *launch, const char *image,
			      struct error *err)
{
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	struct error failure = {0};
	int rc = cri_image_status_wait(launcher->cri, image, false, &reply, &failure);

	if (rc == 0 && reply->image == NULL)
		rc = error_set(&failure, ERROR_NOT_FOUND, "%s is not there", image);
	return rc < 0 ? launch_failed(launch, LAUNCH_NO_SANDBOX, "image", &failure, err) : 0;
}

/* A runtime that is gone says nothing about the spec. */
static enum launch_end launch_make_failure(const struct error *failure)
{
	return failure->remote == RPC_UNAVAILABLE ? LAUNCH_LOST : LAUNCH_FAILED;
}

/* runc reports a program that cannot be executed with "exec:" and everything else (mounts, devices,
 * hooks) differently, hcsshim by the name of the system's call; both as a failed start. */
static enum launch_end launch_start_failure(const struct error *failure)
{
	return strstr(failure->text, "unable to start container process: exec:") != NULL ||
			       strstr(failure->text, "hcs::System::CreateProcess") != NULL
		       ? LAUNCH_NOT_STARTED
		       : launch_make_failure(failure);
}

static int launch_make_pod(struct containerd_launcher *launcher, struct containerd_launch *launch,
			   struct pod_config *config, struct error *err)
{
	struct launch_result *result = &launch->base.result;
	struct error failure = {0};
	char *id = NULL;
	int rc = cri_run_pod_sandbox_wait(launcher->cri, &config->sandbox,
					  launcher->runtime_handler, &launch->sandbox_id, &failure);

	if (rc < 0)
		return launch_failed(launch, LAUNCH_NO_SANDBOX, "pod sandbox", &failure, err);
	rc = cri_create_container_wait(launcher->cri, launch->sandbox_id, &config->container,
				       &config->sandbox, &id, &failure);
	if (rc < 0)
		return launch_failed(launch, launch_make_failure(&failure), "container", &failure,
				     err);
	free(result->container_id);
	result->container_id = id;
	launch->has_container = true;
	rc = cri_start_container_wait(launcher->cri, id, &failure);
	if (rc < 0)
		return launch_failed(launch, launch_start_failure(&failure), "start", &failure,
				     err);
	return 0;
}

/* The command's first word, as a path in the container. NULL: out of memory. */
static char *launch_program(enum launch_system system, const char *word)
{
	if (launch_is_path(system, word))
		return strdup(word);
	return system == LAUNCH_WINDOWS
		       ? text_format(IMAGES_WINDOWS_PROGRAM_DIRECTORY "\\%s%s", word,
				     text_ends_with(word, ".exe") ? "" : ".exe")
		       : text_format(IMAGES_PROGRAM_DIRECTORY "/%s", word);
}

static int launch_make(struct containerd_launcher *launcher, struct containerd_launch *launch,
		       const struct launch_spec *spec, struct error *err)
{
	struct pod_config config CLEANUP_POD_CONFIG = {0};
	char uid[UID_SIZE] = "";
	char *program CLEANUP_FREE = launch_program(launcher->base.system, spec->command[0]);
	struct pod_identity identity = {
		.uid = uid,
		.image = spec->image != NULL ? spec->image : launcher->image,
		.program = program,
		.system = launcher->base.system,
		.cgroup_parent = launcher->cgroup_parent,
		.run_id = launcher->run_id,
		.check_id = launcher->check_id,
		.seccomp = launcher->seccomp,
	};
	int rc = program != NULL ? launch_make_uid(uid, err) : error_memory(err);

	if (rc == 0)
		rc = launch_make_log_directory(launch, launcher->log_directory, spec->name, uid,
					       err);
	if (rc == 0 && spec->hold)
		rc = containerd_make_hold(launch, err);
	identity.log_directory = launch->log_directory;
	identity.hold_fifo = launch->hold_fifo;
	if (rc == 0)
		rc = pod_config_make(&config, &identity, spec, err);
	if (rc == 0)
		rc = launch_check_image(launcher, launch, identity.image, err);
	if (rc == 0 && launch->base.result.end == LAUNCH_RUNNING)
		rc = launch_make_pod(launcher, launch, &config, err);
	return rc;
}

static int launch_ignored(const struct containerd_launcher *maker, struct launch *launch,
			  const char *what, struct error *err)
{
	struct text reason CLEANUP_TEXT = {0};

	text_addf(&reason, "%s ignores %s%s", maker->runtime, what,
		  maker->base.system == LAUNCH_WINDOWS ? " of Windows containers" : "");
	launch->finished = true;
	return launch_ended(launch, LAUNCH_IGNORED, text_string(&reason), err);
}

int containerd_launch_start(struct launcher *launcher, struct launch *launch,
			    const struct launch_spec *spec, struct error *err)
{
	struct containerd_launcher *maker = (struct containerd_launcher *)launcher;
	struct containerd_launch *self = (struct containerd_launch *)launch;
	uint64_t cri_begin = cri_time_ms(maker->cri);
	uint64_t begin = clock_monotonic_ms();
	int rc = 0;

	self->hold_fd = -1;
	if (spec->grant.cdi_devices.count > 0 && !maker->applies_cdi)
		return launch_ignored(maker, launch, "CDI devices", err);
	if (launcher->system == LAUNCH_WINDOWS && spec->grant.devices.count > 0 &&
	    !maker->applies_devices)
		return launch_ignored(maker, launch, "devices", err);
	rc = launch_make(maker, self, spec, err);
	launch->result.setup_ms = clock_monotonic_ms() - begin;
	launch->result.cri_ms = cri_time_ms(maker->cri) - cri_begin;
	self->deadline_ms = clock_monotonic_ms() + launch->timeout_ms;
	if (rc == 0 && launch->result.end != LAUNCH_RUNNING)
		rc = containerd_launch_finish(launch, true, err);
	return rc;
}
