/* SPDX-License-Identifier: MIT */
/* What containers do to each other on the devices that they are given one after the other, or at the
 * same time. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tenants.h"
#include "reports/view.h"
#include "rpc/loop.h"

#include <string.h>

enum { CLOSED_MS = 5000, MEBIBYTE = 1 << 20 };

static const char *of(struct tenants *tenants, const struct tenant *tenant, const char *what)
{
	return check_format(tenants->run, "%s: %s", tenant->device->id, what);
}

static double number_at(const cJSON *document, const char *pointer)
{
	const cJSON *number = json_pointer(document, pointer);
	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

/*
 * Residue.
 */

/* The second container found nothing of what the first one left. */
static void judge_residue(struct tenants *tenants, struct tenant *tenant, double seed,
			  const cJSON *document)
{
	const char *what = of(tenants, tenant, "memory of the container before");
	double bytes = number_at(document, "/work/residue/bytes");
	double found = number_at(document, "/work/residue/found");
	double has = number_at(document, "/devices/0/memoryBytes");
	if (!tenant_expect_work(tenants->run, of(tenants, tenant, "the next container"), document))
		return;
	bool looked = bytes > 0 && number_at(document, "/work/residue/seed") == seed;
	if (check_expect_is(tenants->run, looked, what, "looked for", "not looked for"))
		(void)check_expect_varying(tenants->run, found == 0, what, "none of it",
					   "%.0f of its results in %.0f MiB, the first its element "
					   "%.0f",
					   found, bytes / MEBIBYTE,
					   number_at(document, "/work/residue/first"));
	if (tenant->device->kind != DISCOVERY_SOFTWARE)
		check_note(tenants->run, "%s: %.0f of its %.0f MiB were looked at, through %s",
			   tenant->device->id, bytes / MEBIBYTE, has / MEBIBYTE, tenant->api->name);
}

void isolation_residue(struct check_run *run)
{
	struct tenants tenants CLEANUP_TENANTS = {0};
	if (!tenants_open(run, false, &tenants))
		return;
	for (size_t i = 0; i < tenants.count; i++) {
		struct tenant *tenant = &tenants.items[i];
		const cJSON *first = tenant_find_api(&tenants, tenant, "fills");
		double seed = number_at(first, "/work/seed");
		const char *const words[] = {"--look-for", check_format(run, "%.0f", seed), NULL};
		const cJSON *second =
			first != NULL ? tenant_run(&tenants, tenant, "looks", words) : NULL;
		if (second == NULL)
			continue;
		if (strcmp(view_string(second, "/work/status"), "unsupported") == 0)
			check_unsupported(run, "%s: %s: %s", tenant->device->id, tenant->api->name,
					  view_string(second, "/work/reason"));
		else
			judge_residue(&tenants, tenant, seed, second);
	}
}

/*
 * Two at the same time.
 */

struct neighbours {
	struct tenant *tenant, *other; /* the same one, where its device has replicas */
	size_t offer;		       /* of the other one */
};

/* Who runs beside the tenant: on the same device, where the plugin shares it. False: nobody may. */
static bool find_neighbour(struct tenants *tenants, struct tenant *tenant, struct neighbours *out)
{
	*out = (struct neighbours){.tenant = tenant, .other = tenant, .offer = 1};
	if (tenant->count > 1)
		return true;
	out->offer = 0;
	for (size_t i = 0; i < tenants->count; i++) {
		out->other = &tenants->items[i];
		if (out->other != tenant &&
		    (out->other->api != NULL ||
		     tenant_find_api(tenants, out->other, "control") != NULL))
			return true;
	}
	return false;
}

