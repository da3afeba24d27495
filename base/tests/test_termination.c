/* SPDX-License-Identifier: MIT */
#include "base/termination.h"
#include "base/tests/unit.h"

#include <signal.h>
#include <string.h>

#ifdef _WIN32
#include "base/windows/stop_event.h"
#else
#include <sys/wait.h>
#include <unistd.h>
#endif

struct seen {
	struct termination *termination;
	char what[32];
	int count;
};

static void on_request(const char *what, void *user)
{
	struct seen *seen = user;
	(void)snprintf(seen->what, sizeof(seen->what), "%s", what);
	seen->count++;
	termination_close(seen->termination);
}

static void open_on(uv_loop_t *loop, struct seen *seen)
{
	struct error err = {0};
	UNIT_INT(uv_loop_init(loop), 0);
	UNIT_INT(termination_open(loop, on_request, seen, &seen->termination, &err), 0);
	UNIT_STRING(err.text, "");
}

static void run_until_closed(uv_loop_t *loop)
{
	UNIT_INT(uv_run(loop, UV_RUN_DEFAULT), 0);
	UNIT_INT(uv_loop_close(loop), 0);
}

#ifdef _WIN32

static void test_request(void)
{
	struct seen seen = {0};
	uv_loop_t loop;
	open_on(&loop, &seen);
	termination_request_kept("a service stop");
	termination_request_kept("the shutdown of the system");
	run_until_closed(&loop);
	UNIT_STRING(seen.what, "a service stop");
	UNIT_INT(seen.count, 1);
}

static void test_another_process_asks(void)
{
	struct seen seen = {0};
	uv_loop_t loop;
	CU_ASSERT_FALSE(stop_event_set(GetCurrentProcessId()));
	open_on(&loop, &seen);
	CU_ASSERT_TRUE(stop_event_set(GetCurrentProcessId()));
	run_until_closed(&loop);
	UNIT_STRING(seen.what, "the request of another process");
	UNIT_INT(seen.count, 1);
}

static void test_early_request_is_kept(void)
{
	struct seen seen = {0};
	uv_loop_t loop;
	termination_request_kept("a service stop");
	open_on(&loop, &seen);
	run_until_closed(&loop);
	UNIT_STRING(seen.what, "a service stop");
}

UNIT_MAIN("termination", {"a request is told once", test_request},
	  {"another process asks", test_another_process_asks},
	  {"an early request is kept", test_early_request_is_kept})

#else

static void expect_signal(int number, const char *what)
{
	struct seen seen = {0};
	uv_loop_t loop;
	open_on(&loop, &seen);
	UNIT_INT(raise(number), 0);
	run_until_closed(&loop);
	UNIT_STRING(seen.what, what);
	UNIT_INT(seen.count, 1);
}

static void test_signals(void)
{
	expect_signal(SIGTERM, "SIGTERM");
	expect_signal(SIGINT, "SIGINT");
	expect_signal(SIGHUP, "SIGHUP");
	expect_signal(SIGQUIT, "SIGQUIT");
	expect_signal(SIGUSR1, "SIGUSR1");
}

/* As when the program waits for something else than its loop. */
static void test_second_request_does_not_wait(void)
{
	int status = 0;
	pid_t child = fork();
	if (child == 0) {
		struct seen seen = {0};
		uv_loop_t loop;
		open_on(&loop, &seen);
		(void)raise(SIGINT);
		if (seen.count == 0)
			(void)raise(SIGTERM);
		_exit(0);
	}
	UNIT_INT(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void test_nohup_is_respected(void)
{
	struct seen seen = {0};
	uv_loop_t loop;
	CU_ASSERT(signal(SIGHUP, SIG_IGN) == SIG_DFL);
	open_on(&loop, &seen);
	UNIT_INT(raise(SIGHUP), 0);
	UNIT_INT(raise(SIGTERM), 0);
	run_until_closed(&loop);
	UNIT_STRING(seen.what, "SIGTERM");
	CU_ASSERT(signal(SIGHUP, SIG_DFL) == SIG_IGN);
}

UNIT_MAIN("termination", {"signals are told by name", test_signals},
	  {"a second request does not wait", test_second_request_does_not_wait},
	  {"nohup is respected", test_nohup_is_respected})

#endif
