/* SPDX-License-Identifier: MIT */
/* The run's private containerd. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "containers/images/images.h"
#include "containers/runtime/remains.h"
#include "containers/runtime/runtime_internal.h"
#include "rpc/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

enum {
	VERSION_TIMEOUT_MS =
		120000, /* for programs that hang: an emulated machine takes its time */
	VERSION_WORD = 2,
	READY_POLL_MS = 10,
	STOP_GRACE_MS = 2000,
	LOG_TAIL_MAX = 600,
	LOG_MAX = 64 * 1024 * 1024,
};

int containerd_parse_version(const char *output, char **out, struct error *err)
{
	struct text_list words CLEANUP_TEXT_LIST = {0};
	const char *word = NULL;
	text_list_split(&words, output, ' ');
	if (words.count > VERSION_WORD && strcmp(words.items[0], "containerd") == 0)
		word = words.items[VERSION_WORD] + (words.items[VERSION_WORD][0] == 'v');
	if (word == NULL || !cri_version_at_least(word, 0, 0))
		return error_set(err, ERROR_FORMAT, "not the version of a containerd");
	*out = memory_copy_start(word, strcspn(word, "\r\n"));
	return 0;
}

/* Caller frees *version. ERROR_NOT_FOUND: no such program. */
static int check_version(const char *program, char **version, struct error *err)
{
	const char *const argv[] = {program, "--version", NULL};
	const struct process_spec spec = {.argv = argv, .timeout_ms = VERSION_TIMEOUT_MS};
	char *output CLEANUP_FREE = NULL;
	int rc = process_ask(&spec, &output, err);
	if (rc == 0)
		rc = containerd_parse_version(output, version, err);
	if (rc < 0)
		return error_wrap(err, rc, "%s --version", program);
	if (!cri_version_at_least(*version, 1, 6))
		return error_set(err, ERROR_UNSUPPORTED, "containerd %s is older than 1.6",
				 *version);
	return 0;
}

int containerd_choose_snapshotter(const char *directory, const char **snapshotter,
				  struct error *err)
{
	static const char *const names[] = {"lower", "upper", "work", "merged"};
	char *trial CLEANUP_FREE = path_join(directory, "overlay-trial");
	char *merged CLEANUP_FREE = path_join(trial, "merged");
	char *data CLEANUP_FREE = text_format("lowerdir=%s/lower,upperdir=%s/upper,workdir=%s/work",
					      trial, trial, trial);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char *path CLEANUP_FREE = path_join(trial, names[i]);
		int rc = file_make_directories(path, 0700, err);
		if (rc < 0)
			return rc;
	}
	*snapshotter = "native";
	if (mount("overlay", merged, "overlay", 0, data) == 0) {
		*snapshotter = "overlayfs";
		(void)umount2(merged, MNT_DETACH);
	}
	return file_remove_tree(trial, err);
}

#define CRI_PLUGIN "plugins.\"io.containerd.grpc.v1.cri\""

/* Disabled: snapshotters that probe for programs and file systems, and plugins that work outside the
 * run's directory: /opt/containerd, the node resource interface's socket, restart monitoring.
 * restrict_oom_score_adj: without CAP_SYS_RESOURCE a score below our own cannot be set, and no
 * sandbox would start. cni: sandboxes use the host's network; the machine's CNI configuration must not
 * be read. */
