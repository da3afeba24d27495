/* SPDX-License-Identifier: MIT */
/* What a process cannot do any more once it is locked up. */
#include "base/tests/unit.h"
#include "tools/verify-video/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMORY = 256 << 20 };

/* Runs `body` in a sandbox of its own; returns its status as of wait(2). */
static int run_locked_up(int (*body)(void))
{
	const struct sandbox_limits limits = {MEMORY, 1};
	int status = -1;
	const pid_t child = fork();
	if (child == 0)
		_exit(sandbox_enter(&limits, NULL) == 0 ? body() : 100);
	CU_ASSERT_FATAL(child > 0 && waitpid(child, &status, 0) == child);
	return status;
}

static void expect_refused(int (*body)(void))
{
	const int status = run_locked_up(body);
	CU_ASSERT_TRUE(WIFEXITED(status));
	UNIT_INT(WEXITSTATUS(status), 0);
}

static int open_file(void)
{
	return open("/etc/passwd", O_RDONLY) < 0 ? 0 : 1;
}

static int start_process(void)
{
	return fork() < 0 ? 0 : 1;
}

static int open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) < 0 && errno == EPERM ? 0 : 1;
}

static int take_memory(void)
{
	return mmap(NULL, 2UL * MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) == MAP_FAILED
		       ? 0
		       : 1;
}

static int become_root(void)
{
	return getuid() != 0 && setuid(0) != 0 ? 0 : 1;
}

static int spin(void)
{
	for (volatile unsigned long i = 0;; i++)
		;
	return 0;
}

static int work(void)
{
	void *memory = malloc(MEMORY / 8);
	return memory != NULL && write(STDOUT_FILENO, "", 0) == 0 ? 0 : 1;
}

static void test_refused(void)
{
	if (UNIT_SANITIZED)
		return; /* sanitizers need what the sandbox takes away */
	expect_refused(open_file);
	expect_refused(start_process);
	expect_refused(open_socket);
	expect_refused(take_memory);
}

static void test_rights_are_dropped(void)
{
	const int status = run_locked_up(become_root);
	if (geteuid() == 0)
		UNIT_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

static void test_time_is_limited(void)
{
	const int status = run_locked_up(spin);
	CU_ASSERT_TRUE(WIFSIGNALED(status));
	CU_ASSERT_TRUE(WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
}

static void test_work_is_possible(void)
{
	const int status = run_locked_up(work);
	UNIT_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
}

UNIT_MAIN("sandbox", {"files, processes, sockets and memory are refused", test_refused},
	  {"rights are dropped", test_rights_are_dropped},
	  {"time is limited", test_time_is_limited}, {"work is possible", test_work_is_possible})
