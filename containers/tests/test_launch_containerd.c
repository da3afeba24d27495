/* SPDX-License-Identifier: MIT */
/* Real containers in a private containerd: every way in which a launch can end. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/grant/tests/entries.h"
#include "containers/inspect/inspect.h"
#include "containers/tests/rig.h"
#include "rpc/loop.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct rig rig;

#define CLEANUP_LAUNCH CLEANUP(launch_cleanup)

static void launch_cleanup(struct launch **launch)
{
	launch_free(*launch);
}

#define WORDS(...) ((const char *const[]){"probe-test", __VA_ARGS__, NULL})

static struct launch *run_words(const char *const *words)
{
	return rig_run(&rig, &(struct launch_spec){.name = "test", .command = words});
}

static size_t count_sandboxes(void)
{
	Runtime__V1__ListPodSandboxRequest request = RUNTIME__V1__LIST_POD_SANDBOX_REQUEST__INIT;
	Runtime__V1__ListPodSandboxResponse *list CLEANUP_CRI_REPLY = NULL;
	cri_removals_wait(runtime_cri(rig.runtime));
	CU_ASSERT_EQUAL_FATAL(cri_call_wait(runtime_cri(rig.runtime), "ListPodSandbox",
					    &request.base, &list, NULL),
			      0);
	return list->n_items;
}

static void expect_nothing_left(const struct launch_result *result)
{
	UNIT_INT(result->notes.count, 0);
	UNIT_INT(count_sandboxes(), 0);
}

static void test_output_and_exit_code(void)
{
	struct launch *launch CLEANUP_LAUNCH =
		run_words(WORDS("out=hello", "err=oops", "partial=rest", "exit=7"));
	const struct launch_result *result = launch_result(launch);
	UNIT_INT(result->end, LAUNCH_EXITED);
	UNIT_INT(result->code, 7);
	UNIT_STRING(text_string(&result->out), "hello\nrest");
	UNIT_STRING(text_string(&result->err), "oops\n");
	CU_ASSERT_TRUE(result->finished_ns >= result->started_ns && result->started_ns > 0);
	CU_ASSERT_TRUE(cri_time_ms(runtime_cri(rig.runtime)) > 0);
	expect_nothing_left(result);
}

static void test_a_crash_is_a_kill(void)
{
	struct launch *launch CLEANUP_LAUNCH = run_words(WORDS("out=before", "crash"));
	const struct launch_result *result = launch_result(launch);
	char text[128] = "";
	UNIT_INT(result->end, LAUNCH_KILLED);
	UNIT_INT(result->code, SIGSEGV);
	UNIT_STRING(text_string(&result->out), "before\n");
	launch_describe(result, text, sizeof(text));
	UNIT_STRING(text, "killed by signal 11 (Segmentation fault)");
	expect_nothing_left(result);
}

/* PID 1 ignores the signal that abort() raises, and dies of the instruction behind it. */
/* While it waits, the host sees the program that the image holds; it goes on with what it is told.
 */
static void test_a_held_program(void)
{
	const struct launch_spec spec = {
		.name = "held",
		.command = WORDS("out=before", "cat=" LAUNCH_HOLD_PATH, "exit=3"),
		.hold = true,
	};
	struct container_view view CLEANUP_CONTAINER_VIEW = {0};
	struct text_list differences CLEANUP_TEXT_LIST = {0};
	struct launch *launch CLEANUP_LAUNCH = NULL;
	struct error err = {0};
	int64_t pid = 0;
	UNIT_INT(launch_start(rig.launcher, &spec, &launch, &err), 0);
	UNIT_INT(launch_wait_held(launch, &pid, &err), 0);
	CU_ASSERT_TRUE_FATAL(pid > 1);
	UNIT_INT(container_inspect(pid, NULL, &view, &err), 0);
	UNIT_STRING(view.exe, IMAGES_PROGRAM_DIRECTORY "/probe-test");
	UNIT_STRING(view.exe_digest,
		    image_manifest_find(&rig.images.probe.manifest, view.exe)->digest);
	UNIT_INT(container_compare(&view, &rig.images.probe.manifest, &differences, &err), 0);
	UNIT_INT(differences.count, 0);
	UNIT_INT(view.capabilities, 0);
	CU_ASSERT_TRUE(view.no_new_privileges);
	UNIT_INT(launch_release(launch, "go on", &err), 0);
	UNIT_INT(launch_wait(launch, &err), 0);
	UNIT_INT(launch_result(launch)->end, LAUNCH_EXITED);
	UNIT_INT(launch_result(launch)->code, 3);
	UNIT_STRING(text_string(&launch_result(launch)->out), "before\ngo on\n");
	expect_nothing_left(launch_result(launch));
}

