/* SPDX-License-Identifier: MIT */
/* Runs that die at any moment: the next one finds what they left, removes it and nothing else. */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"
#include "base/tests/unit.h"
#include "containers/inspect/inspect.h"
#include "containers/runtime/remains.h"
#include "containers/tests/rig.h"
#include "rpc/loop.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SHIM_SOCKETS "/run/containerd/s"

enum { VICTIM_TIMEOUT_MS = 300000, RANDOM_KILLS = 6, RANDOM_MAX_MS = 1200 };

static const char victim_program[] = GPUCERT_BINARY_DIR "/tests/recovery_victim";
static uv_loop_t loop;
static const char *base;

struct wanted_step {
	const struct process *victim;
	const char *line;
};

static bool has_said(void *user)
{
	const struct wanted_step *wanted = user;
	return strstr(text_string(&process_result(wanted->victim)->out), wanted->line) != NULL;
}

static bool has_ended(void *process)
{
	return process_has_ended(process);
}

/* `address` NULL: with a runtime of its own. */
static struct process *start_victim(const char *address, const char *image, const char *archive)
{
	const char *const argv[] = {victim_program, base, address, image, archive, NULL};
	const struct process_spec spec = {.argv = argv};
	struct process *victim = NULL;
	CU_ASSERT_EQUAL_FATAL(process_start(&loop, &spec, &victim, NULL), 0);
	return victim;
}

static void kill_victim(struct process *victim)
{
	struct error err = {0};
	CU_ASSERT_EQUAL(process_signal(victim, SIGKILL, &err), 0);
	CU_ASSERT_EQUAL_FATAL(loop_wait(&loop, has_ended, victim, VICTIM_TIMEOUT_MS, "end", &err),
			      0);
	process_free(victim);
}

static size_t count_mounts(void)
{
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	size_t count = 0;
	CU_ASSERT_EQUAL(container_mounts_read(0, &mounts, NULL), 0);
	for (size_t i = 0; i < mounts.count; i++)
		count += path_is_within(mounts.items[i].target, base);
	return count;
}

static void expect_no_cgroups(const char *name)
{
	struct container_mounts mounts CLEANUP_CONTAINER_MOUNTS = {0};
	char *group CLEANUP_FREE = text_format("gpucert-%s", name + strlen("run-"));
	CU_ASSERT_EQUAL(container_mounts_read(0, &mounts, NULL), 0);
	for (size_t i = 0; i < mounts.count; i++) {
		char *path CLEANUP_FREE = path_join(mounts.items[i].target, group);
		if (text_starts_with(mounts.items[i].type, "cgroup"))
			CU_ASSERT_FALSE(file_exists(path));
	}
}

static bool has_image(const struct rig *rig)
{
	Runtime__V1__ImageStatusResponse *reply CLEANUP_CRI_REPLY = NULL;
	CU_ASSERT_EQUAL(cri_image_status_wait(runtime_cri(rig->runtime),
					      rig->images.probe.reference, false, &reply, NULL),
			0);
	return reply != NULL && reply->image != NULL;
}

static int recover(size_t *recovered, struct error *err)
{
	const struct runtime_recovery recovery = {.base_directory = base};
	return runtime_recover(&recovery, recovered, err);
}

/* What the dead run had, and after the recovery that nothing of it is there any more. */
static void recover_and_expect_nothing(size_t *recovered)
{
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	size_t still_running = 0;
	if (file_is_directory(base))
		CU_ASSERT_EQUAL(file_list(base, &names, NULL), 0);
	UNIT_INT(recover(recovered, &err), 0);
	UNIT_STRING(err.text, "");
	UNIT_INT(count_mounts(), 0);
	for (size_t i = 0; i < names.count; i++) {
		char *run CLEANUP_FREE = path_join(base, names.items[i]);
		if (!text_starts_with(names.items[i], "run-"))
			continue;
		CU_ASSERT_FALSE(file_exists(run));
		UNIT_INT(remains_kill_containerd(run, &still_running, NULL), 0);
		UNIT_INT(still_running, 0);
		expect_no_cgroups(names.items[i]);
	}
}

/* The sockets of the shims of the only run: each task names its own. */
static void list_shim_sockets(struct text_list *sockets)
{
	struct text_list runs CLEANUP_TEXT_LIST = {0};
	struct text_list tasks CLEANUP_TEXT_LIST = {0};
	char *directory CLEANUP_FREE = NULL;
	CU_ASSERT_EQUAL_FATAL(file_list(base, &runs, NULL), 0);
	if (runs.count != 1)
		abort();
	directory = text_format("%s/%s/state/io.containerd.runtime.v2.task/k8s.io", base,
				runs.items[0]);
	CU_ASSERT_EQUAL_FATAL(file_list(directory, &tasks, NULL), 0);
	for (size_t i = 0; i < tasks.count; i++) {
		char *file CLEANUP_FREE = text_format("%s/%s/address", directory, tasks.items[i]);
		char *address CLEANUP_FREE = NULL;
		CU_ASSERT_EQUAL_FATAL(file_read_line(file, &address, NULL), 0);
		CU_ASSERT_TRUE(text_starts_with(address, "unix://" SHIM_SOCKETS "/"));
		text_list_add(sockets, address + strlen("unix://"));
	}
}

