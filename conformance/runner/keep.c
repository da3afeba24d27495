/* SPDX-License-Identifier: MIT */
#include "conformance/runner/keep.h"

#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/text.h"
#include "reports/view.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { LOOK_MS = 100 };

#define CONTINUE_FILE "continue"

struct keep {
	uv_poll_t input;
	const struct execution *execution;
};

void keep_release(const struct execution *execution)
{
	char *path CLEANUP_FREE = path_join(execution->spec.directory, CONTINUE_FILE);
	(void)file_write_atomic(path, "", 0, 0600, NULL);
}

void keep_wait(const char *check_directory)
{
	char *path CLEANUP_FREE = path_join(check_directory, CONTINUE_FILE);
	while (!file_exists(path))
		uv_sleep(LOOK_MS);
}

static void on_input(uv_poll_t *input, int status, int events)
{
	struct keep *keep = input->data;
	char letter = '\0';
	(void)events;
	/* At the end of the input nobody is left who could press Enter. */
	if (status != 0 || read(STDIN_FILENO, &letter, 1) <= 0 || letter == '\n') {
		(void)uv_poll_stop(input);
		keep_release(keep->execution);
	}
}

struct keep *keep_open(const struct execution *execution, int plugin_pid)
{
	const struct execution_spec *spec = &execution->spec;
	const char *cri = spec->context->cri_address;
	const char *reason = execution->result.reasons[REPORT_FAIL];
	struct keep *keep = memory_allocate(1, sizeof(*keep));
	struct text text CLEANUP_TEXT = {0};
	text_addf(&text, "\n%s: ", spec->check->id);
	if (reason != NULL)
		view_add_escaped(&text, reason);
	text_addf(&text, "\n  sockets     ls -l %s/dp\n", spec->directory);
	if (plugin_pid != 0)
		text_addf(&text, "  plugin      process %d: ls -l /proc/%d/fd\n", plugin_pid,
			  plugin_pid);
	if (cri[0] != '\0')
		text_addf(&text,
			  "  containers  ctr --address %s --namespace k8s.io tasks list\n"
			  "              ls /proc/PID/root; nsenter --target PID --all\n",
			  text_starts_with(cri, "unix://") ? cri + strlen("unix://") : cri);
	text_add(&text, "Enter continues, Ctrl-C ends the run.\n");
	(void)fputs(text_string(&text), stderr);

	keep->execution = execution;
	keep->input.data = keep;
	if (uv_poll_init(spec->loop, &keep->input, STDIN_FILENO) != 0) {
		(void)fputs(
			"Standard input is neither a terminal nor a pipe: the check continues.\n",
			stderr);
		keep_release(execution);
		free(keep);
		return NULL;
	}
	(void)uv_poll_start(&keep->input, UV_READABLE, on_input);
	return keep;
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

void keep_close(struct keep **keep)
{
	if (*keep != NULL)
		uv_close((uv_handle_t *)&(*keep)->input, on_closed);
	*keep = NULL;
}