/* It waits a second time, is killed there, and what it said is kept; another one ends instead. */
static void test_held_twice(void)
{
	const char *const twice[] = {"probe-test", "cat=" LAUNCH_HOLD_PATH,
				     "cat=" LAUNCH_PAUSE_PATH, "out=never", NULL};
	const char *const once[] = {"probe-test", "cat=" LAUNCH_HOLD_PATH, "exit=5", NULL};
	const char *const *const commands[] = {twice, once};
	const enum launch_end wanted[] = {LAUNCH_STOPPED, LAUNCH_EXITED};
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct launch_spec spec = {
			.name = "held", .command = commands[i], .hold = true};
		struct launch *launch CLEANUP_LAUNCH = NULL;
		int64_t pid = 0;
		UNIT_INT(launch_start(rig.launcher, &spec, &launch, NULL), 0);
		UNIT_INT(launch_wait_held(launch, &pid, NULL), 0);
		UNIT_INT(launch_release(launch, "go on", NULL), 0);
		UNIT_INT(launch_wait_held(launch, &pid, NULL), 0);
		UNIT_INT(pid > 1, i == 0);
		UNIT_INT(launch_stop(launch, NULL), 0);
		UNIT_INT(launch_result(launch)->end, wanted[i]);
		UNIT_STRING(text_string(&launch_result(launch)->out), "go on\n");
		expect_nothing_left(launch_result(launch));
	}
}

/* A program that never waits, and one that is not even started. */
static void test_nobody_is_held(void)
{
	const char *const ends[] = {"probe-test", "exit=4", NULL};
	const char *const absent[] = {"probe-absent", NULL};
	const char *const *const commands[] = {ends, absent};
	const enum launch_end wanted[] = {LAUNCH_EXITED, LAUNCH_NOT_STARTED};
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct launch_spec spec = {
			.name = "held", .command = commands[i], .hold = true};
		struct launch *launch CLEANUP_LAUNCH = NULL;
		int64_t pid = 0;
		UNIT_INT(launch_start(rig.launcher, &spec, &launch, NULL), 0);
		UNIT_INT(launch_wait_held(launch, &pid, NULL), 0);
		UNIT_INT(pid, 0);
		UNIT_INT(launch_release(launch, "go on", NULL), 0);
		UNIT_INT(launch_wait(launch, NULL), 0);
		UNIT_INT(launch_result(launch)->end, wanted[i]);
	}
}

static void test_abort_of_pid_one(void)
{
	struct launch *launch CLEANUP_LAUNCH = run_words(WORDS("abort"));
	UNIT_INT(launch_result(launch)->end, LAUNCH_KILLED);
	UNIT_INT(launch_result(launch)->code, SIGSEGV);
}

/* What only reads like the words of runc's init. */
static void test_a_program_that_speaks_of_exec(void)
{
	const char *const words[] = {"probe-test", "err=exec went well", NULL};
	struct launch *launch CLEANUP_LAUNCH = run_words(words);
	UNIT_INT(launch_result(launch)->end, LAUNCH_EXITED);
	UNIT_INT(launch_result(launch)->code, 0);
}