static void test_a_run_that_dies_with_a_container(void)
{
	struct text_list sockets CLEANUP_TEXT_LIST = {0};
	struct process *victim = start_victim(NULL, NULL, NULL);
	struct wanted_step running = {victim, "running"};
	size_t recovered = 0;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(
		loop_wait(&loop, has_said, &running, VICTIM_TIMEOUT_MS, "container", &err), 0);
	list_shim_sockets(&sockets);
	if (sockets.count != 2) /* pause and program, with the same shim */
		abort();
	CU_ASSERT_TRUE(file_exists(sockets.items[0]));
	/* While the run lives it is left alone. */
	UNIT_INT(recover(&recovered, &err), 0);
	UNIT_INT(recovered, 0);
	CU_ASSERT_FALSE(process_has_ended(victim));
	kill_victim(victim);
	CU_ASSERT_TRUE(count_mounts() >= 3); /* two root file systems, shared memory */
	recover_and_expect_nothing(&recovered);
	UNIT_INT(recovered, 1);
	CU_ASSERT_FALSE(file_exists(sockets.items[0]));
	CU_ASSERT_FALSE(file_exists(base));
}

/* Moments spread over the whole start; GPUCERT_TEST_SEED chooses others. */
static void test_runs_that_die_at_any_moment(void)
{
	const char *chosen = getenv("GPUCERT_TEST_SEED");
	unsigned seed = chosen != NULL ? (unsigned)strtoul(chosen, NULL, 10) : 1;
	for (int i = 0; i < RANDOM_KILLS; i++) {
		struct process *victim = start_victim(NULL, NULL, NULL);
		size_t recovered = 0;
		seed = seed * 1103515245U + 12345U;
		loop_run_for(&loop, (seed >> 8) % RANDOM_MAX_MS);
		kill_victim(victim);
		recover_and_expect_nothing(&recovered);
	}
}

static size_t count_sandboxes(struct rig *rig)
{
	Runtime__V1__ListPodSandboxRequest request = RUNTIME__V1__LIST_POD_SANDBOX_REQUEST__INIT;
	Runtime__V1__ListPodSandboxResponse *list CLEANUP_CRI_REPLY = NULL;
	CU_ASSERT_EQUAL(cri_call_wait(runtime_cri(rig->runtime), "ListPodSandbox", &request.base,
				      &list, NULL),
			0);
	return list != NULL ? list->n_items : 0;
}

/* A dead run's container in a runtime that goes on: only that one is removed, and the image that it
 * imported. */
static void test_a_run_that_dies_attached(void)
{
	const char *const words[] = {"probe-test", "hang", NULL};
	const struct launch_spec spec = {.name = "living", .command = words};
	size_t recovered = 0;
	struct wanted_step running = {.line = "running"};
	struct launch *living = NULL;
	struct rig rig = {0};
	struct error err = {0};
	rig_open(&rig, rig_base("machine"));
	CU_ASSERT_EQUAL_FATAL(launch_start(rig.launcher, &spec, &living, &err), 0);
	UNIT_INT(cri_remove_image_wait(runtime_cri(rig.runtime), rig.images.probe.reference, &err),
		 0);
	struct process *victim = start_victim(runtime_describe(rig.runtime)->address,
					      rig.images.probe.reference, rig.images.archive);
	running.victim = victim;
	CU_ASSERT_EQUAL_FATAL(
		loop_wait(&loop, has_said, &running, VICTIM_TIMEOUT_MS, "container", &err), 0);
	UNIT_INT(count_sandboxes(&rig), 2);
	kill_victim(victim);
	UNIT_INT(count_sandboxes(&rig), 2);
	CU_ASSERT(has_image(&rig));
	recover_and_expect_nothing(&recovered);
	UNIT_INT(recovered, 1);
	UNIT_INT(count_sandboxes(&rig), 1);
	CU_ASSERT_FALSE(has_image(&rig));
	UNIT_INT(launch_result(living)->end, LAUNCH_RUNNING);
	launch_free(living);
	rig_close(&rig);
}

static void test_what_is_not_a_run_is_left_alone(void)
{
	char *kept CLEANUP_FREE = path_join(base, "keep/run-inside");
	char *unowned CLEANUP_FREE = path_join(base, "run-unowned");
	char *broken CLEANUP_FREE = path_join(base, "run-broken");
	char *owner CLEANUP_FREE = path_join(broken, "owner.json");
	size_t recovered = 0;
	struct error err = {0};
	CU_ASSERT_EQUAL_FATAL(file_make_directories(kept, 0700, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_directories(unowned, 0700, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_make_directories(broken, 0700, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(file_write_atomic(owner, "{", 1, 0600, NULL), 0);
	UNIT_INT(recover(&recovered, &err), ERROR_FORMAT);
	UNIT_CONTAINS(err.text, "run-broken/owner.json");
	UNIT_INT(recovered, 0);
	CU_ASSERT_TRUE(file_is_directory(kept));
	CU_ASSERT_TRUE(file_is_directory(unowned));
	CU_ASSERT_TRUE(file_is_directory(broken));
	CU_ASSERT_EQUAL(file_remove_tree(base, NULL), 0);
	UNIT_INT(recover(&recovered, &err), 0);
}

int main(void)
{
	CU_TestInfo tests[] = {
		{"a run that dies with a container", test_a_run_that_dies_with_a_container},
		{"a run that dies attached", test_a_run_that_dies_attached},
		{"runs that die at any moment", test_runs_that_die_at_any_moment},
		{"what is not a run is left alone", test_what_is_not_a_run_is_left_alone},
		CU_TEST_INFO_NULL,
	};
	const char *reason = rig_reason_to_skip();
	if (reason != NULL) {
		(void)printf("skipped: %s\n", reason);
		return RIG_SKIP;
	}
	base = rig_base("recover");
	if (uv_loop_init(&loop) < 0)
		return 1;
	return unit_run("recovery", tests);
}
