/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "base/termination.h"
#include "conformance/kubelet/doubles/scripted_plugin.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* scripted-plugin SCRIPT [PLUGIN-DIR [KUBELET-SOCKET [REGISTRY-DIR]]] */

enum { EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct program {
	uv_loop_t loop;
	struct termination *termination;
	uv_timer_t timer;
	uv_idle_t idle;
	struct script_file file;
	struct scripted_plugin *plugins[64];
	size_t plugin_count;
};

static void on_note(const char *line, void *user)
{
	(void)user;
	log_info("%s", line);
}

static void program_stop(struct program *program)
{
	for (size_t i = 0; i < program->plugin_count; i++)
		scripted_plugin_free(program->plugins[i]);
	program->plugin_count = 0;
	uv_stop(&program->loop);
}

static void on_request(const char *what, void *user)
{
	struct program *program = user;
	log_info("%s", what);
	switch (program->file.on_sigterm) {
	case SCRIPT_SIGNAL_STOP:
		program_stop(program);
		break;
	case SCRIPT_SIGNAL_IGNORE:
		break;
	case SCRIPT_SIGNAL_DIE:
		(void)signal(SIGTERM, SIG_DFL);
		(void)raise(SIGTERM);
		break;
	case SCRIPT_SIGNAL_LEAVE_SOCKET:
		_exit(program->file.exit_code);
	}
}

static void on_exit_time(uv_timer_t *timer)
{
	program_stop(timer->data);
}

static void on_idle(uv_idle_t *idle)
{
	(void)idle;
}

static void write_output(const struct script_file *file)
{
	if (file->output != NULL)
		(void)fputs(file->output, stdout);
	for (uint64_t i = 0; i < file->binary_output; i++)
		(void)putchar((int)(i & 0xff));
	(void)fflush(stdout);
	for (uint64_t i = 0; i < file->log_lines; i++)
		(void)fprintf(stderr, "log line %llu\n", (unsigned long long)i);
}

static const char *setting(int argc, char **argv, int index, const char *name, const char *standard)
{
	if (argc > index)
		return argv[index];
	const char *value = getenv(name);
	return value != NULL ? value : standard;
}

static int program_start(struct program *program, int argc, char **argv, struct error *err)
{
	const struct scripted_plugin_options options = {
		.plugin_dir = setting(argc, argv, 2, "DEVICE_PLUGIN_DIR",
				      "/var/lib/kubelet/device-plugins"),
		.kubelet_socket = setting(argc, argv, 3, "KUBELET_SOCKET", NULL),
		.registry_dir = setting(argc, argv, 4, "PLUGINS_REGISTRY_DIR",
					"/var/lib/kubelet/plugins_registry"),
		.on_note = on_note,
	};
	if (program->file.plugin_count > ARRAY_SIZE(program->plugins))
		return error_set(err, ERROR_LIMIT, "more than %zu plugins",
				 ARRAY_SIZE(program->plugins));
	for (size_t i = 0; i < program->file.plugin_count; i++) {
		int rc = scripted_plugin_start(&program->loop, &program->file.plugins[i], &options,
					       &program->plugins[i], err);
		if (rc != 0)
			return rc;
		program->plugin_count++;
	}
	return 0;
}

static void program_init(struct program *program)
{
	(void)uv_loop_init(&program->loop);
	(void)uv_timer_init(&program->loop, &program->timer);
	program->timer.data = program;
	(void)termination_open(&program->loop, on_request, program, &program->termination, NULL);
	(void)uv_idle_init(&program->loop, &program->idle);
	if (program->file.spin)
		(void)uv_idle_start(&program->idle, on_idle);
	if (program->file.exit_after_ms >= 0)
		(void)uv_timer_start(&program->timer, on_exit_time,
				     (uint64_t)program->file.exit_after_ms, 0);
}

int main(int argc, char **argv)
{
	static struct program program;
	struct error err = {0};
	cJSON *json CLEANUP_JSON = NULL;
	log_set_program("scripted-plugin");
	if (argc < 2 || argc > 5 || strcmp(argv[1], "--help") == 0) {
		(void)printf(
			"usage: scripted-plugin SCRIPT [PLUGIN-DIR [KUBELET-SOCKET "
			"[REGISTRY-DIR]]]\n\nA device plugin that does what a JSON file says, "
			"for tests. What is not given is taken from\nDEVICE_PLUGIN_DIR, "
			"KUBELET_SOCKET, PLUGINS_REGISTRY_DIR, or is the kubelet's standard.\n\n");
		for (const char *const *part = script_help(); *part != NULL; part++)
			(void)fputs(*part, stdout);
		return argc == 2 ? 0 : EXIT_USAGE;
	}
	int rc = json_read_file(argv[1], &json, &err);
	if (rc == 0)
		rc = script_file_read(json, &program.file, &err);
	if (rc != 0) {
		log_error("%s", err.text);
		return EXIT_USAGE;
	}
	write_output(&program.file);
	program_init(&program);
	rc = program_start(&program, argc, argv, &err);
	if (rc == 0)
		(void)uv_run(&program.loop, UV_RUN_DEFAULT);
	else
		log_error("%s", err.text);
	int code = rc == 0 ? program.file.exit_code : EXIT_FAILED;
	program_stop(&program);
	script_file_free(&program.file);
	return code;
}
