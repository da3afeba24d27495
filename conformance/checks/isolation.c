/* SPDX-License-Identifier: MIT */
/* Isolation: a container sees the devices that it was granted, and nothing else. */
#include "conformance/checks/isolation.h"
#include "conformance/checks/allocate.h"

#include "conformance/checks/suites.h"

#include <string.h>

/* Milliseconds that a probe waits for the other container, where it cannot be paused until both run: on a busy machine one may come
 * late. */
static const char *const delays[] = {"1500", "6000", "20000"};

static void no_allocation(struct check_run *run)
{
	static const struct granted nothing;
	struct isolation isolation = {.run = run, .stage = stage_open(run, NULL, 0)};
	if (isolation.stage == NULL)
		return;
	isolation_note_runtime(run);
	do {
		const char *label = isolation_label(&isolation, "no allocation");
		struct observation observation = {0};
		if (isolation_inspect(&isolation, isolation_label(&isolation, "no-allocation"),
				      NULL, &observation))
			visibility_expect_only(run, label, &observation, NULL, &nothing);
	} while (isolation_next_handler(&isolation));
}

static void single_device(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	if (isolation_open(&isolation, run, NULL))
		isolation_inspect_each(&isolation, true);
}

/* Runs both containers; *together: they overlapped. False: recorded. */
static bool run_both(struct isolation *isolation, const char *delay,
		     struct observation observations[2], bool *together)
{
	static const char *const labels[] = {"first", "second"};
	struct stage *stage = isolation->stage;
	const bool pauses = stage_holds_probes(stage);
	const char *const command[] = {"probe-visibility", pauses ? "--pause" : "--delay",
				       pauses ? LAUNCH_PAUSE_PATH : delay, NULL};
	struct probe *probes[2] = {NULL, NULL};
	bool paused[2] = {false, false};
	for (size_t i = 0; i < 2 && (i == 0 || probes[0] != NULL); i++) {
		probes[i] = stage_start(stage, labels[i], command, &isolation->pair[i]->grant);
		paused[i] = pauses && probes[i] != NULL && stage_wait_paused(stage, probes[i]);
	}
	for (size_t i = 0; i < 2; i++)
		if (paused[i])
			stage_resume(stage, probes[i]);
	for (size_t i = 0; i < 2 && probes[i] != NULL; i++)
		observations[i] =
			(struct observation){stage_finish(stage, probes[i]), probe_view(probes[i])};
	if (probes[1] == NULL || observations[0].document == NULL ||
	    observations[1].document == NULL)
		return false;
	int64_t first_end = probe_result(probes[0])->finished_ns;
	int64_t second_start = probe_result(probes[1])->started_ns;
	*together = second_start < first_end;
	if (first_end != 0 && second_start != 0)
		return true;
	check_broken(isolation->run, "the runtime does not report when the containers ran");
	return false;
}

/* Runs the containers of a pair of ids at the same time. False: recorded. */
static bool run_pair(struct isolation *isolation, struct check_run *run, enum tenants_wanted wanted,
		     struct observation observations[2])
{
	bool together = false;
	if (!tenants_open_pair(isolation, run, wanted) ||
	    !offer_admit(isolation->rig, isolation->pair[0]) ||
	    !offer_admit(isolation->rig, isolation->pair[1]))
		return false;
	for (size_t i = 0; !together && i < ARRAY_SIZE(delays); i++) {
		if (!run_both(isolation, delays[i], observations, &together))
			return false;
	}
	if (!together)
		check_broken(run, "the containers did not run at the same time");
	return together;
}

static void two_containers(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	struct observation observations[2] = {{0}};
	if (!run_pair(&isolation, run, TENANTS_DIFFERENT, observations))
		return;
	for (size_t i = 0; i < 2; i++) {
		const struct granted *granted = &isolation.pair[i]->granted;
		visibility_expect_only(run, granted->devices[0]->id, &observations[i],
				       &isolation.bare, granted);
	}
	visibility_expect_different_devices(run, observations[0].document,
					    observations[1].document);
}

static void shared_replicas(struct check_run *run)
{
	static const char *const labels[] = {"first replica", "second replica"};
	struct isolation isolation CLEANUP_ISOLATION = {0};
	struct observation observations[2] = {{0}};
	if (!run_pair(&isolation, run, TENANTS_SAME, observations))
		return;
	for (size_t i = 0; i < 2; i++)
		visibility_expect_only(run, labels[i], &observations[i], &isolation.bare,
				       &isolation.pair[1]->granted);
	visibility_expect_same_devices(run, observations[0].document, observations[1].document);
}