/* The first device that works. NULL: recorded. */
static struct tenant *first_that_works(struct tenants *tenants)
{
	for (size_t i = 0; i < tenants->count; i++) {
		if (tenant_find_api(tenants, &tenants->items[i], "control") != NULL)
			return &tenants->items[i];
	}
	return NULL;
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

/* Writes behind the end of its memory, and aborts. */
static void crash(struct tenants *tenants, struct tenant *tenant)
{
	static const char *const words[] = {"--fault", "crash", NULL};
	const cJSON *document = NULL;
	struct probe *probe = tenant_start_paused(tenants, tenant, 0, "crashes", words);
	if (probe == NULL)
		return;
	stage_resume(tenants->stage, probe);
	const struct launch_result *result = stage_end(tenants->stage, probe, false, &document);
	if (result == NULL)
		return;
	(void)check_expect_varying(
		tenants->run, document == NULL || view_string(document, "/work/status")[0] != 'o',
		of(tenants, tenant, "a program that crashes"), "ends", "%s",
		describe(tenants->run, result, document));
}

/* Keeps the device busy for hours. NULL: recorded. */
static struct probe *hang(struct tenants *tenants, struct tenant *tenant)
{
	static const char *const words[] = {"--fault", "endless", "--timeout", "600000", NULL};
	struct probe *probe = tenant_start_paused(tenants, tenant, 0, "hangs", words);
	if (probe != NULL)
		stage_resume(tenants->stage, probe);
	return probe;
}

/* Kills what hangs. A device may have ended it before; that it ended by itself was no fault. */
static bool end_hang(struct tenants *tenants, struct tenant *tenant, struct probe *probe)
{
	const cJSON *document = NULL;
	const struct launch_result *result = stage_end(tenants->stage, probe, true, &document);
	if (result == NULL)
		return false;
	if (result->end != LAUNCH_STOPPED)
		check_note(tenants->run, "%s: the endless work was ended: %s", tenant->device->id,
			   describe(tenants->run, result, document));
	if (cJSON_IsTrue(json_pointer(document, "/work/verified")))
		check_unsupported(tenants->run, "%s: the endless work came to an end",
				  tenant->device->id);
	return true;
}

/* One container beside, in the midst of its work all the time; the faults of the others. */
static void beside_faults(struct tenants *tenants, struct neighbours *pair)
{
	struct probe *beside =
		tenant_start_paused(tenants, pair->other, pair->offer, "beside", NULL);
	if (beside == NULL)
		return;
	crash(tenants, pair->tenant);
	struct probe *hanging = hang(tenants, pair->tenant);
	stage_resume(tenants->stage, beside);
	const cJSON *document = stage_finish(tenants->stage, beside);
	if (document != NULL)
		(void)tenant_expect_work(tenants->run,
					 of(tenants, pair->other, "beside a crash and a hang"),
					 document);
	if (hanging != NULL)
		(void)end_hang(tenants, pair->tenant, hanging);
}

void isolation_faults(struct check_run *run)
{
	struct tenants tenants CLEANUP_TENANTS = {0};
	struct neighbours pair = {0};
	if (!tenants_open(run, true, &tenants) || !stage_can_pause(tenants.stage))
		return;
	struct tenant *tenant = first_that_works(&tenants);
	if (tenant == NULL)
		return;
	if (find_neighbour(&tenants, tenant, &pair)) {
		beside_faults(&tenants, &pair);
	} else {
		check_note(run, "one id alone can be used: nobody is beside the one that fails");
		crash(&tenants, tenant);
		struct probe *hanging = hang(&tenants, tenant);
		if (hanging != NULL)
			(void)end_hang(&tenants, tenant, hanging);
	}
	const cJSON *next = tenant_run(&tenants, tenant, "next", NULL);
	if (next != NULL)
		(void)tenant_expect_work(run, of(&tenants, tenant, "the next container"), next);
}

/* Did each of them finish a round before the other one finished its last? */
static bool overlapped(const cJSON *const documents[2])
{
	return number_at(documents[0], "/work/rounds/firstEndMs") <
		       number_at(documents[1], "/work/rounds/lastEndMs") &&
	       number_at(documents[1], "/work/rounds/firstEndMs") <
		       number_at(documents[0], "/work/rounds/lastEndMs");
}

/* Both work for so long. False: recorded, or one of them did not come so far. */
static bool run_both(struct tenants *tenants, struct neighbours *pair, const char *ms,
		     const cJSON *documents[2])
{
	const char *const words[] = {"--rounds", ms, NULL};
	struct probe *probes[2] = {tenant_start_paused(tenants, pair->tenant, 0, "first", words)};
	if (probes[0] != NULL)
		probes[1] = tenant_start_paused(tenants, pair->other, pair->offer, "second", words);
	if (probes[1] == NULL)
		return false;
	for (size_t i = 0; i < 2; i++)
		stage_resume(tenants->stage, probes[i]);
	for (size_t i = 0; i < 2; i++)
		documents[i] = stage_finish(tenants->stage, probes[i]);
	return documents[0] != NULL && documents[1] != NULL;
}

static void record_share(struct tenants *tenants, const char *which, const cJSON *document,
			 double all)
{
	double count = number_at(document, "/work/rounds/count");
	(void)check_expect_varying(tenants->run, count > 0, which, "a share of the device",
				   "%.0f rounds, %.0f %% of all; one took %.1f ms, at worst %.1f "
				   "ms",
				   count, all > 0 ? 100 * count / all : 0,
				   number_at(document, "/work/rounds/meanMs"),
				   number_at(document, "/work/rounds/worstMs"));
}

static void judge_contention(struct tenants *tenants, struct neighbours *pair,
			     const cJSON *const documents[2])
{
	double all = number_at(documents[0], "/work/rounds/count") +
		     number_at(documents[1], "/work/rounds/count");
	bool first = tenant_expect_work(tenants->run, of(tenants, pair->tenant, "the first of two"),
					documents[0]);
	bool second = tenant_expect_work(
		tenants->run, of(tenants, pair->other, "the second of two"), documents[1]);
	if (!first || !second)
		return;
	(void)check_expect_is(tenants->run, overlapped(documents), "two at the same time",
			      "each gets work done while the other works",
			      "one gets nothing done before the other has finished");
	record_share(tenants, "the first of two", documents[0], all);
	record_share(tenants, "the second of two", documents[1], all);
}

void isolation_contention(struct check_run *run)
{
	/* Longer only where one of them got nothing done: on a very busy machine a round may take
	   long. That changes what the report holds, so it should be rare. */
	static const char *const times_ms[] = {"2000", "8000"};
	struct tenants tenants CLEANUP_TENANTS = {0};
	struct neighbours pair = {0};
	const cJSON *documents[2] = {NULL, NULL};
	if (!tenants_open(run, true, &tenants) || !stage_can_pause(tenants.stage))
		return;
	struct tenant *tenant = first_that_works(&tenants);
	if (tenant == NULL)
		return;
	if (!find_neighbour(&tenants, tenant, &pair)) {
		check_not_applicable(run, "one id alone can be used: nobody runs beside another");
		return;
	}
	if (pair.other != tenant)
		check_note(run, "no device has replicas: the two work on one device each");
	for (size_t i = 0; i < ARRAY_SIZE(times_ms); i++) {
		if (!run_both(&tenants, &pair, times_ms[i], documents))
			return;
		if (overlapped(documents))
			break;
	}
	judge_contention(&tenants, &pair, documents);
}

/*
 * Lifetime.
 */

/* How often the device's nodes are open on this node; 0 for a device without any. */
static size_t count_open(const struct discovery_device *device)
{
	size_t count = 0;
	for (size_t i = 0; i < device->node_count; i++)
		count += node_file_count_open(device->nodes[i].path);
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

static void expect_closed(struct tenants *tenants, struct tenant *tenant, size_t before)
{
	struct closing closing = {tenant->device, before};
	if (tenant->device->node_count == 0)
		return;
	(void)loop_wait(&tenants->rig->loop, is_closed, &closing,
			context_limit_ms(tenants->rig->context, CLOSED_MS), "closed", NULL);
	size_t now = count_open(tenant->device);
	(void)check_expect_varying(tenants->run, now <= before,
				   of(tenants, tenant, "its nodes after the kill"),
				   "open as often as before", "%zu times, %zu before", now, before);
}

/* As much is free as before; half of what the killed one held is more than a driver rounds by. */
static void expect_freed(struct tenants *tenants, struct tenant *tenant, const cJSON *before,
			 const cJSON *after)
{
	double then = number_at(before, "/work/memoryFreeBytes");
	double now = number_at(after, "/work/memoryFreeBytes");
	double held = number_at(after, "/work/elements") * 12;
	if (then > 0 && now > 0)
		(void)check_expect_varying(tenants->run, now >= then - held / 2,
					   of(tenants, tenant, "free memory after the kill"),
					   "as much as before", "%.0f MiB, %.0f MiB before",
					   now / MEBIBYTE, then / MEBIBYTE);
	else if (tenant->device->kind != DISCOVERY_SOFTWARE)
		check_unsupported(tenants->run,
				  "%s: %s does not tell how much memory is free: that what was "
				  "killed gave it back is shown by the next container alone",
				  tenant->device->id, tenant->api->name);
}

static void lifetime_of(struct tenants *tenants, struct tenant *tenant)
{
	const cJSON *before = tenant_find_api(tenants, tenant, "before");
	size_t open = count_open(tenant->device);
	struct probe *probe = before != NULL ? hang(tenants, tenant) : NULL;
	if (probe == NULL || !end_hang(tenants, tenant, probe))
		return;
	expect_closed(tenants, tenant, open);
	const cJSON *after = tenant_run(tenants, tenant, "after", NULL);
	if (after != NULL &&
	    tenant_expect_work(tenants->run,
			       of(tenants, tenant, "the next container, with as much memory"),
			       after))
		expect_freed(tenants, tenant, before, after);
}

void isolation_lifetime(struct check_run *run)
{
	struct tenants tenants CLEANUP_TENANTS = {0};
	bool seen = false; /* a software device */
	if (!tenants_open(run, false, &tenants) || !stage_can_pause(tenants.stage))
		return;
	for (size_t i = 0; i < tenants.count; i++) {
		/* Memory and handles of a software device are those of its processes: one tells. */
		bool software = tenants.items[i].device->kind == DISCOVERY_SOFTWARE;
		if (!software || !seen || check_context(run)->thorough)
			lifetime_of(&tenants, &tenants.items[i]);
		seen = seen || software;
	}
}
