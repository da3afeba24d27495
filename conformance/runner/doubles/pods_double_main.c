/* SPDX-License-Identifier: MIT */
/* pods-double SOCKET [NAMESPACE/POD CONTAINER RESOURCE ID]... -- COMMAND...: serves, runs the command and ends with its exit
 * code. */
#include "base/cleanup.h"
#include "base/process.h"
#include "conformance/runner/doubles/pods_double.h"
#include "rpc/loop.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_BROKEN = 125, DRAIN_MS = 10000 };

static bool has_ended(void *user)
{
	return process_has_ended(user);
}

static int serve(char **words, uv_loop_t *loop, struct pods_double *pods, struct error *err)
{
	struct process *process = NULL;
	char **at = words + 1;
	for (; at[0] != NULL && strcmp(at[0], "--") != 0; at += 4) {
		if (at[1] == NULL || at[2] == NULL || at[3] == NULL)
			return error_set(err, ERROR_ARGUMENT, "a pod has four words");
		pods_double_add(pods, at[0], at[1], at[2], at[3]);
	}
	if (at[0] == NULL || at[1] == NULL)
		return error_set(err, ERROR_ARGUMENT, "no command");
	const struct process_spec spec = {.argv = (const char *const *)at + 1,
					  .inherit_output = true};
	int rc = pods_double_open(pods, loop, words[0], NULL, err);
	if (rc == 0)
		rc = process_start(loop, &spec, &process, err);
	if (rc == 0)
		rc = loop_wait(loop, has_ended, process, UINT64_MAX, "its end", err);
	if (rc == 0)
		rc = process_result(process)->code;
	process_free(process);
	return rc;
}

int main(int argc, char **argv)
{
	struct pods_double pods = {0};
	struct error err = {0};
	uv_loop_t loop;
	if (argc < 2 || loop_open(&loop, &err) < 0)
		return EXIT_BROKEN;
	int rc = serve(argv + 1, &loop, &pods, &err);
	rpc_server_close(pods.server);
	text_free(&pods.answer);
	(void)loop_drain(&loop, DRAIN_MS, NULL);
	if (rc < 0)
		(void)fprintf(stderr, "pods-double: %s\n", err.text);
	return rc < 0 ? EXIT_BROKEN : rc;
}
