/* SPDX-License-Identifier: MIT */
/* The client and the launcher against answers that a real runtime seldom gives. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/tests/unit.h"
#include "containers/cri/cri.h"
#include "containers/doubles/cri_double.h"
#include "containers/launch/launch.h"
#include "rpc/loop.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

static uv_loop_t loop;
static char *directory;
static struct cri_double *runtime;
static struct cri *cri;

static void enter(void)
{
	char *address CLEANUP_FREE = NULL;
	CU_ASSERT_EQUAL_FATAL(uv_loop_init(&loop), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_temporary("/tmp", "gpucert-", &directory, NULL), 0);
	address = text_format("unix://%s/cri.sock", directory);
	runtime = cri_double_open(&loop, address);
	CU_ASSERT_EQUAL_FATAL(cri_open(&loop, address, &cri, NULL), 0);
}

static void leave(void)
{
	cri_close(cri);
	cri_double_close(runtime);
	CU_ASSERT_EQUAL(loop_drain(&loop, 10000, NULL), 0);
	CU_ASSERT_EQUAL(file_remove_tree(directory, NULL), 0);
	free(directory);
}

static void test_statuses_become_error_codes(void)
{
	static const struct {
		int status;
		int code;
	} cases[] = {
		{RPC_UNIMPLEMENTED, ERROR_UNSUPPORTED},
		{RPC_DEADLINE_EXCEEDED, ERROR_TIMEOUT},
		{RPC_UNAVAILABLE, ERROR_UNAVAILABLE},
		{RPC_NOT_FOUND, ERROR_REMOTE},
		{RPC_UNKNOWN, ERROR_REMOTE},
		{RPC_INTERNAL, ERROR_REMOTE},
	};
	Runtime__V1__RuntimeConfigRequest request = RUNTIME__V1__RUNTIME_CONFIG_REQUEST__INIT;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		Runtime__V1__RuntimeConfigResponse *reply CLEANUP_CRI_REPLY = NULL;
		struct error err = {0};
		cri_double_fail(runtime, "RuntimeConfig", cases[i].status, "no such luck");
		UNIT_INT(cri_call_wait(cri, "RuntimeConfig", &request.base, &reply, &err),
			 cases[i].code);
		UNIT_INT(err.remote, cases[i].status);
		UNIT_CONTAINS(err.text, "no such luck");
		CU_ASSERT_PTR_NULL(reply);
	}
	UNIT_INT(cri_double_calls(runtime, "RuntimeConfig"), ARRAY_SIZE(cases));
}

/* One call finds it out; whatever is to be cleaned up then costs no time. */
static void test_a_runtime_that_hangs(void)
{
	struct error err = {0};
	Runtime__V1__StatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	cri_limit_waits(cri, 100);
	cri_double_hang(runtime);
	UNIT_INT(cri_status_wait(cri, false, &reply, &err), ERROR_TIMEOUT);
	UNIT_CONTAINS(err.text, "Status: the container runtime does not answer any more");
	UNIT_INT(err.remote, RPC_UNAVAILABLE); /* a launch is lost, and did not fail */
	UNIT_INT(cri_double_calls(runtime, "Version"), 1);
	UNIT_INT(cri_sweep(cri, "run", NULL, NULL, &err), ERROR_UNAVAILABLE);
	UNIT_INT(cri_double_calls(runtime, "ListPodSandbox"), 0);
	UNIT_INT(err.remote, RPC_UNAVAILABLE);
}

static void test_removing_what_is_gone_is_success(void)
{
	static const char *const methods[] = {"StopContainer", "RemoveContainer", "StopPodSandbox",
					      "RemovePodSandbox", "RemoveImage"};
	struct error err = {0};
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		cri_double_fail(runtime, methods[i], RPC_NOT_FOUND, "gone");
	for (size_t i = 0; i < ARRAY_SIZE(methods) - 1; i++) {
		UNIT_INT(cri_undo_wait(cri, methods[i], "x", &err), 0);
		UNIT_INT(cri_double_calls(runtime, methods[i]), 1);
	}
	UNIT_INT(cri_remove_image_wait(cri, "x", &err), 0);
	cri_double_fail(runtime, "StopContainer", RPC_UNKNOWN, "stuck");
	UNIT_INT(cri_undo_wait(cri, "StopContainer", "x", &err), ERROR_REMOTE);
	UNIT_CONTAINS(err.text, "stuck");
}

