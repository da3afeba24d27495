/* SPDX-License-Identifier: MIT */
#include "conformance/checks/isolation.h"

#include "conformance/checks/suites.h"
#include "reports/view.h"

static bool is_verified(const cJSON *document)
{
	return json_pointer_true(document, "/work/verified");
}

/* Why the work failed. */
static const char *failure_reason(const cJSON *document)
{
	const char *of_work = view_string(document, "/work/reason");
	return of_work[0] != '\0' ? of_work : view_string(document, "/api/reason");
}

static bool computes(const struct discovery_device *device)
{
	gpu_api_each (api) {
		if (api_computes(device, api))
			return true;
	}
	return false;
}

/* A device without APIs, such as a virtual GPU without 3D, next to one that computes: no API shows what a
 * container leaves behind on it. */
static bool is_left_out(const struct isolation *isolation, const struct discovery_device *device)
{
	if (isolation->wanted != TENANTS_ALL || computes(device))
		return false;
	node_each (other, check_context(isolation->run)->node) {
		if (computes(other)) {
			check_note(isolation->run, "%s: left out: it offers no API that computes",
				   device->id);
			return true;
		}
	}
	return false;
}

/* Moves the offer into the tenant of its device, if it is one of the first two of that device. */
static bool add_tenant(struct offer *offer, void *user)
{
	struct isolation *isolation = user;
	struct tenant *tenants = isolation->tenants;
	bool same = isolation->wanted == TENANTS_SAME;
	size_t most = isolation->wanted == TENANTS_ALL ? TENANTS_MAX : GRANTED_DEVICES_MAX;
	struct observation observation = {0};
	if (offer->granted.source == GRANTED_UNKNOWN)
		(void)isolation_ask(isolation, offer, &observation);
	if (offer->granted.count != 1) {
		isolation->unseen +=
			offer->granted.count == 0 && offer->granted.source != GRANTED_NOTHING;
		return true;
	}

	const struct discovery_device *device = offer->granted.devices[0];
	if (is_left_out(isolation, device))
		return true;
	size_t i = 0;
	while (i < isolation->count && tenants[i].device != device)
		i++;
	if (i == most || tenants[i].count == ARRAY_SIZE(tenants[i].offers))
		return true;
	tenants[i].run = isolation->run;
	tenants[i].rig = isolation->rig;
	tenants[i].stage = isolation->stage;
	tenants[i].device = device;
	tenants[i].offers[tenants[i].count++] = *offer;
	isolation->count += i == isolation->count;
	*offer = (struct offer){0};

	if (isolation->wanted == TENANTS_ALL || (same ? tenants[i].count : isolation->count) != 2)
		return true;
	isolation->pair[0] = &tenants[same ? i : 0].offers[0];
	isolation->pair[1] = same ? &tenants[i].offers[1] : &tenants[1].offers[0];
	return false;
}

/* Asks for replicas where the plugin is the project's own. False: recorded. */
static bool open_with(struct isolation *isolation, struct check_run *run, bool replicas)
{
	static const char *const two[] = {"DEVICE_PLUGIN_GPU_MULTITENANCY=2",
					  "WDDM_DEVICE_PLUGIN_MULTITENANCY=2", NULL};
	bool own = check_context(run)->reference_plugin;
	return isolation_open(isolation, run, replicas && own ? two : NULL);
}

bool tenants_open(struct isolation *isolation, struct check_run *run, bool replicas)
{
	if (!open_with(isolation, run, replicas))
		return false;
	(void)offers_each(isolation->rig, add_tenant, isolation);
	items_each (tenant, isolation->tenants, isolation->count)
		check_add_device(run, tenant->device->id);
	if (isolation->count == 0)
		check_unsupported(run, "no id is known to hand out one device that computes");
	return isolation->count != 0;
}

