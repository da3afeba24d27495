/* SPDX-License-Identifier: MIT */
/* Containers that use a device one after the other, or at the same time, must not harm each other. */
#include "conformance/checks/isolation.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/shown.h"
#include "conformance/checks/suites.h"
#include "reports/view.h"

#include <signal.h>
#include <string.h>

enum { BEGUN_MS = 500, CLOSED_MS = 5000, LATE_MAX = 3, MEBIBYTE = 1 << 20 };

/* Memory and handles of a software device belong to its processes: one of them is enough. */
static bool is_one_more(const struct isolation *isolation, size_t tenant)
{
	const struct tenant *tenants = isolation->tenants;
	if (tenants[tenant].device->kind != DISCOVERY_SOFTWARE ||
	    check_context(isolation->run)->thorough)
		return false;
	items_each (before, tenants, tenant) {
		if (before->device->kind == DISCOVERY_SOFTWARE)
			return true;
	}
	return false;
}

void isolation_residue(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	if (!tenants_open(&isolation, run, false))
		return;
	for (size_t i = 0; i < isolation.count; i++) {
		struct tenant *tenant = &isolation.tenants[i];
		const char *id = tenant->device->id;
		const cJSON *first =
			is_one_more(&isolation, i) ? NULL : tenant_find_api(tenant, "fills");
		if (first == NULL)
			continue;
		double seed = json_pointer_number(first, "/work/seed");
		const char *const words[] = {"--look-for", check_format(run, "%.0f", seed), NULL};
		const cJSON *second = tenant_run(tenant, "looks", words);
		if (second == NULL)
			continue;
		if (strcmp(view_string(second, "/work/status"), "unsupported") == 0) {
			check_unsupported(run, "%s: %s: %s", id, tenant->api->name,
					  view_string(second, "/work/reason"));
			continue;
		}
		if (!tenant_expect_work(tenant, "the next container", second))
			continue;

		const char *what = tenant_label(tenant, "memory of the container before");
		double bytes = json_pointer_number(second, "/work/residue/bytes");
		double found = json_pointer_number(second, "/work/residue/found");
		double has = json_pointer_number(shown_device(second), "/memoryBytes");
		bool searched =
			bytes > 0 && json_pointer_number(second, "/work/residue/seed") == seed;
		if (check_expect_is(run, searched, what, "searched", "not searched"))
			(void)check_expect_varying(
				run, found == 0, what, "none of it",
				"%.0f of its results in %.0f MiB, the first its element %.0f",
				found, bytes / MEBIBYTE,
				json_pointer_number(second, "/work/residue/first"));
		if (tenant->device->kind != DISCOVERY_SOFTWARE)
			check_note(run, "%s: %.0f of its %.0f MiB were searched, through %s", id,
				   bytes / MEBIBYTE, has / MEBIBYTE, tenant->api->name);
	}
}

struct neighbours {
	struct tenant *tenant;
	struct tenant *other; /* the same one, if its device has replicas; NULL: none */
	size_t offer;	      /* of the other one */
};

/* The index of the first device that works; their count: none does, or recorded. */
static size_t open_working(struct isolation *isolation, struct check_run *run, bool replicas)
{
	size_t i = 0;
	if (!tenants_open(isolation, run, replicas) || !stage_can_pause(isolation->stage))
		return isolation->count;
	while (i < isolation->count && tenant_find_api(&isolation->tenants[i], "control") == NULL)
		i++;
	return i;
}

/* The first device that works, and a neighbour: on the same device where the plugin shares it. False:
 * recorded. */
static bool open_neighbours(struct isolation *isolation, struct check_run *run,
			    struct neighbours *out)
{
	size_t i = open_working(isolation, run, true);
	if (i == isolation->count)
		return false;
	*out = (struct neighbours){.tenant = &isolation->tenants[i]};
	if (out->tenant->count > 1) {
		out->other = out->tenant;
		out->offer = 1;
	}
	/* Devices before it do not work. */
	while (out->other == NULL && ++i < isolation->count) {
		if (tenant_find_api(&isolation->tenants[i], "control") != NULL)
			out->other = &isolation->tenants[i];
	}
	return true;
}

static const char *describe(struct check_run *run, const struct launch_result *result,
			    const cJSON *document)
{
	char how[512] = "";
	launch_describe(result, how, sizeof(how));
	return document == NULL
		       ? check_format(run, "%s", how)
		       : check_format(run, "%s (%s)", view_string(document, "/work/reason"),
				      view_string(document, "/work/status"));
}

/* Writes beyond the end of its memory, and aborts. */
static void crash(struct tenant *tenant)
{
	static const char *const words[] = {"--fault", "crash", NULL};
	const cJSON *document = NULL;
	struct probe *probe = tenant_start_paused(tenant, 0, "crashes", words);
	if (probe == NULL)
		return;
	stage_resume(tenant->stage, probe);
	const struct launch_result *result = stage_end(tenant->stage, probe, false, &document);
	if (result == NULL)
		return;
	(void)check_expect_varying(
		tenant->run,
		result->end != LAUNCH_TIMED_OUT &&
			(document == NULL ||
			 strcmp(view_string(document, "/work/status"), "ok") != 0),
		tenant_label(tenant, "a program that crashes"), "ends", "%s",
		describe(tenant->run, result, document));
}

