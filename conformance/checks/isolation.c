/* SPDX-License-Identifier: MIT */
/* Isolation: a container sees what it was given, and nothing else. */
#include "conformance/checks/isolation.h"

#include "base/cleanup.h"
#include "base/digest.h"
#include "base/json.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"

#include <string.h>

enum { OTHERS_MAX = 8 }; /* containers for further answers that hand out a device */

/* Milliseconds that a probe waits for the other container: on a busy machine one may come late. */
static const char *const delays[] = {"1500", "6000", "20000"};

static void no_allocation(struct check_run *run)
{
	static const struct granted nothing;
	struct isolation isolation = {.run = run, .stage = stage_open(run, NULL)};
	struct sight sight = {0};
	if (isolation.stage == NULL || !isolation_look(&isolation, "no-allocation", NULL, &sight))
		return;
	isolation_note_runtime(run);
	visibility_expect_only(run, "no allocation", &sight, NULL, &nothing);
}

static void tell_unseen(struct check_run *run, size_t unseen)
{
	check_unsupported(run,
			  "which devices %zu ids hand out cannot be told: their answers hold names "
			  "for a container runtime alone, and containers on this one saw no device "
			  "of the node",
			  unseen);
}

/* How the answers of ids turned out. */
struct judged {
	struct isolation *isolation;
	struct text_list launched; /* devices that a container was looked at with */
	struct text_list answers;  /* digests of the answers that one was looked at with */
	struct tally something;	   /* ids that hand out a device */
	struct tally one;	   /* and no second one */
	size_t unreadable, unasked, unseen, others;
};

/* Replicas of a device answer alike; what answers otherwise is looked at by itself. False: a
 * container was looked at with this answer, or recorded. */
static bool is_new(struct judged *judged, const struct offer *offer, char digest[DIGEST_SIZE])
{
	cJSON *json CLEANUP_JSON = grant_json(&offer->grant);
	char *text CLEANUP_FREE = json != NULL ? cJSON_PrintUnformatted(json) : NULL;
	if (text == NULL) {
		check_broken(judged->isolation->run, "out of memory");
		return false;
	}
	digest_bytes(text, strlen(text), digest);
	return !text_list_has(&judged->answers, digest);
}

/* What only a runtime understands may be nothing for this runtime. */
static bool is_empty(const struct granted *granted)
{
	return granted->source == GRANTED_NOTHING ||
	       (granted->source == GRANTED_SEEN && granted->count == 0 && !granted->by_runtime);
}

/* Is a container to be looked at with this answer, which hands out one device? */
static bool wants_look(struct judged *judged, const struct offer *offer, bool new_answer)
{
	if (!text_list_has(&judged->launched, offer->granted.devices[0]->id))
		return true;
	return new_answer && judged->others++ < OTHERS_MAX;
}

/* Judged here, and kept for the checks that look at the same container from other sides. */
static void judge_sight(struct isolation *isolation, const struct offer *offer,
			const struct sight *sight)
{
	(void)isolation_keep(isolation, offer, sight);
	visibility_expect_only(isolation->run, offer->resource, sight, &isolation->bare,
			       &offer->granted);
}

/* Looks at a container for each answer that differs, within bounds. */
static bool judge_offer(struct offer *offer, void *user)
{
	struct judged *judged = user;
	struct isolation *isolation = judged->isolation;
	struct sight sight = {0};
	char digest[DIGEST_SIZE] = "";
	bool new_answer = is_new(judged, offer, digest);
	if (offer->granted.source == GRANTED_UNTOLD) {
		if (!new_answer)
			return true;
		if (judged->unreadable++ >= ISOLATION_UNREADABLE_MAX) {
			judged->unasked++;
			return true;
		}
		(void)text_list_add(&judged->answers, digest, NULL);
		if (!isolation_ask(isolation, offer, &sight))
			return true;
	}
	tally_add(&judged->something, !is_empty(&offer->granted), "nothing by %s of %s", offer->id,
		  offer->resource);
	if (is_empty(&offer->granted))
		return true;
	if (offer->granted.count == 0) {
		judged->unseen++;
		return true;
	}
	tally_add(&judged->one, offer->granted.count == 1, "%zu by %s of %s", offer->granted.count,
		  offer->id, offer->resource);
	if (offer->granted.count != 1 ||
	    (sight.document == NULL && !wants_look(judged, offer, new_answer)))
		return true;
	(void)text_list_add(&judged->launched, offer->granted.devices[0]->id, NULL);
	(void)text_list_add(&judged->answers, digest, NULL);
	if (sight.document != NULL ||
	    isolation_look_at(isolation, offer->granted.devices[0]->id, offer, &sight))
		judge_sight(isolation, offer, &sight);
	return true;
}

