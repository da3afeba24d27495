/* SPDX-License-Identifier: MIT */
#include "conformance/runner/doubles/meta_suite.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#ifdef _WIN32
#include <process.h>
#endif

static void meta_pass(struct check_run *run)
{
	(void)check_expect_int(run, "/answer", 42, 42);
	check_add_time(run, REPORT_PHASE_WAIT, 5000000);
	check_evidence_text(run, "greeting.txt", "hello\n", 6);
	check_note(run, "everything is fine");
}

static void meta_devices(struct check_run *run)
{
	for (int answer = 42; answer >= 41; answer--) {
		check_begin_device(run, "gpu");
		(void)check_expect_int(run, "/answer", answer, 42);
		check_end_device(run, "gpu");
	}
}

static void meta_measures(struct check_run *run)
{
	check_add_watched(run, 2000, 60000);
	check_add_watched(run, 1000, 30000);
	(void)check_expect_at_most(run, "/ms", 4, 5);
	(void)check_expect_random(run, "/nonce", "a1b2", "a1b2");
	(void)check_expect_varying(run, true, "/socket", "a name", "gpu-%d.sock", 7);
}

/* It passes under one kubelet only. */
static void meta_kubelets(struct check_run *run)
{
	bool newer = strcmp(check_kubelet(run), "1.37") == 0;
	const char *path = check_path(run, "socket");
	struct error err = {0};
	int rc = file_exists(path) ? error_set(&err, ERROR_EXISTS, "%s", path)
				   : file_write_atomic(path, "", 0, 0600, &err);
	(void)check_works(run, rc, "a folder of its own", &err);
	(void)check_expect_int(run, "/answer", newer ? 41 : 42, 42);
}

static void meta_fail(struct check_run *run)
{
	(void)check_expect_int(run, "/answer", 41, 42);
	(void)check_expect_text(run, "/name", "right", "right");
}

static void meta_broken(struct check_run *run)
{
	(void)check_expect_int(run, "/answer", 41, 42);
	check_broken(run, "the scale is not calibrated");
}

static void meta_unsupported(struct check_run *run)
{
	check_unsupported(run, "no such API in the container");
}

static void meta_not_applicable(struct check_run *run)
{
	(void)check_expect_int(run, "/answer", 42, 42);
	check_not_applicable(run, "the plugin has no such option");
}

static void meta_silent(struct check_run *run)
{
	(void)run;
}

static void meta_crash(struct check_run *run)
{
	(void)check_expect_int(run, "/before", 1, 1);
#ifdef _WIN32
	RaiseException(EXCEPTION_ACCESS_VIOLATION, EXCEPTION_NONCONTINUABLE, 0, NULL);
#else
	/* As the system would, whatever a sanitizer put there. */
	(void)signal(SIGSEGV, SIG_DFL);
	(void)raise(SIGSEGV);
#endif
}

static void meta_exit(struct check_run *run)
{
	(void)run;
	_exit(0);
}

static void meta_hang(struct check_run *run)
{
	(void)check_expect_int(run, "/before", 1, 1);
	for (;;)
		uv_sleep(1000);
}

static void meta_spam(struct check_run *run)
{
	for (int i = 0; i < 1000000; i++)
		check_note(run, "%2000d", i);
}

/* Leaves a process behind that holds the result pipe's inherited descriptors open. */
static void meta_leak(struct check_run *run)
{
	intptr_t child = -1;
#ifdef _WIN32
	char *program CLEANUP_FREE = NULL;
	if (path_of_program(&program, NULL) == 0)
		child = _spawnl(_P_NOWAIT, program, program, META_SLEEP, NULL);
#else
	child = fork();
	if (child == 0) {
		(void)pause();
		_exit(0);
	}
#endif
	(void)check_expect(run, child > 0, "/child", "started", "pid %d", (int)child);
}

static void meta_hostile(struct check_run *run)
{
	(void)check_expect_text(run, "/na\x1b[31mme", "\xff\xfe</testcase>\n", "plain");
}

/* Names and answers as a hostile plugin or a file would choose them. */
static void meta_escape(struct check_run *run)
{
	check_evidence_text(run, "probe-../../../../escaped\n.txt", "out\n", 4);
	(void)check_expect_int(run, "/answer", 42, 42);
}

static void meta_flood(struct check_run *run)
{
	char *path = calloc(1, 3000001);
	for (int i = 0; i < 10000; i++)
		(void)check_expect(run, true, "path", "there", "/opt/%d", i);
	if (path != NULL)
		(void)check_expect(run, false, "path", "there", "%s",
				   (char *)memset(path, 'p', 3000000));
	for (int i = 0; i < 10000; i++)
		(void)check_expect(run, false, "path", "there", "/missing/%d", i);
	free(path);
}

static void meta_note_argument(void *argument)
{
	check_note(argument, "cleaned up");
}

static void meta_deferred(struct check_run *run)
{
	check_defer(run, meta_note_argument, run);
	(void)check_expect_int(run, "/answer", 42, 42);
}

/* A limit that a check must not reach is long: machines are busy. */
#define META(name, body) META_WITHIN(name, body, 120)
#define META_WITHIN(name, body, seconds)                                                           \
	{                                                                                          \
		.id = "meta." name, .title = "A check that does: " name, .advice = "None.",        \
		.requirement = CHECK_ENV_02, .severity = CHECK_LOW, .revision = 1,                 \
		.timeout_s = (seconds), .run = (body)                                              \
	}

static const struct check checks[] = {
	META("pass", meta_pass),
	META("fail", meta_fail),
	META("broken", meta_broken),
	META("unsupported", meta_unsupported),
	META("not-applicable", meta_not_applicable),
	META("devices", meta_devices),
	META("measures", meta_measures),
	{
		.id = "meta.kubelets",
		.title = "t",
		.advice = "a",
		.severity = CHECK_LOW,
		.revision = 1,
		.timeout_s = 120,
		.each_kubelet = true,
		.run = meta_kubelets,
	},
	META("silent", meta_silent),
	META("crash", meta_crash),
	META("exit", meta_exit),
	META_WITHIN("hang", meta_hang, 2),
	META("spam", meta_spam),
	META("leak", meta_leak),
	META("hostile", meta_hostile),
	META("escape", meta_escape),
	META("flood", meta_flood),
	META("deferred", meta_deferred),
	{
		.id = "meta.impossible",
		.title = "A check whose needs are never met",
		.advice = "None.",
		.requirement = CHECK_ENV_02,
		.severity = CHECK_LOW,
		.revision = 1,
		.timeout_s = 120,
		.needs = {.devices = 1000},
		.run = meta_pass,
	},
	{.id = NULL},
};

static const struct check_suite suite = {
	.name = "meta", .title = "Deliberately bad checks", .checks = checks};

const struct check_suite *const meta_suites[] = {&suite, NULL};
