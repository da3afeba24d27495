/* SPDX-License-Identifier: MIT */
/* APIs: a container with a device computes on it. */
#include "base/gpu_apis.h"
#include "conformance/checks/api_document.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/ran.h"
#include "conformance/checks/shown.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/visibility.h"
#include "containers/offers.h"
#include "discovery/filter.h"

#include <string.h>

enum {
	UNREADABLE_MAX = 8, /* containers for answers that cannot be read */
};

/* DirectX is one API of a device, and which of its parts a device offers is told by the lists that
 * DXCore has it in. A node that is listed otherwise tells no attributes: there, every part counts
 * as offered. */
static bool has_attribute(const struct discovery_device *device, const char *const *wanted)
{
	const char *const *told = device->attributes;
	if (told == NULL || told[0] == NULL)
		return true;
	while (*told != NULL && wanted[text_position(wanted, *told)] == NULL)
		told++;
	return *told != NULL;
}

bool api_is_offered(const struct discovery_device *device, const struct gpu_api *api)
{
	return filter_offers(device, api->offered) &&
	       (api->attributes[0] == NULL || has_attribute(device, api->attributes));
}

struct api_tally {
	struct rig *rig;
	struct stage *stage;
	const struct gpu_api *api;
	struct text_list tested; /* ids of devices */
	struct identity_seen seen;
	struct granted served; /* what readable answers hand out */
	size_t unreadable, untold;
};

/* A probe's launch: its document, and what its process had mapped and open. */
struct launched {
	const cJSON *document;
	struct container_view view;
};

static void launched_free(struct launched *launched)
{
	if (OFFERS_INSPECTION)
		container_view_free(&launched->view);
}

static void run_probe(struct api_tally *tally, const char *label, struct offer *offer,
		      struct launched *out)
{
	const char *probe = check_format(tally->rig->run, "probe-%s", tally->api->name);
	const char *name = check_format(tally->rig->run, "%s-%s", probe, label);
	const char *const command[] = {probe, "--size", "1048576", NULL};
	if (offer_admit(tally->rig, offer))
		out->document =
			stage_run_working(tally->stage, name, command, &offer->grant, &out->view);
}

static bool is_wanted(const struct api_tally *tally, const struct discovery_device *device)
{
	return device != NULL && api_is_offered(device, tally->api) &&
	       !text_list_has(&tally->tested, device->id);
}

/* `launched`: a probe that ran already, or one without a document. */
static void test(struct api_tally *tally, const struct discovery_device *device,
		 struct offer *offer, struct launched *launched)
{
	struct check_run *run = tally->rig->run;
	(void)text_list_add(&tally->tested, device->id, NULL);
	check_begin_device(run, device->id);
	if (launched->document == NULL)
		run_probe(tally, device->id, offer, launched);
	if (launched->document != NULL) {
		api_expect_document(run, device, tally->api, offer_applied(offer),
				    launched->document, &tally->seen);
		ran_expect(run, &(struct ran){device, tally->api, offer_applied(offer),
					      launched->document, &launched->view});
	}
	check_end_device(run, device->id);
}

/* The answer cannot be read: what computes in the container says which device it is. */
static void ask(struct api_tally *tally, struct offer *offer)
{
	const struct discovery_snapshot *node = tally->rig->context->node;
	const struct discovery_device *device = NULL;
	struct launched launched CLEANUP(launched_free) = {0};
	if (tally->unreadable++ < UNREADABLE_MAX)
		run_probe(tally, offer->id, offer, &launched);
	if (launched.document != NULL)
		device = visibility_device(node, tally->api->offered,
					   shown_device(launched.document));
	if (device == NULL)
		tally->untold++;
	else if (is_wanted(tally, device))
		test(tally, device, offer, &launched);
}

/* One id: when it grants a device that offers the API and was not tested yet, runs the probe with
 * it. */
static bool try_offer(struct offer *offer, void *user)
{
	struct api_tally *tally = user;
	const struct granted *granted = &offer->granted;
	struct launched launched CLEANUP(launched_free) = {0};
	for (size_t i = 0; i < granted->count; i++)
		granted_add(&tally->served, granted->devices[i]);
	if (granted->source == GRANTED_UNTOLD)
		ask(tally, offer);
	else if (granted->count == 1 && is_wanted(tally, granted->devices[0]))
		test(tally, granted->devices[0], offer, &launched);
	return true;
}

/* Beyond what LAW-02 requires: where no answer can be read all hardware, and on a node without any all
 * software. */
