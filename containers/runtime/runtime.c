/* SPDX-License-Identifier: MIT */
#include "containers/runtime/runtime.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "containers/images/images.h"
#include "containers/runtime/containerd.h"
#include "containers/runtime/directory.h"
#include "containers/runtime/remains.h"
#include "containers/runtime/runtime_internal.h"
#include "rpc/loop.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	START_TIMEOUT_MS = 30000,
	READY_POLL_MS = 10,
	STOP_GRACE_MS = 2000,
	STOP_TIMEOUT_MS = 15000,
	LOG_TAIL_MAX = 600,
	LOG_MAX = 64 * 1024 * 1024,
};

static const char *runtime_base(const char *base_directory)
{
	return base_directory != NULL ? base_directory : RUNTIME_BASE_DIRECTORY;
}

/* The path goes into a TOML string, unescaped. */
static int runtime_check_base(const char *base, struct error *err)
{
	if (geteuid() != 0)
		return error_set(err, ERROR_PERMISSION, "containers need root");
	if (!path_is_absolute(base))
		return error_set(err, ERROR_ARGUMENT, "%s: base directory is not absolute", base);
	for (const char *at = base; *at != '\0'; at++) {
		if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ')
			return error_set(
				err, ERROR_ARGUMENT,
				"base directory holds a quote, backslash or control character");
	}
	return 0;
}

static int runtime_new(uv_loop_t *loop, const char *base, const char *attach_address,
		       struct runtime **out, struct error *err)
{
	struct runtime *runtime = calloc(1, sizeof(*runtime));
	int rc = 0;

	if (runtime == NULL) {
		error_memory(err);
		return ERROR_MEMORY;
	}
	rc = runtime_check_base(base, err);
	if (rc == 0)
		rc = run_directory_make(base, attach_address, &runtime->directory, err);
	if (rc != 0) {
		free(runtime);
		return rc;
	}
	runtime->loop = loop;
	runtime->work_directory = path_join(runtime->directory, "work");
	runtime->address = attach_address != NULL
				   ? strdup(attach_address)
				   : text_format("unix://%s/containerd.sock", runtime->directory);
	runtime->cgroup_parent =
		attach_address != NULL ? strdup("") : remains_cgroup_parent(runtime->directory);
	*out = runtime;
	if (runtime->work_directory == NULL || runtime->address == NULL ||
	    runtime->cgroup_parent == NULL)
		return error_memory(err);
	runtime->description = (struct runtime_description){
		.is_private = attach_address == NULL,
		.run_id = path_base(runtime->directory),
		.name = "",
		.version = "",
		.api_version = "",
		.snapshotter = "",
		.snapshotter_reason = "",
		.address = runtime->address,
		.cgroup_parent = runtime->cgroup_parent,
		.work_directory = runtime->work_directory,
	};
	return 0;
}

static int runtime_write_config(struct runtime *runtime, const struct runtime_options *options,
				struct error *err)
{
	struct containerd_config config = {
		.directory = runtime->directory,
		.snapshotter = options->snapshotter,
		.pause_image = options->pause_image != NULL ? options->pause_image
							    : IMAGES_PAUSE_REFERENCE,
		.version = runtime->containerd_version,
	};
	char *path CLEANUP_FREE = path_join(runtime->directory, "config.toml");
	struct text toml CLEANUP_TEXT = {0};
	int rc = 0;

	if (config.snapshotter == NULL)
		rc = containerd_choose_snapshotter(runtime->directory, &config.snapshotter,
						   &runtime->snapshotter_reason, err);
	if (rc != 0)
		return rc;
	runtime->snapshotter = strdup(config.snapshotter);
	containerd_config(&config, &toml);
	if (path == NULL || runtime->snapshotter == NULL || toml.failed)
		return error_memory(err);
	runtime->description.snapshotter = runtime->snapshotter;
	if (runtime->snapshotter_reason != NULL)
		runtime->description.snapshotter_reason = runtime->snapshotter_reason;
	return file_write_atomic(path, toml.data, toml.size, 0600, err);
}

/* containerd cannot log into a file by itself, and a pipe that nobody reads would block it. */
static int runtime_spawn(struct runtime *runtime, const char *program, struct error *err)
{
	char *config CLEANUP_FREE = path_join(runtime->directory, "config.toml");
	char *log CLEANUP_FREE = path_join(runtime->directory, "containerd.log");
	const char *const argv[] = {
		"/bin/sh", "-c",   "exec \"$0\" --config \"$1\" >\"$2\" 2>&1 </dev/null",
		program,   config, log,
		NULL,
	};
	const struct process_spec spec = {.argv = argv, .grace_ms = STOP_GRACE_MS};

	if (config == NULL || log == NULL)
		return error_memory(err);
	return process_start(runtime->loop, &spec, &runtime->containerd, err);
}

static bool runtime_has_ended(void *user)
{
	const struct runtime *runtime = user;

	return process_has_ended(runtime->containerd);
}