static void single_device(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	struct judged judged = {
		.isolation = &isolation,
		.something = TALLY(run, "what an id hands out", "a device"),
		.one = TALLY(run, "devices granted", "1"),
	};
	if (!isolation_open(&isolation, run, NULL))
		return;
	(void)offers_each(isolation.rig, judge_offer, &judged);
	(void)tally_end(&judged.something);
	(void)tally_end(&judged.one);
	(void)sights_save(run, isolation.sights);
	if (judged.others > OTHERS_MAX)
		check_note(run,
			   "%zu ids answer otherwise than the first one of their device; the "
			   "containers of %d of them were looked at",
			   judged.others, OTHERS_MAX);
	if (judged.unasked != 0)
		check_unsupported(
			run,
			"the answers of %zu ids cannot be read and differ; the containers "
			"of the first %d were asked instead",
			judged.unreadable, ISOLATION_UNREADABLE_MAX);
	if (judged.unseen != 0)
		tell_unseen(run, judged.unseen);
	text_list_free(&judged.launched);
	text_list_free(&judged.answers);
}

/* Two ids that hand out one device each: different ones, or the same one. */
struct pair {
	struct isolation isolation;
	bool same;
	struct offer seen[GRANTED_DEVICES_MAX]; /* the first offer of each device */
	size_t seen_count;
	struct offer *first, second; /* of `seen`, NULL until both are found */
	size_t unreadable, unseen;
};

static void pair_free(struct pair **pair)
{
	if (*pair == NULL)
		return;
	for (size_t i = 0; i < (*pair)->seen_count; i++)
		offer_close((*pair)->isolation.rig, &(*pair)->seen[i]);
	offer_close((*pair)->isolation.rig, &(*pair)->second);
	isolation_close(&(*pair)->isolation);
	free(*pair);
}

/* Takes the offer over when it is one of the pair, or may become one. */
static bool pair_offer(struct offer *offer, void *user)
{
	struct pair *pair = user;
	struct sight sight = {0};
	if (offer->granted.source == GRANTED_UNTOLD &&
	    pair->unreadable++ < ISOLATION_UNREADABLE_MAX)
		(void)isolation_ask(&pair->isolation, offer, &sight);
	if (offer->granted.count != 1) {
		pair->unseen +=
			offer->granted.count == 0 && offer->granted.source != GRANTED_NOTHING;
		return true;
	}
	for (size_t i = 0; pair->first == NULL && i < pair->seen_count; i++) {
		if ((pair->seen[i].granted.devices[0] == offer->granted.devices[0]) == pair->same)
			pair->first = &pair->seen[i];
	}
	if (pair->first == NULL && pair->seen_count == GRANTED_DEVICES_MAX)
		return true;
	*(pair->first != NULL ? &pair->second : &pair->seen[pair->seen_count++]) = *offer;
	*offer = (struct offer){0};
	return pair->first == NULL;
}

/* NULL: recorded. */
static struct pair *find_pair(struct check_run *run, bool same, const char *const *env)
{
	struct pair *pair CLEANUP(pair_free) = calloc(1, sizeof(*pair));
	struct error err = {0};
	if (!check_works(run, pair != NULL ? 0 : error_memory(&err), NULL, &err) ||
	    !isolation_open(&pair->isolation, run, env))
		return NULL;
	pair->same = same;
	size_t ids = offers_each(pair->isolation.rig, pair_offer, pair);
	if (pair->first != NULL)
		return STEAL(pair);
	if (ids != 0 && pair->unseen != 0)
		tell_unseen(run, pair->unseen);
	else if (ids != 0 && same)
		check_not_applicable(run, "the plugin offers no replicas of one device");
	else if (ids != 0)
		check_unsupported(run, "no two of the %zu ids hand out different devices", ids);
	return NULL;
}