static bool is_expected(const struct api_tally *tally, const struct discovery_device *device)
{
	const struct discovery_snapshot *node = tally->rig->context->node;
	bool hardware = false;
	node_each (other, node)
		hardware = hardware || other->kind != DISCOVERY_SOFTWARE;
	if (!device->allocatable || granted_requires(node, &tally->served, device))
		return device->allocatable;
	return device->kind == DISCOVERY_SOFTWARE ? !hardware : tally->served.count == 0;
}

/* Every device that offers the API and is expected was tested; how many there are. */
static size_t expect_all(const struct api_tally *tally)
{
	const struct context *context = tally->rig->context;
	size_t offering = 0;
	node_each (device, context->node) {
		bool tested = text_list_has(&tally->tested, device->id);
		if (!api_is_offered(device, tally->api) || (!tested && !is_expected(tally, device)))
			continue;
		offering++;
		if (!tested && tally->untold != 0)
			offer_tell_unseen(tally->rig->run,
					  check_format(tally->rig->run, "%s: ", device->id),
					  tally->untold);
		else if (context->resource == NULL)
			(void)check_expect(tally->rig->run, tested, device->id,
					   "granted by some id", "%s",
					   tested ? "granted" : "never granted");
	}
	return offering;
}

/* What stands in for Windows claims any build. */
static bool is_in_build(const struct discovery_system *system, const struct gpu_api *api)
{
	return strcmp(system->os, "windows") != 0 || system->emulator[0] != '\0' ||
	       gpu_api_in_build(api, system->build);
}

static void computes(struct check_run *run)
{
	const struct gpu_api *api = gpu_api_find(check_row(run)->param);
	const struct discovery_system *system = &check_context(run)->node->system;
	if (!is_in_build(system, api)) {
		check_not_applicable(run, "%s begins with Windows build %u, and this is %s",
				     api->name, api->windows_build, system->build);
		return;
	}
	struct rig *rig = rig_ready(run, NULL);
	struct stage *stage = rig != NULL ? stage_open(run, &rig->loop) : NULL;
	struct api_tally tally = {.rig = rig, .stage = stage, .api = api};
	if (stage == NULL)
		return;
	(void)offers_each(rig, try_offer, &tally);
	size_t offering = expect_all(&tally);
	if (offering == 0)
		check_not_applicable(run, "no device that the plugin serves offers %s", api->name);
	else if (tally.tested.count == 0)
		check_unsupported(
			run, "no id of the resources under test grants a device that offers %s",
			api->name);
	text_list_free(&tally.tested);
	identity_seen_free(&tally.seen);
}

/* Is there a check of what discovery calls `offered`? */
static bool has_check(const char *offered)
{
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		if (api->tested && strcmp(api->offered, offered) == 0)
			return true;
	}
	return false;
}

/* What no check tests is not passed over in silence. */
static void every_api(struct check_run *run)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	size_t untested = 0;
	bool enabled = false;
	node_each (device, node) {
		enabled = enabled || (device->apis != NULL && device->apis[0] != NULL);
		for (const char *const *api = device->apis; api != NULL && *api != NULL; api++) {
			if (has_check(*api))
				continue;
			untested++;
			check_unsupported(run, "%s enables %s, and there is no check of %s yet",
					  device->id, *api, *api);
		}
	}
	/* The other checks of the requirement do not apply then; this one keeps it open. */
	if (!enabled)
		check_unsupported(run, "no device enables a known API: nothing was computed");
	else if (untested == 0 && check_context(run)->node_file != NULL)
		check_not_applicable(run, "nothing computes on a recorded node");
	else if (untested == 0)
		(void)check_expect(run, true, "APIs of the node's devices", "each has a check",
				   "each has one");
}

static const char *const tags_api[] = {"gpu", "container", NULL};

#define OS_ANY	   NULL
#define OS_LINUX   "linux"
#define OS_WINDOWS "windows"

#define API(name, system, sight, offered, title_, advice_, ...)                                    \
	CHECK("api." #name, API_01, CRITICAL, 1, computes, .title = title_, .advice = advice_,     \
	      .timeout_s = 300, .tags = tags_api,                                                  \
	      .needs = {.os = OS_##system, .devices = 1, .launcher = true, .api = offered},        \
	      .stands_on = "allocate.one-response", .param = #name),

const struct check api_checks[] = {
#include "base/gpu_apis.def"
	CHECK("api.every-api", API_01, LOW, 1, every_api,
	      .title = "Each API that a device enables is tested",
	      .advice = "What the reason names is not part of this certificate: test it by other "
			"means.",
	      .timeout_s = 10, .needs = {.devices = 1}),
	{.id = NULL},
};