/* Keeps the device busy for hours. NULL: recorded. */
static struct probe *hang(struct tenant *tenant)
{
	static const char *const words[] = {"--fault", "endless", "--timeout", "600000", NULL};
	struct probe *probe = tenant_start_paused(tenant, 0, "hangs", words);
	if (probe != NULL)
		stage_resume(tenant->stage, probe);
	return probe;
}

/* Kills the hanging probe, unless its device has ended it before. Work that ends by itself was no hang. */
static bool end_hang(struct tenant *tenant, struct probe *probe)
{
	const cJSON *document = NULL;
	const struct launch_result *result = stage_end(tenant->stage, probe, true, &document);
	if (result == NULL)
		return false;
	if (result->end != LAUNCH_STOPPED)
		check_note(tenant->run, "%s: the endless work was ended: %s", tenant->device->id,
			   describe(tenant->run, result, document));
	if (json_pointer_true(document, "/work/verified"))
		check_unsupported(tenant->run, "%s: the endless work came to an end",
				  tenant->device->id);
	return true;
}

void isolation_faults(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	struct neighbours pair = {0};
	if (!open_neighbours(&isolation, run, &pair))
		return;

	/* The neighbour is in the middle of its work during both faults. */
	struct probe *beside = NULL;
	if (pair.other == NULL)
		check_note(run,
			   "only one id can be used: no container runs next to the failing one");
	else
		beside = tenant_start_paused(pair.other, pair.offer, "beside", NULL);
	if (pair.other == NULL || beside != NULL) {
		crash(pair.tenant);
		struct probe *hanging = hang(pair.tenant);
		if (beside != NULL) {
			stage_resume(isolation.stage, beside);
			const cJSON *document = stage_finish(isolation.stage, beside);
			if (document != NULL)
				(void)tenant_expect_work(pair.other, "next to a crash and a hang",
							 document);
		}
		if (hanging != NULL)
			(void)end_hang(pair.tenant, hanging);
	}

	const cJSON *next = tenant_run(pair.tenant, "next", NULL);
	if (next != NULL)
		(void)tenant_expect_work(pair.tenant, "the next container", next);
}

/* Did each of them finish a round before the other one finished its last? */
static bool overlapped(const cJSON *const documents[2])
{
	return json_pointer_number(documents[0], "/work/rounds/firstEndMs") <
		       json_pointer_number(documents[1], "/work/rounds/lastEndMs") &&
	       json_pointer_number(documents[1], "/work/rounds/firstEndMs") <
		       json_pointer_number(documents[0], "/work/rounds/lastEndMs");
}

/* Runs both for this long. False: recorded. */
static bool run_both(const struct neighbours *pair, const char *ms, const cJSON *documents[2])
{
	const char *const words[] = {"--rounds", ms, NULL};
	struct stage *stage = pair->tenant->stage;
	struct probe *probes[2] = {tenant_start_paused(pair->tenant, 0, "first", words)};
	if (probes[0] != NULL)
		probes[1] = tenant_start_paused(pair->other, pair->offer, "second", words);
	if (probes[1] == NULL)
		return false;
	array_each (probe, probes)
		stage_resume(stage, *probe);
	for (size_t i = 0; i < 2; i++)
		documents[i] = stage_finish(stage, probes[i]);
	return documents[0] != NULL && documents[1] != NULL;
}

void isolation_contention(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	struct neighbours pair = {0};
	if (!open_neighbours(&isolation, run, &pair))
		return;
	if (pair.other == NULL) {
		check_not_applicable(
			run, "only one id can be used: no two containers run at the same time");
		return;
	}
	if (pair.other != pair.tenant)
		check_note(run, "no device has replicas: the two work on one device each");

	/* Longer times only if one of them finished nothing: on a very busy machine a round may
	 * take long. That changes what the report holds, so it should be rare. */
	static const char *const times_ms[] = {"2000", "8000"};
	const cJSON *documents[2] = {NULL, NULL};
	for (size_t i = 0; i < ARRAY_SIZE(times_ms) && (i == 0 || !overlapped(documents)); i++) {
		if (!run_both(&pair, times_ms[i], documents))
			return;
	}

	static const char *const names[] = {"the first of two", "the second of two"};
	bool first = tenant_expect_work(pair.tenant, names[0], documents[0]);
	bool second = tenant_expect_work(pair.other, names[1], documents[1]);
	if (!first || !second)
		return;
	(void)check_expect_is(run, overlapped(documents), "two at the same time",
			      "each gets work done while the other works",
			      "one gets nothing done before the other has finished");
	double all = json_pointer_number(documents[0], "/work/rounds/count") +
		     json_pointer_number(documents[1], "/work/rounds/count");
	for (size_t i = 0; i < 2; i++) {
		double count = json_pointer_number(documents[i], "/work/rounds/count");
		(void)check_expect_varying(
			run, count > 0, names[i], "a share of the device",
			"%.0f rounds, %.0f %% of all; one took %.1f ms, at worst %.1f ms", count,
			all > 0 ? 100 * count / all : 0,
			json_pointer_number(documents[i], "/work/rounds/meanMs"),
			json_pointer_number(documents[i], "/work/rounds/worstMs"));
	}
}

