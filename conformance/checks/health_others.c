/* SPDX-License-Identifier: MIT */
/* Devices beside one that fails and comes back. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/checks/health.h"
#include "conformance/checks/list_and_watch.h"
#include "conformance/checks/rig_ids.h"
#include "rpc/rpc.h"

#include <string.h>

enum {
	STEADY_MS = 1000,
	CALLED_MAX = 64, /* other devices */
};

/* The devices beside the one that fails. */
struct others {
	struct device_under_test *device;
	struct text_list ids;  /* sorted */
	struct text_list numa; /* of each of them */
	struct tally kept, places;
	size_t missing; /* from the latest list */
	bool unsure;	/* a list came without the device, or of another registration */
};

/* Where a plugin leaves failed devices out of its lists, others may go with the one that fails: they may be replicas
 * of it. */
static void watch_others(const struct kubelet_event *event, void *user)
{
	struct others *others = user;
	struct device_under_test *device = others->device;
	if (!text_equal(event->resource, device->resource))
		return;
	others->unsure |= kubelet_device_find(event->devices, device->id) == NULL ||
			  health_has_registered(device);
	const size_t count = event->devices->count;
	const struct kubelet_device **now CLEANUP_FREE = list_sorted(event->devices);
	size_t at = 0;
	size_t index = 0;
	others->missing = 0;
	text_each (id, &others->ids) {
		while (at < count && strcmp(now[at]->id, id) < 0)
			at++;
		bool kept = at < count && strcmp(now[at]->id, id) == 0;
		others->missing += !kept;
		if (!others->unsure)
			tally_add(&others->kept, kept, "%s is missing from a list of %zu", id,
				  count);
		const char *before = others->numa.items[index++];
		if (!kept)
			continue;
		/* The Topology Manager places pods by each list. */
		char *numa CLEANUP_FREE = list_numa_text(now[at]);
		tally_add(&others->places, strcmp(numa, before) == 0,
			  "%s on NUMA nodes:%s, before:%s", id, numa, before);
	}
}

static bool others_are_back(void *user)
{
	const struct others *others = user;
	return others->missing == 0 && health_look(others->device) == HEALTHY;
}

/* A call for others that are listed as healthy. Of a plugin that ended meanwhile nothing is recorded. */
static void expect_served(const struct others *others, int rc, const char *call,
			  const struct rpc_answer *reply, const struct error *err)
{
	struct device_under_test *device = others->device;
	if (!health_is_served(device) || health_has_registered(device))
		return;
	const char *what = check_format(device->rig->run, "%s of other devices after %s failed",
					call, device->id);
	(void)rig_expect_answer(device->rig, rc, what, reply, err);
}

/* Pods still get the healthy devices. */
static void judge_calls(const struct others *others)
{
	const struct device_under_test *device = others->device;
	struct rig *rig = device->rig;
	const struct kubelet_device_list *list =
		kubelet_resource_devices(rig->kubelet, device->resource);
	const char *ids[CALLED_MAX];
	size_t count = 0;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct rpc_answer preferred CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	text_each (id, &others->ids) {
		const struct kubelet_device *found =
			list != NULL ? kubelet_device_find(list, id) : NULL;
		if (count < CALLED_MAX && found != NULL && kubelet_device_is_healthy(found) &&
		    rig_holder(rig, device->resource, id) == NULL)
			ids[count++] = id;
	}
	if (count == 0 || rig_registration(rig, device->resource) == NULL ||
	    !health_is_served(device) || health_has_registered(device))
		return;
	int rc = rig_allocate(rig, device->resource, ids, 1, &reply, &err);
	expect_served(others, rc, "Allocate", &reply, &err);
	if (rig_options(rig, device->resource).get_preferred_allocation_available) {
		rc = rig_prefer(rig, device->resource, ids, count, 1, &preferred, &err);
		expect_served(others, rc, "GetPreferredAllocation", &preferred, &err);
	}
}

static void judge_others(struct others *others)
{
	struct device_under_test *device = others->device;
	struct rig *rig = device->rig;
	if (!health_fail_and_notice(device))
		return;
	(void)rig_watch(rig, STEADY_MS, STEADY_MS);
	judge_calls(others);
	if (!health_set_failed(device, false))
		return;
	(void)health_wait_until(device, true, rig_wait_ms(rig, CHECK_LAW_11),
				"the device's return");
	(void)rig_watch(rig, STEADY_MS, STEADY_MS);
	if (others->unsure)
		(void)rig_wait(rig, others_are_back, others, rig_wait_ms(rig, CHECK_LAW_11),
			       "all devices", NULL);
	if (others->unsure && health_look(device) == HEALTHY)
		(void)check_expect(rig->run, others->missing == 0,
				   "devices listed before, after the return", "listed again",
				   others->missing == 0 ? "listed again" : "%zu missing",
				   others->missing);
	else if (others->kept.count == 0)
		check_unsupported(rig->run, "%s is not listed again; see health.device-returns",
				  device->id);
}

void health_others_stay(struct check_run *run)
{
	struct others others = {
		.device = health_open_device(run),
		.kept = TALLY_OF(run, "devices listed before", "in each list"),
		.places = TALLY_OF(run, "NUMA nodes of a device", "the same in each list"),
	};
	if (others.device == NULL)
		return;
	struct rig *rig = others.device->rig;
	const struct kubelet_device_list *list =
		kubelet_resource_devices(rig->kubelet, others.device->resource);
	listed_each (device, list) {
		if (!text_equal(device->id, others.device->id))
			(void)text_list_add(&others.ids, device->id, NULL);
	}
	text_list_sort(&others.ids);
	text_each (id, &others.ids) {
		char *numa CLEANUP_FREE = list_numa_text(kubelet_device_find(list, id));
		(void)text_list_add(&others.numa, numa, NULL);
	}
	rig->on_list = watch_others;
	rig->on_list_user = &others;
	if (others.ids.count != 0)
		judge_others(&others);
	else
		check_not_applicable(run, "the plugin lists one device");
	rig->on_list = NULL;
	tally_end(&others.kept);
	tally_end(&others.places);
	text_list_free(&others.ids);
	text_list_free(&others.numa);
}