static int runtime_ended_error(const struct runtime *runtime, struct error *err)
{
	char *path CLEANUP_FREE = path_join(runtime->directory, "containerd.log");
	char *log CLEANUP_FREE = NULL;
	char end[128] = "";
	size_t size = 0;

	process_describe(process_result(runtime->containerd), end, sizeof(end));
	if (path == NULL || file_read(path, LOG_MAX, &log, &size, NULL) < 0 || size == 0)
		return error_set(err, ERROR_UNAVAILABLE, "containerd %s without a word", end);
	return error_set(err, ERROR_UNAVAILABLE, "containerd %s: %s", end,
			 size > LOG_TAIL_MAX ? log + size - LOG_TAIL_MAX : log);
}

static int runtime_wait_ready(struct runtime *runtime, uint64_t timeout_ms, struct error *err)
{
	const char *socket = runtime->address + strlen("unix://");
	uint64_t deadline =
		clock_monotonic_ms() + (timeout_ms != 0 ? timeout_ms : START_TIMEOUT_MS);
	struct error last = {0};

	for (;;) {
		if (loop_wait(runtime->loop, runtime_has_ended, runtime, READY_POLL_MS,
			      "end of containerd", &last) == 0)
			return runtime_ended_error(runtime, err);
		if (file_exists(socket) && runtime_connect(runtime, &last) == 0)
			return 0;
		if (clock_monotonic_ms() >= deadline)
			return error_set(err, ERROR_TIMEOUT, "containerd is not ready: %s",
					 last.text);
	}
}

static int runtime_check_version(const char *program, struct containerd_version *version,
				 struct error *err)
{
	int rc = containerd_probe_version(program, version, err);

	if (rc < 0)
		return rc;
	if (version->major < 1 || (version->major == 1 && version->minor < 6))
		return error_set(err, ERROR_UNSUPPORTED, "containerd %s is older than 1.6",
				 version->text);
	return 0;
}

static int runtime_start_private(struct runtime *runtime, const struct runtime_options *options,
				 struct error *err)
{
	const char *program = options->containerd != NULL ? options->containerd : "containerd";
	uint64_t begin = 0;
	int rc = runtime_check_version(program, &runtime->containerd_version, err);

	if (rc != 0)
		return rc;
	rc = runtime_write_config(runtime, options, err);
	begin = clock_monotonic_ms();
	if (rc == 0)
		rc = runtime_spawn(runtime, program, err);
	if (rc == 0)
		rc = runtime_wait_ready(runtime, options->start_timeout_ms, err);
	runtime->description.start_ms = clock_monotonic_ms() - begin;
	return rc;
}

int runtime_is_offered(struct error *err)
{
	static const char *const programs[] = {"containerd", "ctr", "runc"};
	struct containerd_version version = {0};

	if (geteuid() != 0)
		return error_set(err, ERROR_UNSUPPORTED, "containers need root");
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++) {
		char *path CLEANUP_FREE = NULL;
		int rc = process_find_program(programs[i], &path, err);

		if (rc == ERROR_NOT_FOUND)
			return error_set(err, ERROR_UNSUPPORTED, "%s is not installed",
					 programs[i]);
		if (rc < 0)
			return rc;
	}
	return runtime_check_version("containerd", &version, err);
}

int runtime_start(uv_loop_t *loop, const struct runtime_options *options, struct runtime **out,
		  struct error *err)
{
	const struct runtime_options defaults = {0};
	struct runtime *runtime = NULL;
	int rc = 0;

	if (options == NULL)
		options = &defaults;
	rc = runtime_new(loop, runtime_base(options->base_directory), NULL, &runtime, err);
	if (rc == 0)
		rc = runtime_start_private(runtime, options, err);
	if (rc != 0) {
		(void)runtime_stop(runtime, NULL);
		return error_wrap(err, rc, "private containerd");
	}
	*out = runtime;
	return 0;
}

int runtime_attach(uv_loop_t *loop, const char *address, const char *base_directory,
		   struct runtime **out, struct error *err)
{
	struct runtime *runtime = NULL;
	int rc = runtime_new(loop, runtime_base(base_directory), address, &runtime, err);

	if (rc == 0)
		rc = runtime_connect(runtime, err);
	if (rc != 0) {
		(void)runtime_stop(runtime, NULL);
		return error_wrap(err, rc, "container runtime %s", address);
	}
	*out = runtime;
	return 0;
}

/* TERM and, after the grace period, KILL; the loop runs until it has ended. */
static int runtime_end_containerd(struct runtime *runtime, struct error *err)
{
	int rc = 0;

	if (runtime->containerd == NULL)
		return 0;
	process_stop(runtime->containerd);
	rc = loop_wait(runtime->loop, runtime_has_ended, runtime, STOP_TIMEOUT_MS,
		       "end of containerd", err);
	process_free(runtime->containerd);
	runtime->containerd = NULL;
	return rc;
}

int runtime_stop(struct runtime *runtime, struct error *err)
{
	struct runtime_recovered counts = {0};
	struct error step = {0};
	int result = 0;
	int rc = 0;

	if (runtime == NULL)
		return 0;
	rc = runtime_disconnect(runtime, &step);
	if (rc < 0)
		result = error_copy(err, &step);
	rc = runtime_end_containerd(runtime, &step);
	if (rc < 0 && result == 0)
		result = error_copy(err, &step);
	rc = remains_remove(runtime->directory, &counts, &step);
	if (rc < 0 && result == 0)
		result = error_copy(err, &step);
	run_directory_leave(runtime->directory);
	runtime_free(runtime);
	return result;
}