/* Nobody waits for ever for a sandbox that resists, or for a runtime that has gone silent. */
static void test_removals_that_fail(void)
{
	cri_begin_removal(cri, "x");
	cri_removals_wait(cri);
	UNIT_INT(cri_double_calls(runtime, "StopPodSandbox"), 1);
	UNIT_INT(cri_double_calls(runtime, "RemovePodSandbox"), 1);
	cri_double_fail(runtime, "StopPodSandbox", RPC_UNKNOWN, "stuck");
	cri_begin_removal(cri, "x");
	cri_removals_wait(cri);
	UNIT_INT(cri_double_calls(runtime, "StopPodSandbox"), 2);
	UNIT_INT(cri_double_calls(runtime, "RemovePodSandbox"), 1);
	cri_limit_waits(cri, 100);
	cri_double_hang(runtime);
	cri_begin_removal(cri, "x");
	cri_removals_wait(cri);
	cri_begin_removal(cri, "x");
	cri_removals_wait(cri);
	UNIT_INT(cri_double_calls(runtime, "Version"), 1);
}

static void test_answers_that_lack_what_is_promised(void)
{
	Runtime__V1__PodSandboxConfig sandbox = {0};
	Runtime__V1__ContainerConfig container = {0};
	Runtime__V1__ContainerStatusResponse *status CLEANUP_CRI_REPLY = NULL;
	char *id CLEANUP_FREE = NULL;
	struct error err = {0};
	runtime__v1__pod_sandbox_config__init(&sandbox);
	runtime__v1__container_config__init(&container);
	UNIT_INT(cri_run_pod_sandbox_wait(cri, &sandbox, "", &id, &err), ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "pod sandbox id");
	UNIT_INT(cri_create_container_wait(cri, "x", &container, &sandbox, &id, &err),
		 ERROR_PROTOCOL);
	UNIT_CONTAINS(err.text, "container id");
	UNIT_INT(cri_container_status_wait(cri, "x", false, &status, &err), ERROR_PROTOCOL);
	CU_ASSERT_PTR_NULL(id);
}

static void test_nothing_is_swept_without_a_run(void)
{
	size_t found = 0;
	struct error err = {0};
	UNIT_INT(cri_sweep(cri, "", NULL, &found, &err), ERROR_ARGUMENT);
	UNIT_INT(cri_sweep(cri, NULL, "check", &found, &err), ERROR_ARGUMENT);
	UNIT_INT(cri_double_calls(runtime, "ListPodSandbox"), 0);
	UNIT_INT(cri_sweep(cri, "run", NULL, &found, &err), 0);
	UNIT_INT(cri_double_calls(runtime, "ListPodSandbox"), 1);
	cri_double_fail(runtime, "ListPodSandbox", RPC_INTERNAL, "broken");
	UNIT_INT(cri_sweep(cri, "run", NULL, &found, &err), ERROR_REMOTE);
	UNIT_CONTAINS(err.text, "broken");
	UNIT_INT(cri_double_calls(runtime, "ListPodSandbox"), 2);
}

/* The answers of a runtime in which everything goes well until the test changes one. */
static void answer_well(void)
{
	Runtime__V1__VersionResponse version = {0};
	Runtime__V1__ImageStatusResponse image_status = {0};
	Runtime__V1__Image image = {0};
	Runtime__V1__RunPodSandboxResponse sandbox = {0};
	Runtime__V1__CreateContainerResponse container = {0};
	char name[] = "containerd";
	char number[] = "1.6.20";
	char id[] = "an-id";
	runtime__v1__version_response__init(&version);
	version.runtime_name = name;
	version.runtime_version = number;
	runtime__v1__image_status_response__init(&image_status);
	runtime__v1__image__init(&image);
	image_status.image = &image;
	runtime__v1__run_pod_sandbox_response__init(&sandbox);
	sandbox.pod_sandbox_id = id;
	runtime__v1__create_container_response__init(&container);
	container.container_id = id;
	cri_double_answer(runtime, "Version", &version.base);
	cri_double_answer(runtime, "ImageStatus", &image_status.base);
	cri_double_answer(runtime, "RunPodSandbox", &sandbox.base);
	cri_double_answer(runtime, "CreateContainer", &container.base);
}