/* Runs both containers, and says whether they overlapped. False: recorded. */
static bool run_both(struct pair *pair, const char *delay, struct sight sights[2], bool *together)
{
	const char *const look_late[] = {"probe-visibility", "--delay", delay, NULL};
	struct stage *stage = pair->isolation.stage;
	struct probe *first = stage_start(stage, "first", look_late, &pair->first->grant);
	struct probe *second =
		first != NULL ? stage_start(stage, "second", look_late, &pair->second.grant) : NULL;
	if (first != NULL)
		sights[0] = (struct sight){stage_finish(stage, first), probe_view(first)};
	if (second != NULL)
		sights[1] = (struct sight){stage_finish(stage, second), probe_view(second)};
	if (sights[0].document == NULL || sights[1].document == NULL)
		return false;
	if (probe_result(first)->finished_ns == 0 || probe_result(second)->started_ns == 0) {
		check_broken(pair->isolation.run,
			     "the runtime does not tell when the containers ran");
		return false;
	}
	*together = probe_result(second)->started_ns < probe_result(first)->finished_ns;
	return true;
}

static bool run_pair(struct pair *pair, struct sight sights[2])
{
	bool together = false;
	if (!offer_admit(pair->isolation.rig, pair->first) ||
	    !offer_admit(pair->isolation.rig, &pair->second))
		return false;
	for (size_t i = 0; !together && i < ARRAY_SIZE(delays); i++) {
		if (!run_both(pair, delays[i], sights, &together))
			return false;
	}
	if (!together)
		check_broken(pair->isolation.run, "the containers did not run at the same time");
	return together;
}

static void two_containers(struct check_run *run)
{
	struct pair *pair CLEANUP(pair_free) = find_pair(run, false, NULL);
	struct sight sights[2] = {{0}};
	if (pair == NULL || !run_pair(pair, sights))
		return;
	const struct granted *first = &pair->first->granted;
	const struct granted *second = &pair->second.granted;
	visibility_expect_only(pair->isolation.run, first->devices[0]->id, &sights[0],
			       &pair->isolation.bare, first);
	visibility_expect_only(pair->isolation.run, second->devices[0]->id, &sights[1],
			       &pair->isolation.bare, second);
	visibility_expect_different_devices(run, sights[0].document, sights[1].document);
}

/* One container with the devices of both offers. */
static bool open_both(struct pair *pair, struct offer *both)
{
	struct rig *rig = pair->isolation.rig;
	const char *const ids[] = {pair->first->id, pair->second.id};
	const char *resources[] = {pair->first->resource, pair->second.resource};
	bool same = strcmp(resources[0], resources[1]) == 0;
	const struct kubelet_limit limits[] = {
		{.resource = resources[0], .count = same ? 2 : 1, .ids = ids},
		{.resource = resources[1], .count = 1, .ids = &ids[1]},
	};
	if (pair->first->pod != NULL)
		rig_release(rig, pair->first->pod);
	if (pair->second.pod != NULL)
		rig_release(rig, pair->second.pod);
	return offer_open(rig, limits, same ? 1 : 2, both);
}

/* What one resource says and another one takes back is for allocate.* to judge. */
static bool is_contradicted(const struct offer *offer)
{
	for (size_t i = 0; i < offer->grant.conflict_count; i++) {
		if (!offer->grant.conflicts[i].same && !offer->grant.conflicts[i].dropped)
			return true;
	}
	return false;
}

/* For the checks that look at the same containers from other sides, if there are such already. */
static void keep_both(struct pair *pair, const struct sight *sight, const struct granted *granted,
		      const struct grant *grant)
{
	cJSON *sights CLEANUP_JSON = sights_read(pair->isolation.run);
	if (sights != NULL &&
	    sights_add(pair->isolation.run, sights, "two-devices", sight, granted, grant))
		(void)sights_save(pair->isolation.run, sights);
}