bool tenants_open_pair(struct isolation *isolation, struct check_run *run,
		       enum tenants_wanted wanted)
{
	isolation->wanted = wanted;
	if (!open_with(isolation, run, wanted == TENANTS_SAME) ||
	    !isolation_inspect_bare(isolation))
		return false;
	size_t ids = offers_each(isolation->rig, add_tenant, isolation);
	if (isolation->pair[0] != NULL || ids == 0)
		return isolation->pair[0] != NULL;
	if (isolation->unseen != 0)
		offer_report_unseen(run, "", isolation->unseen);
	else if (wanted == TENANTS_SAME)
		check_not_applicable(run, "the plugin offers no replicas of one device");
	else
		check_unsupported(run, "no two of the %zu ids hand out different devices", ids);
	return false;
}

const char *tenant_label(const struct tenant *tenant, const char *what)
{
	return check_format(tenant->run, "%s: %s", tenant->device->id, what);
}

bool tenant_is_on_processor(const struct discovery_device *device)
{
	return device->kind == DISCOVERY_SOFTWARE || device->kind == DISCOVERY_VIRTUAL;
}

/* Starts the probe; `pauses`: it waits in the middle of its work. NULL: recorded. */
static struct probe *start(struct tenant *tenant, size_t offer, const char *label,
			   const char *const *words, bool pauses)
{
	/* Much for a GPU, which a processor takes long to compute. */
	const char *command[5 + TENANT_WORDS_MAX + 1] = {
		check_format(tenant->run, "probe-%s", tenant->api->name),
		"--size",
		tenant_is_on_processor(tenant->device) ? "262144" : "16777216",
	};
	size_t count = 3;
	if (pauses) {
		command[count++] = "--pause";
		command[count++] = LAUNCH_PAUSE_PATH;
	}
	for (size_t i = 0; words != NULL && words[i] != NULL && i < TENANT_WORDS_MAX; i++)
		command[count++] = words[i];
	label = check_format(tenant->run, "%s-%s", tenant->device->id, label);
	if (!offer_admit(tenant->rig, &tenant->offers[offer]))
		return NULL;
	return stage_start(tenant->stage, label, command, &tenant->offers[offer].grant);
}

struct probe *tenant_start_paused_or_not(struct tenant *tenant, size_t offer, const char *label)
{
	return start(tenant, offer, label, NULL, true);
}

struct probe *tenant_start_paused(struct tenant *tenant, size_t offer, const char *label,
				  const char *const *words)
{
	struct probe *probe = start(tenant, offer, label, words, true);
	if (probe == NULL || stage_wait_paused(tenant->stage, probe))
		return probe;
	const cJSON *document = stage_finish(tenant->stage, probe);
	if (document != NULL)
		(void)check_expect(tenant->run, false, tenant_label(tenant, label),
				   "in the midst of its work", "%s", failure_reason(document));
	return NULL;
}

const cJSON *tenant_run(struct tenant *tenant, const char *label, const char *const *words)
{
	struct probe *probe = start(tenant, 0, label, words, false);
	return probe != NULL ? stage_finish(tenant->stage, probe) : NULL;
}

const cJSON *tenant_find_api(struct tenant *tenant, const char *label)
{
	const char *reason = "it offers no API that computes";
	gpu_api_each (api) {
		if (!api_computes(tenant->device, api))
			continue;
		tenant->api = api;
		const cJSON *document = tenant_run(tenant, label, NULL);
		if (document == NULL || is_verified(document))
			return document;
		reason = check_format(tenant->run, "%s: %s", api->name, failure_reason(document));
	}
	check_unsupported(tenant->run, "%s: nothing computes on it: %s", tenant->device->id,
			  reason);
	tenant->api = NULL;
	return NULL;
}

bool tenant_expect_work(const struct tenant *tenant, const char *what, const cJSON *document)
{
	const char *status = view_string(document, "/work/status");
	const char *reason = failure_reason(document);
	if (status[0] == '\0')
		status = view_string(document, "/api/status");
	return check_expect(tenant->run, is_verified(document), tenant_label(tenant, what), "works",
			    "%s%s%s", is_verified(document) ? "works" : status,
			    reason[0] != '\0' ? ": " : "", reason);
}
