/* SPDX-License-Identifier: MIT */
#include "base/tests/unit.h"
#include "workloads/tests/expect.h"
#include "workloads/visibility/isolate.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int begin(struct api_report *report, struct error *err)
{
	return api_report_begin(report, "vulkan", "libvulkan.so.1", err);
}

static int open_answering(struct api_report *report, void **session, struct error *err)
{
	int code = begin(report, err);

	*session = NULL;
	for (int i = 0; i < API_DEVICES_MAX; i++) /* more than a pipe holds */
		(void)array_add(report->devices, cJSON_CreateString("a device"));
	api_report_message(report, "a message");
	return code;
}

static int open_crashing(struct api_report *report, void **session, struct error *err)
{
	const struct rlimit none = {0};

	*session = NULL;
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)signal(SIGSEGV, SIG_DFL);
	(void)begin(report, err);
	(void)raise(SIGSEGV);
	return 0;
}

static int open_exiting(struct api_report *report, void **session, struct error *err)
{
	*session = NULL;
	(void)begin(report, err);
	_exit(3);
}

static int open_hanging(struct api_report *report, void **session, struct error *err)
{
	*session = NULL;
	(void)begin(report, err);
	while (getpid() != 0)
		(void)pause();
	return 0;
}

static int open_out_of_memory(struct api_report *report, void **session, struct error *err)
{
	*session = NULL;
	(void)begin(report, err);
	return error_memory(err);
}

static cJSON *enumerate(int (*open)(struct api_report *, void **, struct error *),
			uint64_t timeout_ms)
{
	const struct api_driver api = {.name = "vulkan", .library = "libvulkan.so.1", .open = open};
	struct error err = {0};
	cJSON *json = NULL;

	CU_ASSERT_EQUAL_FATAL(isolate_enumerate(&api, timeout_ms, false, &json, &err), 0);
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
	cJSON *json CLEANUP_JSON = enumerate(open_answering, 10000);

	expect_string(json, "/api/status", "ok");
	expect_string(json, "/api/messages/0", "a message");
	expect_count(json, "/devices", API_DEVICES_MAX);
}

static void test_a_crash_is_told(void)
{
	cJSON *json CLEANUP_JSON = enumerate(open_crashing, 10000);

	expect_failed(json, "the driver was killed by signal 11 (Segmentation fault) when it was "
			    "asked for its devices");
}

static void test_an_exit_is_told(void)
{
	cJSON *json CLEANUP_JSON = enumerate(open_exiting, 10000);

	expect_failed(json, "the process ended with exit code 3 when the driver was asked for its "
			    "devices");
}

static void test_a_hang_is_ended(void)
{
	const uint64_t began_ms = clock_monotonic_ms();
	cJSON *json CLEANUP_JSON = enumerate(open_hanging, 30);

	expect_failed(json, "the driver did not tell its devices within 30 ms");
	CU_ASSERT_TRUE(clock_monotonic_ms() - began_ms >= 30);
}

static void test_a_child_without_memory_is_told(void)
{
	cJSON *json CLEANUP_JSON = enumerate(open_out_of_memory, 10000);

	expect_failed(json, "the process ended with exit code 1 when the driver was asked for its "
			    "devices");
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"an answer comes through", test_an_answer_comes_through},
		{"a crash is told", test_a_crash_is_told},
		{"an exit is told", test_an_exit_is_told},
		{"a hang is ended", test_a_hang_is_ended},
		{"a child without memory is told", test_a_child_without_memory_is_told},
		CU_TEST_INFO_NULL,
	};

	return unit_run("isolate", tests);
}