static void test_a_program_that_is_not_there(void)
{
	static const char *const commands[] = {"probe-nowhere", "/nowhere/at/all", "/etc/passwd",
					       "/tmp"};
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		const char *const words[] = {commands[i], NULL};
		struct launch *launch CLEANUP_LAUNCH = run_words(words);
		const struct launch_result *result = launch_result(launch);
		UNIT_INT(result->end, LAUNCH_NOT_STARTED);
		UNIT_CONTAINS(result->reason, path_base(commands[i]));
		expect_nothing_left(result);
	}
}

/* A script without a first line is no program for the kernel. */
static void test_a_file_that_is_no_program(void)
{
	char *script CLEANUP_FREE =
		path_join(runtime_describe(rig.runtime)->work_directory, "text");
	struct grant_entry mount = MOUNT(script, "/script", true);
	const char *const words[] = {"/script", NULL};
	struct launch *launch CLEANUP_LAUNCH = NULL;
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(script, "not a program\n", 14, 0755, NULL), 0);
	launch = rig_run(&rig, &(struct launch_spec){.name = "test",
						     .command = words,
						     .grant.mounts = {&mount, 1}});
	UNIT_INT(launch_result(launch)->end, LAUNCH_NOT_STARTED);
	UNIT_CONTAINS(launch_result(launch)->reason, "exec");
	expect_nothing_left(launch_result(launch));
}