/* A plugin may refuse several ids of shared devices if it says why. */
static bool refuses_both(const struct isolation *isolation)
{
	struct rig *rig = isolation->rig;
	const char *resource = isolation->pair[0]->resource;
	const char *const pair[] = {isolation->pair[0]->id, isolation->pair[1]->id};
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	bool refuses = strcmp(resource, isolation->pair[1]->resource) == 0 &&
		       rig_allocate(rig, resource, pair, 2, &reply, NULL) == 0 &&
		       reply.reply == NULL && rig_healthy_ids(rig, resource, &ids) &&
		       allocate_accept_refusal(rig, resource, rig_ids(&ids), ids.count, &reply);
	if (refuses)
		check_not_applicable(isolation->run,
				     "the plugin refuses several shared devices in one container");
	return refuses;
}

static void two_devices(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	if (!tenants_open_pair(&isolation, run, TENANTS_DIFFERENT) || refuses_both(&isolation))
		return;

	/* One container with the devices of both offers. */
	struct offer *const *pair = isolation.pair;
	struct granted wanted = {.source = GRANTED_READ};
	for (size_t i = 0; i < 2; i++) {
		if (pair[i]->pod != NULL)
			rig_release(isolation.rig, pair[i]->pod);
		granted_add(&wanted, pair[i]->granted.devices[0]);
	}
	const char *const ids[] = {pair[0]->id, pair[1]->id};
	bool same = strcmp(pair[0]->resource, pair[1]->resource) == 0;
	const struct kubelet_limit limits[] = {
		{.resource = pair[0]->resource, .count = same ? 2 : 1, .ids = ids},
		{.resource = pair[1]->resource, .count = 1, .ids = &ids[1]},
	};
	struct offer both = {0};
	if (!offer_open(isolation.rig, limits, same ? 1 : 2, &both))
		return;

	/* allocate.* judges contradictions between resources. */
	const struct grant *applied = offer_applied(&both);
	bool contradicted = false;
	items_each (conflict, applied->conflicts, applied->conflict_count)
		contradicted |= !conflict->same && !conflict->dropped;
	if (contradicted) {
		check_not_applicable(run,
				     "the answers of %s and %s contradict each other, and a "
				     "kubelet, or with CDI a runtime, keeps one of them",
				     pair[0]->resource, pair[1]->resource);
		offer_close(isolation.rig, &both);
		return;
	}

	if (both.granted.source == GRANTED_READ)
		(void)check_expect_int(run, "devices granted", (long long)both.granted.count, 2);
	struct observation observation = {0};
	if (isolation_inspect(&isolation, "two-devices", &both.grant, &observation)) {
		visibility_expect_only(run, "two devices", &observation, &isolation.bare, &wanted);
		observations_add_kept(run, "two-devices", &observation, &wanted, applied);
	}
	offer_close(isolation.rig, &both);
}

static const char *const tags_isolation[] = {"isolation", "container", NULL};

#define ISOLATION(name, rule, severity, meaning, least, body, ...)                                 \
	CHECK("isolation." name, rule, severity, meaning, body, .timeout_s = 300,                  \
	      .tags = tags_isolation, .depends_on = "allocate.one-response",                       \
	      .needs.devices = (least), .needs.containers = true, __VA_ARGS__)
/* A row about the containers that isolation.single-device inspected. */
#define JUDGE(name, rule, severity, judge, ...)                                                    \
	ISOLATION(name, rule, severity, 1, 1, isolation_each_observation, .param = &(judge),       \
		  __VA_ARGS__)