/* How often the device's nodes are open on this node; 0 for a device without any. */
static size_t count_open(const struct discovery_device *device)
{
	size_t count = 0;
	items_each (node, device->nodes, device->node_count)
		count += node_file_count_open(node->path);
	return count;
}

struct closing {
	const struct discovery_device *device;
	size_t before;
};

static bool is_closed(void *user)
{
	const struct closing *closing = user;
	return count_open(closing->device) <= closing->before;
}

static void lifetime_of(struct tenant *tenant)
{
	const cJSON *before = tenant_find_api(tenant, "before");
	struct closing closing = {tenant->device, count_open(tenant->device)};
	struct probe *probe = before != NULL ? hang(tenant) : NULL;
	if (probe == NULL)
		return;
	/* It is killed in the middle of its work. */
	(void)rig_watch(tenant->rig, BEGUN_MS, BEGUN_MS);
	if (!end_hang(tenant, probe))
		return;

	if (tenant->device->node_count != 0) {
		(void)loop_wait(&tenant->rig->loop, is_closed, &closing,
				context_limit_ms(tenant->rig->context, CLOSED_MS), "closed", NULL);
		size_t open = count_open(tenant->device);
		(void)check_expect_varying(tenant->run, open <= closing.before,
					   tenant_label(tenant, "its nodes after the kill"),
					   "open as often as before", "%zu times, %zu before", open,
					   closing.before);
	}

	const cJSON *after = tenant_run(tenant, "after", NULL);
	if (after == NULL ||
	    !tenant_expect_work(tenant, "the next container, with as much memory", after))
		return;
	/* Its memory belongs to the processes that have its nodes open; free memory does not show it. */
	if (tenant_is_on_processor(tenant->device) || tenant->device->integrated) {
		check_note(tenant->run,
			   "%s: it has no memory of its own, and others use what it uses",
			   tenant->device->id);
		return;
	}

	/* Half of the killed container's memory is more than any rounding by a driver; some free it
	 * late. */
	double then = json_pointer_number(before, "/work/memoryFreeBytes");
	double now = json_pointer_number(after, "/work/memoryFreeBytes");
	double least = then - json_pointer_number(after, "/work/elements") * 12 / 2;
	for (int i = 0; i < LATE_MAX && now > 0 && now < least; i++) {
		after = tenant_run(tenant, "later", NULL);
		if (after == NULL || !tenant_expect_work(tenant, "a later container", after))
			return;
		now = json_pointer_number(after, "/work/memoryFreeBytes");
	}
	if (then > 0 && now > 0)
		(void)check_expect_varying(tenant->run, now >= least,
					   tenant_label(tenant, "free memory after the kill"),
					   "as much as before", "%.0f MiB, %.0f MiB before",
					   now / MEBIBYTE, then / MEBIBYTE);
	else
		check_unsupported(tenant->run,
				  "%s: %s does not report free memory: only the next container "
				  "shows that the killed one freed its memory",
				  tenant->device->id, tenant->api->name);
}

void isolation_lifetime(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	if (!tenants_open(&isolation, run, false) || !stage_can_pause(isolation.stage))
		return;
	for (size_t i = 0; i < isolation.count; i++) {
		if (!is_one_more(&isolation, i))
			lifetime_of(&isolation.tenants[i]);
	}
}

void isolation_plugin_restart(struct check_run *run)
{
	struct isolation isolation CLEANUP_ISOLATION = {0};
	size_t i = open_working(&isolation, run, false);
	if (i == isolation.count)
		return;
	struct tenant *tenant = &isolation.tenants[i];
	struct rig *rig = isolation.rig;
	struct probe *probe = tenant_start_paused(tenant, 0, "running", NULL);
	if (probe == NULL || !rig_restart_plugin(rig, SIGTERM))
		return;
	stage_resume(isolation.stage, probe);
	const cJSON *document = stage_finish(isolation.stage, probe);
	if (document == NULL ||
	    !tenant_expect_work(tenant, "a container that ran while the plugin restarted",
				document))
		return;

	/* A container that ends is started again with the answer that the kubelet has stored. */
	if (rig_options(rig, tenant->offers[0].resource).pre_start_required) {
		check_note(
			run,
			"without the plugin no container starts: it asked for PreStartContainer");
		return;
	}
	if (!rig_stop_plugin(rig, SIGTERM))
		return;
	document = tenant_run(tenant, "again", NULL);
	if (document != NULL)
		(void)tenant_expect_work(tenant, "a container that starts again without the plugin",
					 document);
}
