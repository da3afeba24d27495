/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/visibility/visibility.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_answering(struct api_report *report, void *session, struct error *err)
{
	(void)session;
	(void)err;
	for (int i = 0; i < API_DEVICES_MAX; i++) /* more than a pipe holds */
		api_report_device(report, cJSON_CreateString("a device"));
	api_report_message(report, "a message");
	return 0;
}

static int open_crashing(struct api_report *report, void *session, struct error *err)
{
	const struct rlimit none = {0};
	(void)report;
	(void)session;
	(void)err;
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGSEGV, SIG_DFL);
	(void)raise(SIGSEGV);
	return 0;
}

static int open_exiting(struct api_report *report, void *session, struct error *err)
{
	(void)report;
	(void)session;
	(void)err;
	_exit(3);
}

static int open_hanging(struct api_report *report, void *session, struct error *err)
{
	(void)report;
	(void)session;
	(void)err;
	while (getpid() != 0)
		(void)pause();
	return 0;
}

static const struct api_driver apis[] = {
	{.name = "answering", .library = "libvulkan.so.1", .open = open_answering},
	{.name = "crashing", .library = "libvulkan.so.1", .open = open_crashing},
	{.name = "exiting", .library = "libvulkan.so.1", .open = open_exiting},
	{.name = "hanging", .library = "libvulkan.so.1", .open = open_hanging},
};

static const struct api_driver *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(apis); i++) {
		if (strcmp(apis[i].name, name) == 0)
			return &apis[i];
	}
	return NULL;
}

/* What probe-visibility does with --api. */
static int answer(const char *name)
{
	cJSON *json CLEANUP_JSON = isolate_ask(find(name));
	char *text CLEANUP_FREE = json_print_compact(json);
	return text != NULL && puts(text) >= 0 ? 0 : 1;
}

static cJSON *enumerate(const char *name, uint64_t timeout_ms)
{
	cJSON *json = isolate_enumerate(find(name), timeout_ms);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1); /* no child is left */
	return json;
}

static void expect_failed(const cJSON *json, const char *reason)
{
	expect_string(json, "/api/status", "failed");
	expect_string(json, "/api/reason", reason);
	expect_string(json, "/api/loader/library", "libvulkan.so.1");
	expect_count(json, "/devices", 0);
}

static void test_an_answer_comes_through(void)
{
	cJSON *json CLEANUP_JSON = enumerate("answering", 10000);
	expect_string(json, "/api/status", "ok");
	expect_string(json, "/api/messages/0", "a message");
	expect_count(json, "/devices", API_DEVICES_MAX);
}

static void test_a_crash_is_told(void)
{
	cJSON *json CLEANUP_JSON = enumerate("crashing", 10000);
	expect_failed(json, "the driver was killed by signal 11 (Segmentation fault) when it was "
			    "asked for its devices");
}

static void test_an_exit_is_told(void)
{
	cJSON *json CLEANUP_JSON = enumerate("exiting", 10000);
	expect_failed(json, "the process ended with exit code 3 when the driver was asked for its "
			    "devices");
}

static void test_a_hang_is_ended(void)
{
	const uint64_t began_ms = clock_monotonic_ms();
	cJSON *json CLEANUP_JSON = enumerate("hanging", 30);
	expect_failed(json, "the driver did not list its devices within 30 ms");
	CU_ASSERT_TRUE(clock_monotonic_ms() - began_ms >= 30);
}

int main(int argc, char **argv)
{
	CU_TestInfo tests[] = {
		{"an answer comes through", test_an_answer_comes_through},
		{"a crash is told", test_a_crash_is_told},
		{"an exit is told", test_an_exit_is_told},
		{"a hang is ended", test_a_hang_is_ended},
		CU_TEST_INFO_NULL,
	};
	if (argc == 3 && strcmp(argv[1], "--api") == 0)
		return answer(argv[2]);
	return unit_run("isolate", tests);
}