const struct check isolation_checks[] = {
	CHECK("isolation.no-allocation", ISO_01, CRITICAL, 2, no_allocation,
	      .title = "A container without a device sees no GPU",
	      .advice = "Look in the evidence for a runtime hook, a default mount or a privileged "
			"runtime that exposes the GPU to every container.",
	      .timeout_s = 300, .tags = tags_isolation, .needs = {.containers = true},
	      .depends_on = "environment.container"),
	ISOLATION("single-device", ISO_02, CRITICAL, 2, 1, single_device,
		  .title = "A container with one device sees only that device",
		  .advice = "Compare the evidence with the plugin's answer; if the answer names "
			    "one device, the driver does not isolate: run one GPU per node until "
			    "it does. Windows Server 2022 sometimes shows every GPU to a container "
			    "with one location path (microsoft/Windows-Containers issue 333)."),
	ISOLATION("two-containers", ISO_03, CRITICAL, 2, 2, two_containers,
		  .title = "Two concurrent containers see only their own device",
		  .advice =
			  "Do as for isolation.single-device; here both containers run at the same "
			  "time."),
	ISOLATION("two-devices", ISO_02, CRITICAL, 1, 2, two_devices,
		  .title = "A container with two devices sees only these two",
		  .advice = "Compare the answer for two ids with the answer for each of them: a "
			    "variable or path that has only one value exposes only one device.",
		  .needs.os = "linux"),
	JUDGE("apis-agree", ISO_06, MEDIUM, isolation_apis_agree,
	      .title = "The APIs of a container agree about its device",
	      .advice = "Compare the values of each API in the reason. Look for drivers of two "
			"versions in the container, or an API that reaches another device."),
	JUDGE("management-apis", ISO_07, LOW, isolation_management_apis,
	      .title = "NVML and similar libraries show a container only its own device",
	      .advice = "Put only the allocated device's node into the answer: NVML and nvidia-smi "
			"show all devices that the container can reach and ignore "
			"CUDA_VISIBLE_DEVICES. On Windows they always show every device of the "
			"host."),
	ISOLATION(
		"device-nodes", ISO_08, CRITICAL, 2, 1, isolation_each_observation,
		.title = "A container has no other device nodes, and can create none",
		.advice =
			"Look for a privileged runtime or its own device rules (base_runtime_spec, "
			"a hook): a container may have only the answer's nodes and those of the "
			"OCI runtime specification.",
		.param = &isolation_device_nodes, .needs.os = "linux"),
	JUDGE("device-access", ISO_15, HIGH, isolation_device_access,
	      .title = "Device nodes allow exactly the granted access",
	      .advice =
		      "Compare the permissions of the answer's devices (letters r, w, m) with the "
		      "rules of the container's device cgroup in the evidence: a runtime or a "
		      "hook that widens or narrows them changed the answer.",
	      .needs.os = "linux"),
	JUDGE("driver-files", ISO_09, HIGH, isolation_driver_files,
	      .title = "No container can change a driver's files",
	      .advice =
		      "Mount the driver's files read-only: code that one container writes runs in "
		      "every other one, and on the node."),
	JUDGE("host-paths", ISO_10, CRITICAL, isolation_host_paths,
	      .title = "A container reaches only the host paths it was granted",
	      .advice = "Look at the mounts in the evidence (*.container.json): those that the "
			"answer does not name come from a hook, CDI or the runtime's settings.",
	      .needs.os = "linux"),
	CHECK("isolation.node-files", ISO_05, CRITICAL, 1, isolation_node_files,
	      .title = "No answer exposes the node itself",
	      .advice = "Mount only the driver's files, one by one, and only GPU device nodes: a "
			"container with the node's root, its /proc, /sys or /etc, its disks, "
			"its memory or a socket of kubelet or runtime controls the node.",
	      .timeout_s = 300, .tags = tags_isolation,
	      .needs = {.os = "linux", .devices = 1, .live_node = true},
	      .depends_on = "allocate.one-response"),
	ISOLATION(
		"residue", ISO_11, HIGH, 1, 1, isolation_residue,
		.title = "A container finds no other container's data in device memory",
		.advice =
			"Update the driver, which does not clear memory, or assign the device only "
			"to workloads that may see each other's data."),
	ISOLATION("faults", ISO_12, HIGH, 1, 1, isolation_faults,
		  .title = "A crash or hang on a device harms no other container",
		  .advice = "Read which container failed and what its API said. Where a reset "
			    "ends all work on the device, do not share it; MPS and some drivers "
			    "of AMD on Windows do not contain faults.",
		  .provokes = true),
	ISOLATION(
		"contention", ISO_13, MEDIUM, 1, 1, isolation_contention,
		.title = "Two containers that share a device both finish their work",
		.advice =
			"Do not offer replicas of a device in exclusive mode, or of one that runs "
			"only one process at a time. The evidence has each container's share."),
	ISOLATION("lifetime", ISO_14, HIGH, 2, 1, isolation_lifetime,
		  .title = "A killed container's device and memory are usable again",
		  .advice = "Look for a process that keeps the device's nodes open (fuser), and in "
			    "the kernel log for a reset that failed. AMD's RDNA 3.5 and 4 are "
			    "known to refuse a second start on Windows (Windows-Containers issue "
			    "623).",
		  .provokes = true),
	ISOLATION(
		"plugin-restart", RES_13, CRITICAL, 1, 1, isolation_plugin_restart,
		.title = "A container keeps its device when the plugin restarts",
		.advice =
			"Reset no device and remove no file of an answer when the plugin starts or "
			"ends: pods may use them.",
		.needs.own_plugin = true),
	ISOLATION(
		"device-memory", ISO_16, MEDIUM, 1, 1, isolation_device_memory,
		.title = "A limit on a device's memory holds",
		.advice =
			"Install a newer kernel driver: this one allows more device memory than "
			"dmem.max. Do not rely on limits between containers that share the device.",
		.needs.os = "linux"),
	ISOLATION("shared-replicas", ISO_04, CRITICAL, 2, 1, shared_replicas,
		  .title = "Two containers with replicas of one device both see it",
		  .advice = "Map each replica's id to its device."),
	CHECK("isolation.every-container", ISO_05, CRITICAL, 1, isolation_every_container,
	      .title = "No container of the run controlled the node",
	      .advice = "The reason names the check that launched the container; its evidence "
			"(*.container.json) lists everything in the container. Mount only the "
			"driver's files, read-only, and only GPU device nodes.",
	      .timeout_s = 60, .tags = tags_isolation,
	      .needs = {.os = "linux", .devices = 1, .containers = true}, .last = true),
	{.id = NULL},
};