static void test_an_unknown_image(void)
{
	const struct launcher_containerd_options options = {
		.cri = runtime_cri(rig.runtime),
		.image = "docker.io/gpucert/probe:nowhere",
		.log_directory = runtime_describe(rig.runtime)->work_directory,
		.run_id = "run",
		.check_id = "check",
	};
	const struct launch_spec spec = {.name = "test", .command = WORDS("out=x")};
	struct launcher *launcher = NULL;
	struct launch *launch = NULL;
	CU_ASSERT_EQUAL_FATAL(launcher_containerd_new(&options, &launcher, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(launch_start(launcher, &spec, &launch, NULL), 0);
	UNIT_INT(launch_wait(launch, NULL), 0);
	UNIT_INT(launch_result(launch)->end, LAUNCH_NO_SANDBOX);
	UNIT_CONTAINS(launch_result(launch)->reason, "docker.io/gpucert/probe:nowhere");
	expect_nothing_left(launch_result(launch));
	launch_free(launch);
	launcher_free(launcher);
}

/* Two mounts that cannot both be made: the runtime, not we, says no. */
static void test_a_mount_that_the_runtime_refuses(void)
{
	struct grant_entry mount = MOUNT("/proc", "/etc/passwd", true);
	struct launch *launch CLEANUP_LAUNCH =
		rig_run(&rig, &(struct launch_spec){.name = "test",
						    .command = WORDS("out=x"),
						    .grant.mounts = {&mount, 1}});
	const struct launch_result *result = launch_result(launch);
	UNIT_INT(result->end, LAUNCH_FAILED);
	UNIT_CONTAINS(result->reason, "/etc/passwd");
	expect_nothing_left(result);
}

static void test_a_missing_mount_source_is_refused(void)
{
	struct grant_entry mounts[] = {MOUNT("/nonexistent-gpucert/one", "/a", true),
				       MOUNT("/nonexistent-gpucert/two", "/b", true)};
	struct launch *launch CLEANUP_LAUNCH =
		rig_run(&rig, &(struct launch_spec){.name = "test",
						    .command = WORDS("out=x"),
						    .grant.mounts = {mounts, 2}});
	const struct launch_result *result = launch_result(launch);
	UNIT_INT(result->end, LAUNCH_REFUSED);
	UNIT_CONTAINS(result->reason, "/nonexistent-gpucert/one");
	UNIT_CONTAINS(result->reason, "/nonexistent-gpucert/two");
	CU_ASSERT_FALSE(file_exists("/nonexistent-gpucert"));
	expect_nothing_left(result);
}

static void test_cdi_is_refused_where_it_would_be_ignored(void)
{
	struct grant_entry device = {.name = "vendor.example/gpu=0"};
	struct launch *launch CLEANUP_LAUNCH =
		rig_run(&rig, &(struct launch_spec){.name = "test",
						    .command = WORDS("out=x"),
						    .grant.cdi_devices = {&device, 1}});
	const struct launch_result *result = launch_result(launch);
	/* 1.6 ignores them, later versions do not know this device. */
	if (text_starts_with(runtime_describe(rig.runtime)->version, "1.6")) {
		UNIT_INT(result->end, LAUNCH_IGNORED);
		UNIT_CONTAINS(result->reason, "ignores CDI devices");
	} else {
		UNIT_INT(result->end, LAUNCH_FAILED);
		UNIT_CONTAINS(result->reason, "vendor.example/gpu");
	}
}

static void test_a_deadline(void)
{
	struct launch *launch CLEANUP_LAUNCH =
		rig_run(&rig, &(struct launch_spec){.name = "test",
						    .command = WORDS("out=waiting", "hang"),
						    .timeout_ms = 200});
	const struct launch_result *result = launch_result(launch);
	UNIT_INT(result->end, LAUNCH_TIMED_OUT);
	UNIT_STRING(text_string(&result->out), "waiting\n");
	CU_ASSERT_TRUE(result->run_ms >= 190 && result->run_ms < 20000);
	expect_nothing_left(result);
}

static void test_endless_output_is_bounded(void)
{
	struct launch *launch CLEANUP_LAUNCH =
		rig_run(&rig, &(struct launch_spec){.name = "test", .command = WORDS("spam")});
	const struct launch_result *result = launch_result(launch);
	UNIT_INT(result->end, LAUNCH_STOPPED);
	UNIT_STRING(result->reason, "more than 64 MiB of output");
	UNIT_INT(result->out.size, 1024 * 1024);
}

static void test_what_the_plugin_asks_for_is_applied(void)
{
	struct grant_entry mounts[] = {MOUNT("/etc/debian_version", "/plugin/version", true),
				       MOUNT("/etc", "/plugin/etc", true)};
	struct grant_entry device = DEVICE("/dev/zero", "/dev/gpu0", "rw");
	struct grant_entry envs[] = {VARIABLE("VK_DRIVER_FILES", "/a:b=c \"d\""),
				     VARIABLE("EMPTY", "")};
	struct grant_entry annotation = VARIABLE("gpucert.internal/x", "y");
	struct launch *launch CLEANUP_LAUNCH = rig_run(
		&rig, &(struct launch_spec){
			      .name = "test",
			      .command = WORDS("stat=/plugin/version", "touch=/plugin/version",
					       "stat=/plugin/etc", "stat=/dev/gpu0",
					       "stat=/dev/dri", "env=VK_DRIVER_FILES", "env=EMPTY",
					       "env=HOME", "env=NOT_THERE"),
			      .grant.mounts = {mounts, ARRAY_SIZE(mounts)},
			      .grant.devices = {&device, 1},
			      .grant.envs = {envs, ARRAY_SIZE(envs)},
			      .grant.annotations = {&annotation, 1},
		      });
	UNIT_STRING(text_string(&launch_result(launch)->out),
		    "file\nRead-only file system\ndirectory\nchar\nNo such file or directory\n"
		    "/a:b=c \"d\"\n\n/root\n(unset)\n");
	expect_nothing_left(launch_result(launch));
}

static void test_the_container_is_confined(void)
{
	struct launch *launch CLEANUP_LAUNCH =
		run_words(WORDS("pid", "caps", "touch=/proc/sys/kernel/domainname", "touch=/tmp/x",
				"stat=/sys/class"));
	const char *out = text_string(&launch_result(launch)->out);
	CU_ASSERT_TRUE(text_starts_with(out, "1\n"));
	UNIT_CONTAINS(out, "CapEff:\t0000000000000000\n");
	UNIT_CONTAINS(out, "NoNewPrivs:\t1\n");
	UNIT_CONTAINS(out, "Seccomp:\t2\n");
	CU_ASSERT_TRUE(text_ends_with(out, "Read-only file system\nok\ndirectory\n"));
}

/* Each waits for a file that the other one makes in a directory that both have. */
static void test_two_at_the_same_time(void)
{
	char *shared CLEANUP_FREE =
		path_join(runtime_describe(rig.runtime)->work_directory, "shared");
	struct grant_entry mount = MOUNT(shared, "/shared", false);
	struct launch *first CLEANUP_LAUNCH = NULL;
	struct launch *second CLEANUP_LAUNCH = NULL;
	struct launch_spec spec = {.name = "first", .grant.mounts = {&mount, 1}};
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(file_make_directories(shared, 0700, &err), 0);
	spec.command = WORDS("touch=/shared/a", "wait=/shared/b", "out=first");
	CU_ASSERT_EQUAL_FATAL(launch_start(rig.launcher, &spec, &first, &err), 0);
	spec.name = "second";
	spec.command = WORDS("wait=/shared/a", "touch=/shared/b", "out=second");
	CU_ASSERT_EQUAL_FATAL(launch_start(rig.launcher, &spec, &second, &err), 0);
	UNIT_INT(launch_result(first)->end, LAUNCH_RUNNING);
	CU_ASSERT_EQUAL(launch_wait(first, &err), 0);
	CU_ASSERT_EQUAL(launch_wait(second, &err), 0);
	UNIT_STRING(text_string(&launch_result(first)->out), "ok\nfirst\n");
	UNIT_STRING(text_string(&launch_result(second)->out), "ok\nsecond\n");
	expect_nothing_left(launch_result(second));
}

static void test_what_is_freed_is_stopped(void)
{
	struct launch *launch CLEANUP_LAUNCH = NULL;
	struct error err = {0};
	const struct launch_spec spec = {.name = "test", .command = WORDS("hang")};
	CU_ASSERT_EQUAL_FATAL(launch_start(rig.launcher, &spec, &launch, &err), 0);
	launch_free(STEAL(launch));
	UNIT_INT(count_sandboxes(), 0);
}

/* A check that died leaves its pod; the runner removes it by its labels and touches nothing else.
 */
static void test_sweep_by_labels(void)
{
	const char *run_id = runtime_describe(rig.runtime)->run_id;
	struct cri *cri = runtime_cri(rig.runtime);
	struct launch *launch CLEANUP_LAUNCH = NULL;
	size_t found = 0;
	struct error err = {0};
	const struct launch_spec spec = {.name = "test", .command = WORDS("hang")};
	CU_ASSERT_EQUAL_FATAL(launch_start(rig.launcher, &spec, &launch, &err), 0);
	CU_ASSERT_EQUAL(cri_sweep(cri, "another-run", NULL, &found, &err), 0);
	UNIT_INT(found, 0);
	CU_ASSERT_EQUAL(cri_sweep(cri, run_id, "another-check", &found, &err), 0);
	UNIT_INT(found, 0);
	UNIT_INT(count_sandboxes(), 1);
	UNIT_INT(cri_sweep(cri, "", NULL, &found, &err), ERROR_ARGUMENT);
	CU_ASSERT_EQUAL(cri_sweep(cri, run_id, "test", &found, &err), 0);
	UNIT_INT(found, 1);
	CU_ASSERT_EQUAL(launch_wait(launch, &err), 0);
	UNIT_INT(launch_result(launch)->end, LAUNCH_LOST);
	UNIT_INT(count_sandboxes(), 0);
}

static void test_exec_and_stats(void)
{
	struct cri *cri = runtime_cri(rig.runtime);
	Runtime__V1__ExecSyncResponse *exec CLEANUP_CRI_REPLY = NULL;
	Runtime__V1__ContainerStatsResponse *stats CLEANUP_CRI_REPLY = NULL;
	Runtime__V1__RuntimeConfigResponse *config CLEANUP_CRI_REPLY = NULL;
	struct launch *launch CLEANUP_LAUNCH = NULL;
	struct error err = {0};
	const struct launch_spec spec = {.name = "test", .command = WORDS("hang")};
	char program[] = "/libexec/gpucert/probe-test", out[] = "out=inside", code[] = "exit=3";
	char *command[] = {program, out, code};
	Runtime__V1__ExecSyncRequest execute = RUNTIME__V1__EXEC_SYNC_REQUEST__INIT;
	Runtime__V1__ContainerStatsRequest measure = RUNTIME__V1__CONTAINER_STATS_REQUEST__INIT;
	Runtime__V1__RuntimeConfigRequest ask = RUNTIME__V1__RUNTIME_CONFIG_REQUEST__INIT;
	CU_ASSERT_EQUAL_FATAL(launch_start(rig.launcher, &spec, &launch, &err), 0);
	execute.container_id = wire_string(launch_result(launch)->container_id);
	execute.cmd = command;
	execute.n_cmd = ARRAY_SIZE(command);
	execute.timeout = 10;
	measure.container_id = wire_string(launch_result(launch)->container_id);
	UNIT_INT(cri_call_wait(cri, "ExecSync", &execute.base, &exec, &err), 0);
	UNIT_INT(exec != NULL ? exec->exit_code : -1, 3);
	UNIT_INT(exec != NULL ? exec->output.len : 0, strlen("inside\n"));
	UNIT_INT(cri_call_wait(cri, "ContainerStats", &measure.base, &stats, &err), 0);
	CU_ASSERT_PTR_NOT_NULL(stats);
	if (text_starts_with(runtime_describe(rig.runtime)->version, "1.6"))
		UNIT_INT(cri_call_wait(cri, "RuntimeConfig", &ask.base, &config, &err),
			 ERROR_UNSUPPORTED);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"output and exit code", test_output_and_exit_code},
		{"a held program", test_a_held_program},
		{"held twice", test_held_twice},
		{"nobody is held", test_nobody_is_held},
		{"a crash is a kill", test_a_crash_is_a_kill},
		{"abort of PID 1", test_abort_of_pid_one},
		{"a program that speaks of exec", test_a_program_that_speaks_of_exec},
		{"a program that is not there", test_a_program_that_is_not_there},
		{"a file that is no program", test_a_file_that_is_no_program},
		{"an unknown image", test_an_unknown_image},
		{"a mount that the runtime refuses", test_a_mount_that_the_runtime_refuses},
		{"a missing mount source is refused", test_a_missing_mount_source_is_refused},
		{"CDI is refused where it would be ignored",
		 test_cdi_is_refused_where_it_would_be_ignored},
		{"a deadline", test_a_deadline},
		{"endless output is bounded", test_endless_output_is_bounded},
		{"what the plugin asks for is applied", test_what_the_plugin_asks_for_is_applied},
		{"the container is confined", test_the_container_is_confined},
		{"two at the same time", test_two_at_the_same_time},
		{"what is freed is stopped", test_what_is_freed_is_stopped},
		{"sweep by labels", test_sweep_by_labels},
		{"exec and stats", test_exec_and_stats},
		CU_TEST_INFO_NULL,
	};
	const char *reason = rig_reason_to_skip();
	int result = 0;
	if (reason != NULL) {
		(void)printf("skipped: %s\n", reason);
		return RIG_SKIP;
	}
	rig_open(&rig, rig_base("launch"));
	result = unit_run("launches in containers", tests);
	rig_close(&rig);
	return result;
}