static void answer_status_at(int state, int exit_code, const char *reason, int64_t started,
			     int64_t finished)
{
	Runtime__V1__ContainerStatusResponse reply = {0};
	Runtime__V1__ContainerStatus status = {0};
	char *text CLEANUP_FREE = strdup(reason);
	runtime__v1__container_status_response__init(&reply);
	runtime__v1__container_status__init(&status);
	status.state = (Runtime__V1__ContainerState)state;
	status.exit_code = exit_code;
	status.reason = text;
	status.started_at = started;
	status.finished_at = finished;
	reply.status = &status;
	cri_double_answer(runtime, "ContainerStatus", &reply.base);
}

static void answer_status(int state, int exit_code, const char *reason)
{
	answer_status_at(state, exit_code, reason, 0, 0);
}

static void expect_end(enum launch_end end, int code, const char *reason)
{
	const char *const words[] = {"probe-x", NULL};
	const struct launch_spec spec = {.name = "a", .command = words, .timeout_ms = 50};
	const struct launcher_containerd_options options = {
		.cri = cri,
		.image = "image",
		.log_directory = directory,
		.system = LAUNCH_LINUX,
		.run_id = "run",
		.check_id = "check",
	};
	struct launcher *launcher = NULL;
	struct launch *launch = NULL;
	unsigned sandboxes = cri_double_calls(runtime, "RemovePodSandbox");
	CU_ASSERT_EQUAL_FATAL(launcher_containerd_new(&options, &launcher, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(launch_start(launcher, &spec, &launch, NULL), 0);
	UNIT_INT(launch_wait(launch, NULL), 0);
	UNIT_INT(launch_result(launch)->end, end);
	UNIT_INT(launch_result(launch)->code, code);
	UNIT_CONTAINS(launch_result(launch)->reason, reason);
	launch_free(launch);
	launcher_free(launcher);
	/* Whatever happened, the sandbox is removed. */
	UNIT_INT(cri_double_calls(runtime, "RemovePodSandbox"), sandboxes + 1);
}

static void test_ends_of_a_launch(void)
{
	answer_well();
	answer_status(RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED, 3, "Error");
	expect_end(LAUNCH_EXITED, 3, "");
	answer_status(RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED, 128, "Error");
	expect_end(LAUNCH_EXITED, 128, "");
	answer_status(RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED, 134, "Error");
	expect_end(LAUNCH_KILLED, 6, "");
	answer_status(RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED, 255, "Error");
	expect_end(LAUNCH_EXITED, 255, "");
	answer_status(RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED, 137, "OOMKilled");
	expect_end(LAUNCH_OUT_OF_MEMORY, 0, "");
	/* Times that cannot be: their difference is more than a signed number holds. */
	answer_status_at(RUNTIME__V1__CONTAINER_STATE__CONTAINER_EXITED, 3, "Error", INT64_MIN,
			 INT64_MAX);
	expect_end(LAUNCH_EXITED, 3, "");
	answer_status(RUNTIME__V1__CONTAINER_STATE__CONTAINER_RUNNING, 0, "");
	expect_end(LAUNCH_TIMED_OUT, 0, "");
	cri_double_fail(runtime, "ContainerStatus", RPC_UNAVAILABLE, "restarting");
	expect_end(LAUNCH_LOST, 0, "restarting");
	cri_double_fail(
		runtime, "StartContainer", RPC_UNKNOWN,
		"failed to create containerd task: OCI runtime create failed: runc create failed: "
		"unable to start container process: exec: \"/x\": permission denied: unknown");
	expect_end(LAUNCH_NOT_STARTED, 0, "permission denied");
	cri_double_fail(runtime, "StartContainer", RPC_UNKNOWN, "error mounting \"/x\"");
	expect_end(LAUNCH_FAILED, 0, "start: ");
	cri_double_fail(runtime, "CreateContainer", RPC_UNKNOWN, "no snapshot");
	expect_end(LAUNCH_FAILED, 0, "container: ");
	cri_double_fail(runtime, "CreateContainer", RPC_UNAVAILABLE, "shutting down");
	expect_end(LAUNCH_LOST, 0, "shutting down");
}

static void test_a_sandbox_that_fails(void)
{
	const char *const words[] = {"probe-x", NULL};
	const struct launch_spec spec = {.name = "a", .command = words};
	const struct launcher_containerd_options options = {
		.cri = cri,
		.image = "image",
		.log_directory = directory,
		.system = LAUNCH_LINUX,
		.run_id = "run",
		.check_id = "check",
	};
	struct launcher *launcher = NULL;
	struct launch *launch = NULL;
	answer_well();
	cri_double_fail(runtime, "RunPodSandbox", RPC_UNKNOWN, "pause image is not there");
	CU_ASSERT_EQUAL_FATAL(launcher_containerd_new(&options, &launcher, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(launch_start(launcher, &spec, &launch, NULL), 0);
	UNIT_INT(launch_wait(launch, NULL), 0);
	UNIT_INT(launch_result(launch)->end, LAUNCH_NO_SANDBOX);
	UNIT_CONTAINS(launch_result(launch)->reason, "pause image is not there");
	UNIT_INT(cri_double_calls(runtime, "CreateContainer"), 0);
	launch_free(launch);
	launcher_free(launcher);
}

static void test_versions(void)
{
	CU_ASSERT_TRUE(cri_version_at_least("v1.6.20~ds1", 1, 6));
	CU_ASSERT_FALSE(cri_version_at_least("v1.6.20~ds1", 1, 7));
	CU_ASSERT_TRUE(cri_version_at_least("2.10", 2, 10));
	CU_ASSERT_TRUE(cri_version_at_least("2.10", 1, 11));
	CU_ASSERT_FALSE(cri_version_at_least("2.10", 2, 11));
	CU_ASSERT_FALSE(cri_version_at_least("", 0, 0));
	CU_ASSERT_FALSE(cri_version_at_least("1", 0, 0));
	CU_ASSERT_FALSE(cri_version_at_least("1.x", 0, 0));
	CU_ASSERT_FALSE(cri_version_at_least("-1.2", 0, 0));
}

#define WITH_RUNTIME(test)                                                                         \
	static void test##_served(void)                                                            \
	{                                                                                          \
		enter();                                                                           \
		test();                                                                            \
		leave();                                                                           \
	}
WITH_RUNTIME(test_statuses_become_error_codes)
WITH_RUNTIME(test_a_runtime_that_hangs)
WITH_RUNTIME(test_removing_what_is_gone_is_success)
WITH_RUNTIME(test_removals_that_fail)
WITH_RUNTIME(test_answers_that_lack_what_is_promised)
WITH_RUNTIME(test_nothing_is_swept_without_a_run)
WITH_RUNTIME(test_ends_of_a_launch)
WITH_RUNTIME(test_a_sandbox_that_fails)

UNIT_MAIN("cri", {"statuses become error codes", test_statuses_become_error_codes_served},
	  {"a runtime that hangs", test_a_runtime_that_hangs_served},
	  {"removing what is gone is success", test_removing_what_is_gone_is_success_served},
	  {"removals that fail", test_removals_that_fail_served},
	  {"answers that lack what is promised", test_answers_that_lack_what_is_promised_served},
	  {"nothing is swept without a run", test_nothing_is_swept_without_a_run_served},
	  {"ends of a launch", test_ends_of_a_launch_served},
	  {"a sandbox that fails", test_a_sandbox_that_fails_served}, {"versions", test_versions})
