/* SPDX-License-Identifier: MIT */
#include "tools/gen-device-mounts/launch.h"

#include <signal.h>
#include <uv.h>

enum { STREAMS = 3, SIGNAL_BASE = 128 };

struct launch {
	uv_process_t process;
	uv_signal_t interrupt, terminate;
	int code;
};

static void launch_close(struct launch *launch)
{
	uv_close((uv_handle_t *)&launch->process, NULL);
	uv_close((uv_handle_t *)&launch->interrupt, NULL);
	uv_close((uv_handle_t *)&launch->terminate, NULL);
}

static void on_exit_of(uv_process_t *process, int64_t status, int signal)
{
	struct launch *launch = process->data;

	launch->code = signal != 0 ? SIGNAL_BASE + signal : (int)status;
	launch_close(launch);
}

/* The terminal tells every process of the group, so that there is nothing to do but to live on. */
static void on_interrupt(uv_signal_t *handle, int number)
{
	(void)handle;
	(void)number;
}

static void on_terminate(uv_signal_t *handle, int number)
{
	struct launch *launch = handle->data;

	(void)uv_process_kill(&launch->process, number);
}

static int start(uv_loop_t *loop, const char *const *argv, struct launch *launch)
{
	uv_stdio_container_t streams[STREAMS] = {
		{.flags = UV_INHERIT_FD, .data.fd = 0},
		{.flags = UV_INHERIT_FD, .data.fd = 1},
		{.flags = UV_INHERIT_FD, .data.fd = 2},
	};
	uv_process_options_t options = {
		.exit_cb = on_exit_of,
		.file = argv[0],
		/* libuv reads the strings alone, but has them without const. */
		.args = (char **)(uintptr_t)argv,
		.stdio_count = STREAMS,
		.stdio = streams,
	};

	launch->process.data = launch;
	launch->terminate.data = launch;
	(void)uv_signal_init(loop, &launch->interrupt);
	(void)uv_signal_init(loop, &launch->terminate);
	(void)uv_signal_start(&launch->interrupt, on_interrupt, SIGINT);
	(void)uv_signal_start(&launch->terminate, on_terminate, SIGTERM);
	return uv_spawn(loop, &launch->process, &options);
}

int launch_wait(const char *const *argv, int *code, struct error *err)
{
	struct launch launch = {0};
	uv_loop_t loop = {0};
	int status = uv_loop_init(&loop);

	if (status < 0)
		return error_uv(err, status, "event loop");
	status = start(&loop, argv, &launch);
	if (status < 0)
		launch_close(&launch);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	(void)uv_loop_close(&loop);
	*code = launch.code;
	return status < 0 ? error_uv(err, status, "cannot start '%s'", argv[0]) : 0;
}
