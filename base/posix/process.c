/* SPDX-License-Identifier: MIT */
/* A child and its group, by signals. */
#include "base/process_internal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool process_child_ask(const struct process_child *child)
{
	/* A stopped process cannot act on SIGTERM. SIGCONT comes first: after SIGTERM it could
	 * cancel the SIGSTOP with which a leak checker in the child attaches to it at exit. */
	(void)kill(-child->id, SIGCONT);
	return kill(-child->id, SIGTERM) == 0;
}

void process_child_kill(const struct process_child *child)
{
	(void)kill(-child->id, SIGKILL);
}

void process_child_reap(struct process_child *child, struct process_result *result)
{
	int status = 0;
	process_child_kill(child);
	while (waitpid(child->id, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFEXITED(status)) {
		result->code = WEXITSTATUS(status);
	} else if (result->end != PROCESS_EXITED) {
		result->code = 128 + WTERMSIG(status);
	} else {
		result->end = PROCESS_SIGNALLED;
		result->code = WTERMSIG(status);
	}
	process_child_release(child);
}

void process_child_release(struct process_child *child)
{
	if (child->id != 0)
		(void)close((int)child->ended);
	child->id = 0;
}

int process_child_signal(const struct process_child *child, int signal, struct error *err)
{
	if (kill(child->id, signal) < 0)
		return error_system(err, errno, "signal %d to process %d", signal, child->id);
	return 0;
}

void process_describe_signal(int code, char *out, size_t size)
{
	(void)snprintf(out, size, "signal %d (%s)", code, strsignal(code));
}
