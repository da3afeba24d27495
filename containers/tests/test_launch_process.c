/* SPDX-License-Identifier: MIT */
/* The launcher without containers. */
#include "base/cleanup.h"
#include "base/tests/unit.h"
#include "containers/grant/tests/entries.h"
#include "containers/launch/launch.h"
#include "rpc/loop.h"

#include <signal.h>
#include <string.h>

#define PROGRAMS       GPUCERT_BINARY_DIR "/tests/container-programs"
#define WORDS(...)     ((const char *const[]){PROGRAMS "/probe-test", __VA_ARGS__, NULL})
#define DRAIN_MS       10000
#define CLEANUP_LAUNCH CLEANUP(launch_cleanup)

static uv_loop_t loop;
static struct launcher *launcher;

static void launch_cleanup(struct launch **launch)
{
	launch_free(*launch);
}

static struct launch *run(const struct launch_spec *spec)
{
	struct launch *launch = NULL;
	CU_ASSERT_EQUAL_FATAL(launch_start(launcher, spec, &launch, NULL), 0);
	UNIT_INT(launch_wait(launch, NULL), 0);
	return launch;
}

static void test_output_environment_and_exit_code(void)
{
	struct grant_entry env = VARIABLE("GPUCERT_X", "a=b c");
	struct launch *launch CLEANUP_LAUNCH =
		run(&(struct launch_spec){.name = "a",
					  .command = WORDS("env=GPUCERT_X", "err=oops", "exit=5"),
					  .grant.envs = {&env, 1}});
	const struct launch_result *result = launch_result(launch);
	UNIT_INT(result->end, LAUNCH_EXITED);
	UNIT_INT(result->code, 5);
	UNIT_STRING(text_string(&result->out), "a=b c\n");
	UNIT_STRING(text_string(&result->err), "oops\n");
	UNIT_INT(result->notes.count, 0);
}

static void test_kills_deadlines_and_stops(void)
{
	struct launch *killed CLEANUP_LAUNCH =
		run(&(struct launch_spec){.name = "a", .command = WORDS("signal=11")});
	struct launch *late CLEANUP_LAUNCH =
		run(&(struct launch_spec){.name = "a", .command = WORDS("hang"), .timeout_ms = 50});
	const struct launch_spec hang = {.name = "a", .command = WORDS("out=x", "exit=0")};
	struct launch *stopped CLEANUP_LAUNCH = NULL;
	UNIT_INT(launch_result(killed)->end, LAUNCH_KILLED);
	UNIT_INT(launch_result(killed)->code, SIGSEGV);
	UNIT_INT(launch_result(late)->end, LAUNCH_TIMED_OUT);
	CU_ASSERT_EQUAL_FATAL(launch_start(launcher, &hang, &stopped, NULL), 0);
	/* Freed while it runs. */
}

static void test_a_missing_program(void)
{
	const char *const words[] = {"probe-nowhere", NULL};
	struct launch *launch CLEANUP_LAUNCH =
		run(&(struct launch_spec){.name = "a", .command = words});
	UNIT_INT(launch_result(launch)->end, LAUNCH_NOT_STARTED);
	UNIT_CONTAINS(launch_result(launch)->reason, "/libexec/gpucert/probe-nowhere");
}

static void test_what_cannot_be_applied_is_said(void)
{
	struct grant_entry mounts[] = {MOUNT("/usr", "/a", true), MOUNT("/etc", "/b", true)};
	struct grant_entry device = DEVICE("/dev/null", "/dev/gpu", "rw");
	struct grant_entry cdi = {.name = "vendor.example/gpu=0"};
	struct launch *launch CLEANUP_LAUNCH = run(&(struct launch_spec){
		.name = "a",
		.command = WORDS("exit=0"),
		.grant.mounts = {mounts, 2},
		.grant.devices = {&device, 1},
		.grant.cdi_devices = {&cdi, 1},
	});
	const struct launch_result *result = launch_result(launch);
	UNIT_INT(result->end, LAUNCH_EXITED);
	CU_ASSERT_EQUAL_FATAL(result->notes.count, 3);
	UNIT_STRING(result->notes.items[0], "2 mounts not applied: the program runs on the host");
	UNIT_CONTAINS(result->notes.items[1], "1 device nodes not applied");
	UNIT_CONTAINS(result->notes.items[2], "1 CDI devices not applied");
}

static void test_bad_specs_are_refused_here_too(void)
{
	struct grant_entry mount = MOUNT("/nonexistent", "/a", true);
	struct launch *launch CLEANUP_LAUNCH = run(&(struct launch_spec){
		.name = "a", .command = WORDS("exit=0"), .grant.mounts = {&mount, 1}});
	UNIT_INT(launch_result(launch)->end, LAUNCH_REFUSED);
	UNIT_CONTAINS(launch_result(launch)->reason, "/nonexistent");
}

static void test_every_end_has_a_sentence(void)
{
	for (int end = LAUNCH_RUNNING; end <= LAUNCH_LOST; end++) {
		char reason[] = "why";
		const struct launch_result result = {.end = (enum launch_end)end, .reason = reason};
		char text[128] = "";
		launch_describe(&result, text, sizeof(text));
		CU_ASSERT_TRUE(strlen(text) > 0);
	}
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"output, environment and exit code", test_output_environment_and_exit_code},
		{"kills, deadlines and stops", test_kills_deadlines_and_stops},
		{"a missing program", test_a_missing_program},
		{"what cannot be applied is said", test_what_cannot_be_applied_is_said},
		{"bad specs are refused here too", test_bad_specs_are_refused_here_too},
		{"every end has a sentence", test_every_end_has_a_sentence},
		CU_TEST_INFO_NULL,
	};
	int result = 0;
	if (uv_loop_init(&loop) < 0)
		return 1;
	launcher = launcher_process_new(&loop);
	result = unit_run("launches on the host", tests);
	launcher_free(launcher);
	return loop_drain(&loop, DRAIN_MS, NULL) == 0 ? result : 1;
}
