/* SPDX-License-Identifier: MIT */
#include "conformance/checks/tenants.h"

#include "conformance/checks/suites.h"
#include "conformance/checks/visibility.h"
#include "reports/view.h"

#include <string.h>

enum { UNREAD_MAX = 8 };

static bool is_verified(const cJSON *document)
{
	return cJSON_IsTrue(json_pointer(document, "/work/verified"));
}

/* Why it did not work. */
static const char *why(const cJSON *document)
{
	const char *of_work = view_string(document, "/work/reason");
	return of_work[0] != '\0' ? of_work : view_string(document, "/api/reason");
}

/* The answer cannot be read: the container says which device it is. */
static void ask(struct tenants *tenants, struct offer *offer)
{
	static const char *const look[] = {"probe-visibility", NULL};
	struct sight sight = {0};
	if (tenants->unread++ >= UNREAD_MAX || !offer_admit(tenants->rig, offer))
		return;
	sight.document =
		stage_run(tenants->stage, check_format(tenants->run, "asked-%s", offer->id), look,
			  &offer->grant);
	if (sight.document == NULL)
		return;
	visibility_identify(tenants->rig->context->node, &sight, &offer->granted);
	offer->granted.source = GRANTED_SEEN;
}

/* Takes the offer over when it is one of the first two of its device. */
static bool take(struct offer *offer, void *user)
{
	struct tenants *tenants = user;
	size_t i = 0;
	if (offer->granted.source == GRANTED_UNTOLD)
		ask(tenants, offer);
	if (offer->granted.count != 1)
		return true;
	while (i < tenants->count && tenants->items[i].device != offer->granted.devices[0])
		i++;
	if (i == TENANTS_MAX)
		return true;
	struct tenant *tenant = &tenants->items[i];
	if (tenant->count == ARRAY_SIZE(tenant->offers))
		return true;
	tenant->device = offer->granted.devices[0];
	tenant->offers[tenant->count++] = *offer;
	*offer = (struct offer){0};
	tenants->count += i == tenants->count;
	check_add_device(tenants->run, tenant->device->id);
	return true;
}

bool tenants_open(struct check_run *run, bool replicas, struct tenants *out)
{
	static const char *const two[] = {"DEVICE_PLUGIN_GPU_MULTITENANCY=2",
					  "WDDM_DEVICE_PLUGIN_MULTITENANCY=2", NULL};
	out->run = run;
	out->rig = rig_ready(run, replicas && check_context(run)->reference_plugin ? two : NULL);
	out->stage = out->rig != NULL ? stage_open(run, &out->rig->loop) : NULL;
	if (out->stage == NULL)
		return false;
	(void)offers_each(out->rig, take, out);
	if (out->count == 0)
		check_unsupported(run, "no id is known to hand out one device");
	return out->count != 0;
}

void tenants_close(struct tenants *tenants)
{
	for (size_t i = 0; i < tenants->count; i++) {
		for (size_t j = 0; j < tenants->items[i].count; j++)
			offer_close(tenants->rig, &tenants->items[i].offers[j]);
	}
}

struct probe *tenant_start(struct tenants *tenants, struct tenant *tenant, size_t offer,
			   const char *label, const char *const *words)
{
	const char *command[5 + TENANT_WORDS_MAX + 1] = {
		check_format(tenants->run, "probe-%s", tenant->api->name),
		"--device",
		"0",
		"--size",
		tenant->device->kind == DISCOVERY_SOFTWARE ? "262144" : "16777216",
	};
	for (size_t i = 0; words != NULL && words[i] != NULL && i < TENANT_WORDS_MAX; i++)
		command[5 + i] = words[i];
	label = check_format(tenants->run, "%s-%s", tenant->device->id, label);
	if (!offer_admit(tenants->rig, &tenant->offers[offer]))
		return NULL;
	return stage_start(tenants->stage, label, command, &tenant->offers[offer].grant);
}

struct probe *tenant_start_paused(struct tenants *tenants, struct tenant *tenant, size_t offer,
				  const char *label, const char *const *words)
{
	const char *all[TENANT_WORDS_MAX + 1] = {"--pause", LAUNCH_PAUSE_PATH};
	const char *what = check_format(tenants->run, "%s: %s", tenant->device->id, label);
	for (size_t i = 0; words != NULL && words[i] != NULL && i + 2 < TENANT_WORDS_MAX; i++)
		all[2 + i] = words[i];
	struct probe *probe = tenant_start(tenants, tenant, offer, label, all);
	if (probe == NULL || stage_wait_paused(tenants->stage, probe))
		return probe;
	const cJSON *document = stage_finish(tenants->stage, probe);
	if (document != NULL)
		(void)check_expect(tenants->run, false, what, "in the midst of its work", "%s",
				   why(document));
	return NULL;
}

const cJSON *tenant_run(struct tenants *tenants, struct tenant *tenant, const char *label,
			const char *const *words)
{
	struct probe *probe = tenant_start(tenants, tenant, 0, label, words);
	return probe != NULL ? stage_finish(tenants->stage, probe) : NULL;
}

const cJSON *tenant_find_api(struct tenants *tenants, struct tenant *tenant, const char *label)
{
	const char *reason = "it offers no API that computes";
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		if (!api->tested || api->enumerates || api->encodes ||
		    !api_is_offered(tenant->device, api))
			continue;
		tenant->api = api;
		const cJSON *document = tenant_run(tenants, tenant, label, NULL);
		if (document == NULL || is_verified(document))
			return document;
		reason = check_format(tenants->run, "%s: %s", api->name, why(document));
	}
	check_unsupported(tenants->run, "%s: nothing computes on it: %s", tenant->device->id,
			  reason);
	tenant->api = NULL;
	return NULL;
}

bool tenant_expect_work(struct check_run *run, const char *what, const cJSON *document)
{
	const char *status = view_string(document, "/work/status");
	const char *reason = why(document);
	return check_expect(run, is_verified(document), what, "works", "%s%s%s",
			    is_verified(document) ? "works"
			    : status[0] != '\0'	  ? status
						  : view_string(document, "/api/status"),
			    reason[0] != '\0' ? ": " : "", reason);
}
