/* SPDX-License-Identifier: MIT */
/* Isolation: a container sees what it was given, and nothing else. */
#include "conformance/checks/grant.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/visibility.h"

#include <string.h>

enum { IDS_MAX = 64 };

/* Late enough that the other container runs as well. */
static const char *const look_late[] = {"probe-visibility", "--delay", "1500", NULL};
static const char *const look[] = {"probe-visibility", NULL};

/* Each API shows as many devices as were granted for it, and /dev holds their nodes and no others.
 */
static void isolation_expect_only(struct check_run *run, const char *label, const cJSON *document,
				  const struct grant *grant)
{
	for (size_t i = 0; visibility_apis[i] != NULL; i++)
		visibility_expect_api(run, label, document, visibility_apis[i], grant);
	if (strcmp(check_context(run)->node->system.os, "windows") == 0)
		visibility_expect_dxgi(run, label, document, grant);
	visibility_expect_nodes(run, label, document, grant);
	for (size_t i = 0; i < grant->count; i++)
		check_add_device(run, grant->devices[i]->id);
}

static struct grant_reader *isolation_read_grants(struct rig *rig)
{
	struct grant_reader *grants = NULL;
	struct error err = {0};

	if (grant_reader_new(rig->context->node, &grants, &err) < 0)
		check_broken(rig->run, "%s", err.text);
	return grants;
}

static void isolation_no_allocation(struct check_run *run)
{
	static const struct grant nothing;
	struct stage *stage = stage_open(run, NULL);
	const cJSON *document =
		stage != NULL ? stage_run(stage, "no-allocation", look, NULL) : NULL;

	if (document != NULL)
		isolation_expect_only(run, "no allocation", document, &nothing);
}

/* Runs the probe with what the pod was given, which must be one device and nothing else. */
static void isolation_expect_one(struct rig *rig, struct stage *stage, struct grant_reader *grants,
				 const char *pod, const char *resource,
				 const struct kubelet_container_options *options)
{
	struct grant grant = grant_read(grants, options);
	const cJSON *document = NULL;

	if (grant.count == 0 && options->cdi_device_count != 0) {
		check_unsupported(rig->run,
				  "%s hands devices over by CDI alone: which device of the node %s "
				  "is cannot be told",
				  resource, options->cdi_devices[0].name);
		return;
	}
	document = stage_run(stage, pod, look, options);
	(void)check_expect_int(rig->run, "devices granted", (long long)grant.count, 1);
	if (document != NULL)
		isolation_expect_only(rig->run, resource, document, &grant);
}

static void isolation_single_device(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct stage *stage = rig != NULL ? stage_open(run, &rig->loop) : NULL;
	struct grant_reader *grants CLEANUP_GRANT_READER =
		stage != NULL ? isolation_read_grants(rig) : NULL;

	for (size_t i = 0; grants != NULL && i < rig->resources.count; i++) {
		struct kubelet_container_options options = {0};
		const char *resource = rig->resources.items[i];
		const struct kubelet_limit limit = {.resource = resource, .count = 1};
		char *pod CLEANUP_FREE = text_format("pod-%zu", i);

		if (pod != NULL && rig_admit(rig, pod, &limit, &options))
			isolation_expect_one(rig, stage, grants, pod, resource, &options);
		kubelet_container_options_free(&options);
	}
}

struct isolation_pair {
	struct kubelet_container_options options[2];
	struct grant grants[2];
};

static void isolation_pair_free(struct isolation_pair *pair)
{
	kubelet_container_options_free(&pair->options[0]);
	kubelet_container_options_free(&pair->options[1]);
}

/* Runs both containers at the same time, and records that they overlapped. */
static bool isolation_run_pair(struct check_run *run, struct stage *stage,
			       const struct isolation_pair *pair, const cJSON *documents[2])
{
	struct probe *first = stage_start(stage, "first", look_late, &pair->options[0]);
	struct probe *second =
		first != NULL ? stage_start(stage, "second", look_late, &pair->options[1]) : NULL;

	documents[0] = first != NULL ? stage_finish(stage, first) : NULL;
	documents[1] = second != NULL ? stage_finish(stage, second) : NULL;
	if (documents[0] == NULL || documents[1] == NULL)
		return false;
	if (probe_finished_ns(first) == 0 || probe_started_ns(second) == 0) {
		check_broken(run, "the runtime does not tell when the containers ran");
		return false;
	}
	if (probe_started_ns(second) >= probe_finished_ns(first)) {
		check_broken(run, "the containers did not run at the same time");
		return false;
	}
	return true;
}