static const char config_format[] = "version = 2\n"
				    "root = \"%s/root\"\n"
				    "state = \"%s/state\"\n"
				    "oom_score = 0\n"
				    "disabled_plugins = [\n"
				    "\t\"io.containerd.snapshotter.v1.aufs\",\n"
				    "\t\"io.containerd.snapshotter.v1.blockfile\",\n"
				    "\t\"io.containerd.snapshotter.v1.btrfs\",\n"
				    "\t\"io.containerd.snapshotter.v1.devmapper\",\n"
				    "\t\"io.containerd.snapshotter.v1.zfs\",\n"
				    "\t\"io.containerd.internal.v1.opt\",\n"
				    "\t\"io.containerd.internal.v1.restart\",\n"
				    "\t\"io.containerd.internal.v1.tracing\",\n"
				    "\t\"io.containerd.tracing.processor.v1.otlp\",\n"
				    "\t\"io.containerd.nri.v1.nri\",\n"
				    "]\n"
				    "\n[grpc]\n"
				    "address = \"%s/containerd.sock\"\n"
				    "\n[debug]\n"
				    "level = \"warn\"\n"
				    "\n[" CRI_PLUGIN "]\n"
				    "sandbox_image = \"" IMAGES_PAUSE_REFERENCE "\"\n"
				    "restrict_oom_score_adj = true\n"
				    "stream_server_address = \"127.0.0.1\"\n"
				    "stream_server_port = \"0\"\n"
				    "%s"
				    "\n[" CRI_PLUGIN ".cni]\n"
				    "bin_dir = \"%s/cni/bin\"\n"
				    "conf_dir = \"%s/cni/net.d\"\n"
				    "\n[" CRI_PLUGIN ".containerd]\n"
				    "snapshotter = \"%s\"\n"
				    "default_runtime_name = \"runc\"\n";

static const char handler_format[] = "\n[" CRI_PLUGIN ".containerd.runtimes.%s]\n"
				     "runtime_type = \"%s\"\n";
/* For the shim of runc, which starts any program like it. */
static const char handler_options_format[] = "\n[" CRI_PLUGIN ".containerd.runtimes.%s.options]\n"
					     "BinaryName = \"%s\"\n"
					     "Root = \"%s/%s\"\n"
					     "SystemdCgroup = false\n";

static const struct handler {
	const char *name, *type;
	const char *program; /* installed where this handler exists */
	bool is_shim;	     /* the program is the shim itself */
} handlers[] = {
	{"runc", "io.containerd.runc.v2", "runc", false},
	{"crun", "io.containerd.runc.v2", "crun", false},
	{"kata", "io.containerd.kata.v2", "containerd-shim-kata-v2", true},
};

/* No path holds characters that TOML would need escaped: run_directory_make() has checked the base directory, and
 * struct runtime_options requires it of the others. */
char *containerd_config(const char *directory, const char *snapshotter, const char *version,
			const struct text_list *cdi_directories, const struct text_list *installed)
{
	struct text cdi CLEANUP_TEXT = {0};
	struct text toml CLEANUP_TEXT = {0};
	if (cri_version_at_least(version, 1, 7)) {
		size_t count = cdi_directories != NULL ? cdi_directories->count : 0;
		text_add(&cdi, "enable_cdi = true\n");
		for (size_t i = 0; i < count; i++)
			text_addf(&cdi, "%s\"%s\"", i == 0 ? "cdi_spec_dirs = [" : ", ",
				  cdi_directories->items[i]);
		text_add(&cdi, count > 0 ? "]\n" : "");
	}
	text_addf(&toml, config_format, directory, directory, directory, text_string(&cdi),
		  directory, directory, snapshotter);
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		const struct handler *handler = &handlers[i];
		if (!text_list_has(installed, handler->name))
			continue;
		text_addf(&toml, handler_format, handler->name, handler->type);
		if (!handler->is_shim)
			text_addf(&toml, handler_options_format, handler->name, handler->program,
				  directory, handler->name);
	}
	return text_take(&toml);
}

int runtime_find_handlers(struct text_list *names, struct error *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(handlers); i++) {
		char *path CLEANUP_FREE = NULL;
		int rc = process_find_program(handlers[i].program, &path, err);
		if (rc == 0)
			text_list_add(names, handlers[i].name);
		else if (rc != ERROR_NOT_FOUND)
			return rc;
	}
	return 0;
}

