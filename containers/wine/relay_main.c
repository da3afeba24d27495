/* SPDX-License-Identifier: MIT */
/*
 * wine-relay DIRECTORY -- COMMAND...: runs a device plugin under Wine for the kubelet that serves
 * DIRECTORY. {wine-plugin-dir} in COMMAND becomes the directory for the plugin; the
 * environment names it too. Exits with the command's exit code; SIGTERM and SIGINT are passed to it.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/process.h"
#include "base/program.h"
#include "containers/wine/relay.h"
#include "rpc/socket.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_CANNOT = 125, SIGNAL_BASE = 128, DRAIN_MS = 2000 };

#define PLACEHOLDER "{wine-plugin-dir}"

struct relay_program {
	uv_loop_t loop;
	uv_signal_t signals[2];
	struct relay *relay;
	struct process *process;
	char *wine_directory; /* of the plugin; removed at the end */
	int exit_code;
	bool ended;
};

static void on_note(const char *note, void *user)
{
	(void)user;
	(void)fprintf(stderr, "wine-relay: %s\n", note);
}

static void on_end(struct process *process, const struct process_result *result, void *user)
{
	struct relay_program *program = user;
	(void)process;
	program->ended = true;
	program->exit_code =
		result->end == PROCESS_SIGNALLED ? SIGNAL_BASE + result->code : result->code;
}

static void on_signal(uv_signal_t *handle, int number)
{
	struct relay_program *program = handle->data;
	(void)process_signal(program->process, number, NULL);
}

static bool has_ended(void *user)
{
	return ((struct relay_program *)user)->ended;
}

static int open_all(struct relay_program *program, const char *kubelet_directory,
		    char *const *command, struct error *err)
{
	char *absolute CLEANUP_FREE = path_normalize(kubelet_directory);
	char *parent CLEANUP_FREE = path_directory(absolute);
	if (!path_is_absolute(kubelet_directory))
		return error_set(err, ERROR_ARGUMENT, "%s: not absolute", kubelet_directory);
	int rc = file_make_temporary(parent, "wine-", &program->wine_directory, err);
	const struct relay_options options = {
		.directories = {kubelet_directory, program->wine_directory},
		.on_note = on_note,
	};
	if (rc == 0)
		rc = relay_open(&program->loop, &options, &program->relay, err);
	if (rc < 0)
		return rc;

	const char *directory = program->wine_directory;
	struct text_list env CLEANUP_TEXT_LIST = {0};
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct process_spec spec = {.inherit_output = true, .on_end = on_end, .user = program};
	text_list_addf(&env, "DEVICE_PLUGIN_DIR=Z:%s", directory);
	text_list_addf(&env, "PLUGIN_SOCK_DIR=Z:%s", directory);
	text_list_addf(&env, "KUBELET_SOCKET=Z:%s/kubelet.sock", directory);
	for (; *command != NULL; command++) {
		const char *at = strstr(*command, PLACEHOLDER);
		if (at == NULL)
			text_list_add(&words, *command);
		else
			text_list_addf(&words, "%.*sZ:%s%s", (int)(at - *command), *command,
				       directory, at + strlen(PLACEHOLDER));
	}
	spec.argv = (const char *const *)words.items;
	spec.env = (const char *const *)env.items;
	return process_start(&program->loop, &spec, &program->process, err);
}

int main(int argc, char **argv)
{
	struct relay_program program = {0};
	struct error err = {0};
	memory_ends_process(EXIT_CANNOT);
	program_begin(&argc, &argv);
	if (argc < 4 || strcmp(argv[2], "--") != 0) {
		(void)fprintf(stderr, "usage: wine-relay DIRECTORY -- COMMAND...\n");
		return 2;
	}
	socket_ignore_sigpipe();
	if (loop_open(&program.loop, &err) < 0) {
		(void)fprintf(stderr, "wine-relay: %s\n", err.text);
		return EXIT_CANNOT;
	}
	for (size_t i = 0; i < ARRAY_SIZE(program.signals); i++) {
		(void)uv_signal_init(&program.loop, &program.signals[i]);
		program.signals[i].data = &program;
		(void)uv_signal_start(&program.signals[i], on_signal, i == 0 ? SIGTERM : SIGINT);
	}
	int rc = open_all(&program, argv[1], argv + 3, &err);
	while (rc == 0 && !has_ended(&program))
		rc = loop_wait(&program.loop, has_ended, &program, UINT64_MAX,
			       "the end of the plugin", &err);
	if (rc < 0) {
		(void)fprintf(stderr, "wine-relay: %s\n", err.text);
		program.exit_code = EXIT_CANNOT;
	}

	if (program.relay != NULL)
		relay_scan(program.relay); /* for sockets that the plugin removed at its end */
	relay_close(program.relay);
	process_free(program.process);
	for (size_t i = 0; i < ARRAY_SIZE(program.signals); i++)
		uv_close((uv_handle_t *)&program.signals[i], NULL);
	(void)loop_drain(&program.loop, DRAIN_MS, NULL);
	if (program.wine_directory != NULL)
		(void)file_remove_tree(program.wine_directory, NULL);
	free(program.wine_directory);
	return program.exit_code;
}
