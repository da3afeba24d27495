/* SPDX-License-Identifier: MIT */
#include "workloads/visibility/isolate.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ANSWER_MAX = 8 * 1024 * 1024 };

static char *answer(const struct api_driver *api)
{
	cJSON *json CLEANUP_JSON = NULL;

	return isolate_ask(api, &json, NULL) == 0 ? json_print_compact(json) : NULL;
}

__attribute__((noreturn)) static void start_anew(const struct api_driver *api, int fd)
{
	char program[] = "probe-visibility";
	char option[] = "--api";
	char *name = strdup(api->name);
	char *const argv[] = {program, option, name, NULL};

	if (name != NULL && dup2(fd, STDOUT_FILENO) >= 0)
		(void)execve("/proc/self/exe", argv, environ);
	_exit(1);
}

/* The session is not closed and no exit handler runs: what a driver does at its end is not asked.
 */
__attribute__((noreturn)) static void child(const struct api_driver *api, bool anew, pid_t parent,
					    int fd)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (anew)
		start_anew(api, fd);
	const char *text = answer(api);

	_exit(text != NULL && file_write_all(fd, text, strlen(text)) ? 0 : 1);
}

/* Reads until the child closes the pipe. ERROR_TIMEOUT, ERROR_LIMIT, ERROR_IO, ERROR_MEMORY. */
static int read_answer(int fd, uint64_t timeout_ms, struct text *text, struct error *err)
{
	const uint64_t deadline_ms = clock_monotonic_ms() + timeout_ms;
	char chunk[16 * 1024];

	for (;;) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		const uint64_t now_ms = clock_monotonic_ms();
		int count = now_ms < deadline_ms ? poll(&ready, 1, (int)(deadline_ms - now_ms)) : 0;
		ssize_t size = 0;

		if (count < 0 && errno == EINTR)
			continue;
		if (count == 0)
			return error_set(err, ERROR_TIMEOUT,
					 "the driver did not tell its devices within %llu ms",
					 (unsigned long long)timeout_ms);
		size = count < 0 ? -1 : read(fd, chunk, sizeof(chunk));
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return error_system(err, errno, "answer of the enumeration");
		if (size == 0)
			return text->failed ? error_memory(err) : 0;
		text_append(text, chunk, (size_t)size);
		if (text->size > ANSWER_MAX)
			return error_set(err, ERROR_LIMIT, "the answer is longer than %d bytes",
					 ANSWER_MAX);
	}
}

/* Waits for the child and judges how it ended. */
static int reap(pid_t pid, struct error *err)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_system(err, errno, "process of the enumeration");
	if (WIFSIGNALED(status))
		return error_set(
			err, ERROR_REMOTE,
			"the driver was killed by signal %d (%s) when it was asked for its "
			"devices",
			WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) != 0)
		return error_set(
			err, ERROR_REMOTE,
			"the process ended with exit code %d when the driver was asked for "
			"its devices",
			WEXITSTATUS(status));
	return 0;
}

/* Talks to the child to its end. The first thing that went wrong counts. */
static int converse(pid_t pid, int fd, uint64_t timeout_ms, cJSON **out, struct error *reason)
{
	struct text text CLEANUP_TEXT = {0};
	int code = read_answer(fd, timeout_ms, &text, reason);

	if (code != 0)
		(void)kill(pid, SIGKILL);
	int ended = reap(pid, code == 0 ? reason : NULL);

	if (code == 0)
		code = ended;
	if (code == 0)
		code = json_parse(text_string(&text), text.size, out, reason);
	return code;
}

int isolate_run(const struct api_driver *api, uint64_t timeout_ms, bool anew, cJSON **out,
		struct error *err)
{
	const pid_t self = getpid();
	int ends[2] = {-1, -1};

	if (pipe2(ends, O_CLOEXEC) != 0)
		return error_system(err, errno, "pipe");
	int from CLEANUP_FD = ends[0];
	int to CLEANUP_FD = ends[1];
	pid_t pid = fork();

	if (pid < 0)
		return error_system(err, errno, "process of the enumeration");
	if (pid == 0)
		child(api, anew, self, to);
	(void)close(STEAL_FD(to));
	return converse(pid, from, timeout_ms, out, err);
}