/* Writes config.toml and starts the program with it. */
static int start_containerd(struct runtime *runtime, const struct runtime_options *options,
			    const char *program, const char *version, struct error *err)
{
	const char *snapshotter = options->snapshotter;
	char *config CLEANUP_FREE = path_join(runtime->directory, "config.toml");
	char *log CLEANUP_FREE = path_join(runtime->directory, "containerd.log");
	int rc = 0;
	if (snapshotter == NULL)
		rc = containerd_choose_snapshotter(runtime->directory, &snapshotter, err);
	if (rc == 0)
		rc = runtime_find_handlers(&runtime->handlers, err);
	if (rc < 0)
		return rc;
	runtime->description.snapshotter = arena_string(&runtime->strings, snapshotter);
	char *toml CLEANUP_FREE = containerd_config(runtime->directory, snapshotter, version,
						    options->cdi_directories, &runtime->handlers);
	rc = file_write_atomic(config, toml, strlen(toml), 0600, err);
	if (rc < 0)
		return rc;

	/* The shims in the folder of a program that is named by its path come first. */
	char *path CLEANUP_FREE = NULL;
	if (strchr(program, '/') != NULL) {
		const char *inherited = getenv("PATH");
		char *folder CLEANUP_FREE = path_directory(program);
		runtime->programs = realpath(folder, NULL);
		if (runtime->programs == NULL)
			return error_system(err, errno, "%s", folder);
		path = text_format("PATH=%s:%s", runtime->programs,
				   inherited != NULL ? inherited : "");
	}
	/* containerd cannot log into a file by itself, and a pipe that nobody reads would block it. */
	const char *const env[] = {path, NULL};
	const char *const argv[] = {
		"/bin/sh", "-c",   "exec \"$0\" --config \"$1\" >\"$2\" 2>&1 </dev/null",
		program,   config, log,
		NULL,
	};
	const struct process_spec spec = {.argv = argv, .env = env, .grace_ms = STOP_GRACE_MS};
	return process_start(runtime->loop, &spec, &runtime->containerd, err);
}

static int start(struct runtime *runtime, const struct runtime_options *options, struct error *err)
{
	const char *program = options->containerd != NULL ? options->containerd : "containerd";
	const uint64_t timeout_ms =
		options->start_timeout_ms != 0 ? options->start_timeout_ms : RUNTIME_START_MS;
	char *socket CLEANUP_FREE = path_join(runtime->directory, "containerd.sock");
	char *cgroup CLEANUP_FREE = remains_cgroup_parent(runtime->directory);
	char *version CLEANUP_FREE = NULL;
	struct error last = {0};
	runtime->description.address = arena_format(&runtime->strings, "unix://%s", socket);
	runtime->description.cgroup_parent = arena_string(&runtime->strings, cgroup);
	int rc = check_version(program, &version, err);
	if (rc == 0)
		rc = start_containerd(runtime, options, program, version, err);
	if (rc < 0)
		return rc;

	uint64_t deadline = clock_monotonic_ms() + timeout_ms;
	bool ended = false;
	do {
		ended = loop_wait(runtime->loop, runtime_has_ended, runtime, READY_POLL_MS,
				  "end of containerd", &last) == 0;
		if (!ended && file_exists(socket) && runtime_connect(runtime, &last) == 0)
			return 0;
	} while (!ended && clock_monotonic_ms() < deadline);
	if (!ended)
		return error_set(err, ERROR_TIMEOUT, "containerd is not ready: %s", last.text);

	/* The error shows the end of its log. */
	char *path CLEANUP_FREE = path_join(runtime->directory, "containerd.log");
	char *log CLEANUP_FREE = NULL;
	char end[128] = "";
	size_t size = 0;
	process_describe(process_result(runtime->containerd), end, sizeof(end));
	if (file_read(path, LOG_MAX, &log, &size, NULL) < 0 || size == 0)
		return error_set(err, ERROR_UNAVAILABLE, "containerd %s without a word", end);
	return error_set(err, ERROR_UNAVAILABLE, "containerd %s: %s", end,
			 size > LOG_TAIL_MAX ? log + size - LOG_TAIL_MAX : log);
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
