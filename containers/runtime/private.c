/* SPDX-License-Identifier: MIT */
/* A containerd of the run's own. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "containers/images/images.h"
#include "containers/runtime/containerd.h"
#include "containers/runtime/remains.h"
#include "containers/runtime/runtime_internal.h"
#include "rpc/loop.h"

#include <string.h>
#include <unistd.h>

enum {
	START_TIMEOUT_MS = 30000,
	READY_POLL_MS = 10,
	STOP_GRACE_MS = 2000,
	LOG_TAIL_MAX = 600,
	LOG_MAX = 64 * 1024 * 1024,
};

static int write_config(struct runtime *runtime, const struct runtime_options *options,
			const char *version, struct error *err)
{
	struct runtime_description *description = &runtime->description;
	struct containerd_config config = {
		.directory = runtime->directory,
		.snapshotter = options->snapshotter,
		.version = version,
	};
	char *path CLEANUP_FREE = path_join(runtime->directory, "config.toml");
	char *reason CLEANUP_FREE = NULL;
	struct text toml CLEANUP_TEXT = {0};
	int rc = 0;
	if (config.snapshotter == NULL)
		rc = containerd_choose_snapshotter(runtime->directory, &config.snapshotter, &reason,
						   err);
	if (rc != 0)
		return rc;
	description->snapshotter = arena_string(&runtime->strings, config.snapshotter);
	description->snapshotter_reason = arena_string(&runtime->strings, reason);
	containerd_config(&config, &toml);
	if (path == NULL || toml.failed)
		return error_memory(err);
	return file_write_atomic(path, toml.data, toml.size, 0600, err);
}

/* containerd cannot log into a file by itself, and a pipe that nobody reads would block it. */
static int spawn(struct runtime *runtime, const char *program, struct error *err)
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

static bool has_ended(void *user)
{
	const struct runtime *runtime = user;
	return process_has_ended(runtime->containerd);
}

static int ended_error(const struct runtime *runtime, struct error *err)
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

static int wait_ready(struct runtime *runtime, uint64_t timeout_ms, struct error *err)
{
	const char *socket = runtime->description.address + strlen("unix://");
	uint64_t deadline =
		clock_monotonic_ms() + (timeout_ms != 0 ? timeout_ms : START_TIMEOUT_MS);
	struct error last = {0};
	for (;;) {
		if (loop_wait(runtime->loop, has_ended, runtime, READY_POLL_MS, "end of containerd",
			      &last) == 0)
			return ended_error(runtime, err);
		if (file_exists(socket) && runtime_connect(runtime, &last) == 0)
			return 0;
		if (clock_monotonic_ms() >= deadline)
			return error_set(err, ERROR_TIMEOUT, "containerd is not ready: %s",
					 last.text);
	}
}

/* Caller frees *version. */
static int check_version(const char *program, char **version, struct error *err)
{
	int rc = containerd_probe_version(program, version, err);
	if (rc == 0 && !cri_version_at_least(*version, 1, 6))
		return error_set(err, ERROR_UNSUPPORTED, "containerd %s is older than 1.6",
				 *version);
	return rc;
}

static int start(struct runtime *runtime, const struct runtime_options *options, struct error *err)
{
	const char *program = options->containerd != NULL ? options->containerd : "containerd";
	char *address CLEANUP_FREE = text_format("unix://%s/containerd.sock", runtime->directory);
	char *cgroup CLEANUP_FREE = remains_cgroup_parent(runtime->directory);
	char *version CLEANUP_FREE = NULL;
	uint64_t begin = 0;
	int rc = address != NULL && cgroup != NULL ? check_version(program, &version, err)
						   : error_memory(err);
	runtime->description.address = arena_string(&runtime->strings, address);
	runtime->description.cgroup_parent = arena_string(&runtime->strings, cgroup);
	if (rc == 0)
		rc = write_config(runtime, options, version, err);
	begin = clock_monotonic_ms();
	if (rc == 0)
		rc = spawn(runtime, program, err);
	if (rc == 0)
		rc = wait_ready(runtime, options->start_timeout_ms, err);
	runtime->description.start_ms = clock_monotonic_ms() - begin;
	return rc;
}

int runtime_is_offered(struct error *err)
{
	static const char *const programs[] = {"containerd", "ctr", "runc"};
	char *version CLEANUP_FREE = NULL;
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
	return check_version("containerd", &version, err);
}

int runtime_start(uv_loop_t *loop, const struct runtime_options *options, struct runtime **out,
		  struct error *err)
{
	struct runtime *runtime = NULL;
	int rc = runtime_new(loop, options->base_directory, NULL, &runtime, err);
	if (rc == 0)
		rc = start(runtime, options, err);
	if (rc != 0) {
		(void)runtime_stop(runtime, NULL);
		return error_wrap(err, rc, "private containerd");
	}
	*out = runtime;
	return 0;
}