static void judge_both(struct pair *pair, struct offer *both)
{
	struct granted wanted = {.source = GRANTED_READ};
	struct sight sight = {0};
	granted_add(&wanted, pair->first->granted.devices[0]);
	granted_add(&wanted, pair->second.granted.devices[0]);
	if (is_contradicted(both)) {
		check_not_applicable(pair->isolation.run,
				     "the answers of %s and %s contradict each other, and a "
				     "kubelet keeps one of them",
				     pair->first->resource, pair->second.resource);
		return;
	}
	if (both->granted.source == GRANTED_READ)
		(void)check_expect_int(pair->isolation.run, "devices granted",
				       (long long)both->granted.count, 2);
	if (!isolation_look(&pair->isolation, "two-devices", &both->grant, &sight))
		return;
	visibility_expect_only(pair->isolation.run, "two devices", &sight, &pair->isolation.bare,
			       &wanted);
	keep_both(pair, &sight, &wanted, &both->grant);
}

static void two_devices(struct check_run *run)
{
	struct pair *pair CLEANUP(pair_free) = find_pair(run, false, NULL);
	struct offer both = {0};
	if (pair == NULL || !open_both(pair, &both))
		return;
	judge_both(pair, &both);
	offer_close(pair->isolation.rig, &both);
}

static void shared_replicas(struct check_run *run)
{
	static const char *const two_replicas[] = {"DEVICE_PLUGIN_GPU_MULTITENANCY=2",
						   "WDDM_DEVICE_PLUGIN_MULTITENANCY=2", NULL};
	const char *const *env = check_context(run)->reference_plugin ? two_replicas : NULL;
	struct pair *pair CLEANUP(pair_free) = find_pair(run, true, env);
	struct sight sights[2] = {{0}};
	if (pair == NULL || !run_pair(pair, sights))
		return;
	visibility_expect_only(pair->isolation.run, "first replica", &sights[0],
			       &pair->isolation.bare, &pair->second.granted);
	visibility_expect_only(run, "second replica", &sights[1], &pair->isolation.bare,
			       &pair->second.granted);
	visibility_expect_same_devices(run, sights[0].document, sights[1].document);
}

static const char *const tags_isolation[] = {"isolation", "container", NULL};

#define ISOLATION(name, rule, severity, meaning, body)                                             \
	CHECK_ROW("isolation." name, rule, severity, meaning),                                     \
		.timeout_s = 300, .run = (body), .tags = tags_isolation,                           \
		.stands_on = "allocate.one-response"