/* Finds two ids whose answers grant one device each: different ones, or the same one. */
static bool isolation_find_pair(struct rig *rig, bool same, struct isolation_pair *pair)
{
	struct grant_reader *grants CLEANUP_GRANT_READER = isolation_read_grants(rig);

	for (size_t i = 0; grants != NULL && i < rig->resources.count; i++) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};

		if (!rig_healthy_ids(rig, rig->resources.items[i], &ids))
			return false;
		for (size_t j = 0; j < ids.count && j < IDS_MAX; j++) {
			const char *id = ids.items[j];
			const struct kubelet_limit limit = {
				.resource = rig->resources.items[i], .count = 1, .ids = &id};
			char *pod CLEANUP_FREE = text_format("%s/%s", limit.resource, id);
			struct kubelet_container_options options = {0};

			if (pod == NULL || !rig_admit(rig, pod, &limit, &options))
				return false;
			struct grant grant = grant_read(grants, &options);
			bool first = pair->grants[0].count == 0;

			if (grant.count == 1 &&
			    (first || (grant.devices[0] == pair->grants[0].devices[0]) == same)) {
				pair->grants[first ? 0 : 1] = grant;
				pair->options[first ? 0 : 1] = options;
				if (!first)
					return true;
			} else {
				rig_release(rig, pod);
				kubelet_container_options_free(&options);
			}
		}
		if (same) {
			kubelet_container_options_free(&pair->options[0]);
			*pair = (struct isolation_pair){0};
		}
	}
	return false;
}

static void isolation_two_containers(struct check_run *run)
{
	struct isolation_pair pair CLEANUP(isolation_pair_free) = {0};
	const cJSON *documents[2] = {NULL, NULL};
	struct rig *rig = rig_ready(run);
	struct stage *stage = rig != NULL ? stage_open(run, &rig->loop) : NULL;

	if (stage == NULL)
		return;
	if (!isolation_find_pair(rig, false, &pair)) {
		check_unsupported(run,
				  "the resources under test do not offer two different devices");
		return;
	}
	if (!isolation_run_pair(run, stage, &pair, documents))
		return;
	isolation_expect_only(run, pair.grants[0].devices[0]->id, documents[0], &pair.grants[0]);
	isolation_expect_only(run, pair.grants[1].devices[0]->id, documents[1], &pair.grants[1]);
}

static void isolation_shared_replicas(struct check_run *run)
{
	static const char *const two_replicas[] = {"DEVICE_PLUGIN_GPU_MULTITENANCY=2",
						   "WDDM_DEVICE_PLUGIN_MULTITENANCY=2", NULL};
	struct isolation_pair pair CLEANUP(isolation_pair_free) = {0};
	const cJSON *documents[2] = {NULL, NULL};
	struct rig *rig =
		rig_ready_with(run, check_context(run)->reference_plugin ? two_replicas : NULL);
	struct stage *stage = rig != NULL ? stage_open(run, &rig->loop) : NULL;

	if (stage == NULL)
		return;
	if (!isolation_find_pair(rig, true, &pair)) {
		check_not_applicable(run, "the plugin offers no replicas of one device");
		return;
	}
	if (!isolation_run_pair(run, stage, &pair, documents))
		return;
	isolation_expect_only(run, "first replica", documents[0], &pair.grants[0]);
	isolation_expect_only(run, "second replica", documents[1], &pair.grants[1]);
	visibility_expect_same_devices(run, documents[0], documents[1]);
}

static const char *const tags_isolation[] = {"isolation", "container", NULL};

#define ISOLATION_CHECK(name, body)                                                                \
	.id = "isolation." name, .revision = 1, .timeout_s = 180, .run = (body),                   \
	.tags = tags_isolation, .severity = CHECK_CRITICAL

static const struct check checks[] = {
	{
		ISOLATION_CHECK("no-allocation", isolation_no_allocation),
		.title = "A container without a device sees no GPU",
		.advice = "Look at what the evidence shows: a runtime hook, a default mount or a "
			  "privileged "
			  "runtime gives every container the GPU.",
		.requirement = CHECK_ISO_01,
		.needs = {.containers = true},
		.stands_on = "environment.container",
	},
	{
		ISOLATION_CHECK("single-device", isolation_single_device),
		.title = "A container with one device sees that device and no other",
		.advice = "Compare the evidence with the plugin's answer; if the answer names one "
			  "device, the "
			  "driver does not isolate: run one GPU per node until it does.",
		.requirement = CHECK_ISO_02,
		.needs = {.devices = 1, .containers = true},
		.stands_on = "allocate.one-response",
	},
	{
		ISOLATION_CHECK("two-containers", isolation_two_containers),
		.title = "Two containers at the same time see one device each, their own",
		.advice = "As for isolation.single-device; here both containers run side by side.",
		.requirement = CHECK_ISO_03,
		.needs = {.devices = 2, .containers = true},
		.stands_on = "allocate.one-response",
	},
	{
		ISOLATION_CHECK("shared-replicas", isolation_shared_replicas),
		.title = "Two containers with replicas of one device both see that device",
		.advice = "Check that the plugin maps each replica's id to its device.",
		.requirement = CHECK_ISO_04,
		.needs = {.devices = 1, .containers = true},
		.stands_on = "allocate.one-response",
	},
	{.id = NULL},
};

const struct check_suite suite_isolation = {
	.name = "isolation",
	.title = "Isolation between containers",
	.checks = checks,
};
