/* SPDX-License-Identifier: MIT */
/* APIs: a container with a device computes on it. */
#include "base/gpu_apis.h"
#include "conformance/checks/api_document.h"
#include "conformance/checks/offer.h"
#include "conformance/checks/ran.h"
#include "conformance/checks/rig_ids.h"
#include "conformance/checks/shown.h"
#include "conformance/checks/stage.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/visibility.h"
#include "containers/offers.h"
#include "discovery/filter.h"

#include <string.h>

enum {
	UNREADABLE_MAX = 8, /* containers for unreadable answers */
};

bool api_is_offered(const struct discovery_device *device, const struct gpu_api *api)
{
	if (!filter_offers(device, api->offered))
		return false;

	/* DirectX is one API of a device; DXCore's attributes say which of its parts a device
	 * offers. Nodes that were listed by other means have no attributes: there, every part counts
	 * as offered. */
	const char *const *attributes = device->attributes;
	if (api->attributes[0] == NULL || attributes == NULL || attributes[0] == NULL)
		return true;
	for (; *attributes != NULL; attributes++) {
		if (api->attributes[text_position(api->attributes, *attributes)] != NULL)
			return true;
	}
	return false;
}

bool api_computes(const struct discovery_device *device, const struct gpu_api *api)
{
	return api->tested && !api->enumerates && !api->encodes && api_is_offered(device, api);
}

struct api_tally {
	struct rig *rig;
	struct stage *stage;
	const struct gpu_api *api;
	struct text_list tested; /* ids of devices */
	struct identity_seen seen;
	struct granted served; /* the devices that readable answers grant */
	size_t unreadable;     /* answers */
	size_t unknown;	       /* whose container does not show the device either */
};

static void view_free(struct container_view *view)
{
	if (OFFERS_INSPECTION)
		container_view_free(view);
}

/* Launches the probe; returns its document (NULL: recorded), and what its process had mapped and open. */
static const cJSON *run_probe(struct api_tally *tally, const char *label, struct offer *offer,
			      struct container_view *view)
{
	const char *probe = check_format(tally->rig->run, "probe-%s", tally->api->name);
	const char *name = check_format(tally->rig->run, "%s-%s", probe, label);
	const char *const command[] = {probe, "--size", "1048576", NULL};
	if (!offer_admit(tally->rig, offer))
		return NULL;
	return stage_run_working(tally->stage, name, command, &offer->grant, view);
}

/* One id: when it grants a device that offers the API and was not tested yet, runs the probe with
 * it. */
static bool try_offer(struct offer *offer, void *user)
{
	struct api_tally *tally = user;
	struct check_run *run = tally->rig->run;
	const struct granted *granted = &offer->granted;
	const struct discovery_device *device = granted->count == 1 ? granted->devices[0] : NULL;
	const cJSON *document = NULL;
	struct container_view view CLEANUP(view_free) = {0};
	granted_each (each, granted)
		granted_add(&tally->served, each);

	/* The answer cannot be read: the device that computes in the container is the granted one. */
	if (granted->source == GRANTED_UNKNOWN) {
		if (tally->unreadable++ < UNREADABLE_MAX)
			document = run_probe(tally, offer->id, offer, &view);
		if (document != NULL)
			device = visibility_device(tally->rig->context->node, tally->api->offered,
						   shown_device(document));
		tally->unknown += device == NULL;
	}
	if (device == NULL || !api_is_offered(device, tally->api) ||
	    text_list_has(&tally->tested, device->id))
		return true;

	text_list_add(&tally->tested, device->id);
	check_begin_device(run, device->id);
	if (document == NULL)
		document = run_probe(tally, device->id, offer, &view);
	if (document != NULL) {
		api_expect_document(run, device, tally->api, offer_applied(offer), document,
				    &tally->seen);
		ran_expect(run, &(struct ran){device, tally->api, offer_applied(offer), document,
					      &view});
	}
	check_end_device(run, device->id);
	return true;
}

/* Records that every device that offers the API and is expected was tested; returns how many there
 * are. In addition to those that LAW-02 requires, this expects all hardware if no answer can be
 * read, and all software on a node without hardware. */
static size_t expect_all(const struct api_tally *tally)
{
	struct check_run *run = tally->rig->run;
	const struct context *context = tally->rig->context;
	bool hardware = false;
	node_each (device, context->node)
		hardware = hardware || device->kind != DISCOVERY_SOFTWARE;

	size_t offering = 0;
	node_each (device, context->node) {
		bool tested = text_list_has(&tally->tested, device->id);
		bool usual =
			device->kind == DISCOVERY_SOFTWARE ? !hardware : tally->served.count == 0;
		bool expected = device->allocatable &&
				(usual || granted_requires(context->node, &tally->served, device));
		if (!api_is_offered(device, tally->api) || (!tested && !expected))
			continue;
		const struct held_device *held =
			tested ? NULL : rig_device_holder(tally->rig, device);
		offering++;
		if (held != NULL)
			check_remark(run, tally->tested.count == 0 ? "unsupported" : NULL,
				     "not tested: %s", rig_busy(tally->rig, device->id, held));
		else if (!tested && tally->rig->busy.count != 0)
			check_unsupported(run, "%s may be one of the devices that pods hold",
					  device->id);
		else if (!tested && tally->unknown != 0)
			offer_report_unseen(run, check_format(run, "%s: ", device->id),
					    tally->unknown);
		else if (context->resource == NULL)
			(void)check_expect(run, tested, device->id, "granted by some id", "%s",
					   tested ? "granted" : "never granted");
	}
	return offering;
}

static void computes(struct check_run *run)
{
	const struct gpu_api *api = gpu_api_find(check_row(run)->param);
	const struct discovery_system *system = &check_context(run)->node->system;

	/* Wine can claim any Windows build. */
	if (node_is_windows(check_context(run)->node) && system->emulator[0] == '\0' &&
	    !gpu_api_in_build(api, system->build)) {
		check_not_applicable(run, "%s begins with Windows build %u, and this is %s",
				     api->name, api->windows_build, system->build);
		return;
	}

	struct rig *rig = rig_ready(run);
	struct stage *stage = rig != NULL ? stage_open(run, &rig->loop, 0) : NULL;
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

/* Is there a check of the API that discovery calls `offered`? */
static bool has_check(const char *offered)
{
	gpu_api_each (api) {
		if (api->tested && strcmp(api->offered, offered) == 0)
			return true;
	}
	return false;
}

/* APIs that no check tests are reported. */
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

#define API_ROW(requirement, severity, name, system, offered, title_, advice_)                     \
	CHECK("api." #name, requirement, severity, 1, computes, .title = title_,                   \
	      .advice = advice_, .timeout_s = 300, .tags = tags_api,                               \
	      .needs = {.os = OS_##system, .devices = 1, .launcher = true, .api = offered},        \
	      .depends_on = "allocate.one-response", .param = #name),
#define API(name, system, listed, offered, title, advice, ...)                                     \
	API_ROW(API_01, CRITICAL, name, system, offered, title, advice)
#define API_PROGRAM(name, system, listed, offered, title, advice, ...)                             \
	API_ROW(API_02, HIGH, name, system, offered, title, advice)

const struct check api_checks[] = {
#include "base/gpu_apis.def"
	CHECK("api.every-api", API_01, LOW, 1, every_api,
	      .title = "Each API that a device enables is tested",
	      .advice = "Test the APIs that the reason names by other means: this certificate does "
			"not cover them.",
	      .timeout_s = 10, .needs = {.devices = 1}),
	{.id = NULL},
};