const struct check isolation_checks[] = {
	{
		CHECK_ROW("isolation.no-allocation", ISO_01, CRITICAL, 2),
		.title = "A container without a device sees no GPU",
		.advice = "Look at what the evidence shows: a runtime hook, a default mount or a "
			  "privileged runtime gives every container the GPU.",
		.timeout_s = 300,
		.tags = tags_isolation,
		.needs = {.containers = true},
		.stands_on = "environment.container",
		.run = no_allocation,
	},
	{
		ISOLATION("single-device", ISO_02, CRITICAL, 2, single_device),
		.title = "A container with one device sees that device and no other",
		.advice =
			"Compare the evidence with the plugin's answer; if the answer names one "
			"device, the driver does not isolate: run one GPU per node until it "
			"does. Windows Server 2022 is known to show every GPU now and then to a "
			"container with one location path (microsoft/Windows-Containers issue 333).",
		.needs = {.devices = 1, .containers = true},
	},
	{
		ISOLATION("two-containers", ISO_03, CRITICAL, 2, two_containers),
		.title = "Two containers at the same time see one device each, their own",
		.advice = "As for isolation.single-device; here both containers run side by side.",
		.needs = {.devices = 2, .containers = true},
	},
	{
		ISOLATION("two-devices", ISO_02, CRITICAL, 1, two_devices),
		.title = "A container with two devices sees both and no third",
		.advice = "Compare the answer for two ids with those for each of them alone: a "
			  "variable or a path that is there once holds one device.",
		.needs = {.os = "linux", .devices = 2, .containers = true},
	},
	{
		ISOLATION("apis-agree", ISO_06, MEDIUM, 1, isolation_apis_agree),
		.title = "The APIs of a container tell the same of its device",
		.advice = "The reason says which API tells what. Drivers of two versions in one "
			  "container, or an API that reaches another device, tell different UUIDs "
			  "and addresses; work that APIs share then fails.",
		.needs = {.devices = 1, .containers = true},
	},
	{
		ISOLATION("management-apis", ISO_07, LOW, 1, isolation_management_apis),
		.title = "Management libraries show a container its own device alone",
		.advice =
			"NVML and nvidia-smi show what the kernel module lets the container reach, "
			"past CUDA_VISIBLE_DEVICES: hand out the node of the one device. On "
			"Windows they always show each device of the host.",
		.needs = {.devices = 1, .containers = true},
	},
	{
		ISOLATION("device-nodes", ISO_08, CRITICAL, 1, isolation_device_nodes),
		.title = "A container has and can make no other device nodes",
		.advice =
			"Look for a runtime that is privileged or has device rules of its own "
			"(base_runtime_spec, a hook): beside what the answer hands out a container "
			"gets the nodes of the OCI runtime specification alone.",
		.needs = {.os = "linux", .devices = 1, .containers = true},
	},
	{
		ISOLATION("driver-files", ISO_09, HIGH, 1, isolation_driver_files),
		.title = "No container can change the files of a driver",
		.advice = "Mount the driver's files read-only: what one container writes to them "
			  "runs in every other one, and on the node.",
		.needs = {.devices = 1, .containers = true},
	},
	{
		ISOLATION("host-paths", ISO_10, CRITICAL, 1, isolation_host_paths),
		.title = "A container reaches no path of the host but what it was given",
		.advice = "Look at the mounts in the evidence (*.container.json): those that the "
			  "answer does not name come from a hook, CDI or the runtime's settings.",
		.needs = {.os = "linux", .devices = 1, .containers = true},
	},
	{
		ISOLATION("node-files", ISO_05, CRITICAL, 1, isolation_node_files),
		.title = "No answer hands out the node itself",
		.advice = "Mount what the driver needs, file by file, and hand out the nodes of "
			  "GPUs alone: who holds the node's root, its /proc, /sys or /etc, its "
			  "disks, its memory or a socket of kubelet or runtime holds the node.",
		.needs = {.os = "linux", .devices = 1, .live_node = true},
	},
	{
		ISOLATION("residue", ISO_11, HIGH, 1, isolation_residue),
		.title = "A container finds nothing of another one's in a device's memory",
		.advice =
			"The driver hands out memory as the last process left it. Update it, or give "
			"such a device to workloads that may see each other's data alone.",
		.needs = {.devices = 1, .containers = true},
	},
	{
		ISOLATION("faults", ISO_12, HIGH, 1, isolation_faults),
		.title = "A crash or a hang on a device harms no other container",
		.advice =
			"Read which container failed and what its API said. Where a reset takes "
			"everybody along, do not share the device; MPS and some drivers of AMD on "
			"Windows do not contain faults.",
		.provokes = true,
		.needs = {.devices = 1, .containers = true},
	},
	{
		ISOLATION("contention", ISO_13, MEDIUM, 1, isolation_contention),
		.title = "Two containers at the same time both get their work done",
		.advice =
			"Do not offer replicas of a device in exclusive mode, nor of one that runs a "
			"process to its end before the next. The shares are in the evidence.",
		.needs = {.devices = 1, .containers = true},
	},
	{
		ISOLATION("lifetime", ISO_14, HIGH, 1, isolation_lifetime),
		.title = "A killed container's device and memory are there for the next one",
		.advice =
			"Look for a process that keeps the device's nodes open (fuser), and in the "
			"kernel log for a reset that failed. AMD's RDNA 3.5 and 4 are known to "
			"refuse a second start on Windows (Windows-Containers issue 623).",
		.provokes = true,
		.needs = {.devices = 1, .containers = true},
	},
	{
		ISOLATION("shared-replicas", ISO_04, CRITICAL, 2, shared_replicas),
		.title = "Two containers with replicas of one device both see that device",
		.advice = "Check that the plugin maps each replica's id to its device.",
		.needs = {.devices = 1, .containers = true},
	},
	{.id = NULL},
};
