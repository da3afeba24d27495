/* SPDX-License-Identifier: MIT */
/* Devices other than the one that fails and comes back. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/health.h"
#include "conformance/checks/list_and_watch.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/rig_ids.h"
#include "rpc/rpc.h"

#include <string.h>

enum {
	STEADY_MS = 1000,
	CALLED_MAX = 64, /* other devices */
};

/* The devices other than the failing one. */
struct others {
	struct device_under_test *device;
	struct text_list ids;  /* sorted */
	struct text_list numa; /* of each of them */
	struct tally kept, places, well;
	struct allocate_kept answers; /* of this device and of others, from before */
	bool stable;
	size_t missing; /* from the latest list */
	bool unsure;	/* a list came without the device, or from another registration */
};

/* If a plugin leaves failed devices out of its lists, others may disappear with the failing one: they may be
 * replicas of it. */
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

/* A call for others that are listed as healthy. Nothing is recorded if the plugin ended meanwhile. */
static void expect_served(const struct others *others, int rc, const char *call,
			  enum check_requirement limit, const struct rpc_answer *reply,
			  const struct error *err)
{
	struct device_under_test *device = others->device;
	if (!health_is_undisturbed(device))
		return;
	const char *what = check_format(device->rig->run, "%s of other devices after %s failed",
					call, device->id);
	if (rig_expect_answer(device->rig, rc, what, reply, err))
		(void)check_expect_at_most_measured(
			device->rig->run,
			check_format(device->rig->run, "milliseconds of %s", what),
			(long long)reply->duration_ms, (long long)requirement_limit_ms(limit));
}

/* A kubelet ignores a preference for a device that it did not name. */
static void expect_not_preferred(const struct others *others, int rc,
				 const struct rpc_answer *reply)
{
	const struct device_under_test *device = others->device;
	const V1beta1__ContainerPreferredAllocationResponse *first =
		rc == 0 ? rig_first_preference(reply) : NULL;
	for (size_t i = 0; first != NULL && i < first->n_deviceids; i++)
		(void)check_expect(device->rig->run, strcmp(first->deviceids[i], device->id) != 0,
				   "preferred device", "one of those that were named",
				   "%s, which failed", first->deviceids[i]);
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
	struct rpc_answer started CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	text_each (id, &others->ids) {
		const struct kubelet_device *found =
			list != NULL ? kubelet_device_find(list, id) : NULL;
		if (count < CALLED_MAX && found != NULL && kubelet_device_is_healthy(found) &&
		    rig_holder(rig, device->resource, id) == NULL)
			ids[count++] = id;
	}
	if (count == 0 || rig_registration(rig, device->resource) == NULL ||
	    !health_is_undisturbed(device))
		return;
	int rc = rig_allocate(rig, device->resource, ids, 1, &reply, &err);
	expect_served(others, rc, "Allocate", CHECK_ALC_02, &reply, &err);
	if (rig_options(rig, device->resource).pre_start_required) {
		rc = rig_pre_start(rig, device->resource, ids, 1, &started, &err);
		expect_served(others, rc, "PreStartContainer", CHECK_PRE_01, &started, &err);
	}
	if (rig_options(rig, device->resource).get_preferred_allocation_available) {
		rc = rig_prefer(rig, device->resource, ids, count, &preferred, &err);
		expect_served(others, rc, "GetPreferredAllocation", CHECK_ALC_02, &preferred, &err);
		expect_not_preferred(others, rc, &preferred);
	}
}

/* Does the answer grant this device node, at any path? */
static bool hands_out(const V1beta1__ContainerAllocateResponse *answer, const char *path)
{
	struct node_file wanted = {0};
	bool known = node_file_identify(path, &wanted);
	answer_each (device, answer, devices) {
		struct node_file file = {0};
		if (strcmp(device->host_path, path) == 0 ||
		    (known && node_file_identify(device->host_path, &file) &&
		     file.kind == wanted.kind && file.major == wanted.major &&
		     file.minor == wanted.minor))
			return true;
	}
	return false;
}

/* Do two answers grant the same device node, or too little to know whether they share a device? */
static bool may_share(const V1beta1__ContainerAllocateResponse *one,
		      const V1beta1__ContainerAllocateResponse *other)
{
	if (one->n_devices == 0 || other->n_devices == 0)
		return true;
	answer_each (device, one, devices) {
		if (hands_out(other, device->host_path))
			return true;
	}
	return false;
}

/* The only id that granted this device node before, unless it is the answer's own; otherwise NULL. */
static const char *find_owner(const struct others *others, size_t answer, const char *path)
{
	const char *owner = NULL;
	for (size_t i = 0; i < others->answers.count; i++) {
		if (!hands_out(others->answers.each[i].answer, path))
			continue;
		if (i == answer || owner != NULL)
			return NULL;
		owner = others->answers.each[i].id;
	}
	return owner;
}

/* A device with its own nodes and another name must not fail with this one. */
static void judge_health(struct others *others)
{
	const struct device_under_test *device = others->device;
	const V1beta1__ContainerAllocateResponse *failed = others->answers.each[0].answer;
	if (!health_is_undisturbed(device))
		return;
	for (size_t i = 1; i < others->answers.count; i++) {
		const struct allocate_kept_answer *one = &others->answers.each[i];
		const struct kubelet_device *now =
			kubelet_resource_device(device->rig->kubelet, one->resource, one->id);
		if (now != NULL && !list_may_be_one_device(one->id, device->id) &&
		    !may_share(failed, one->answer))
			tally_add(&others->well, kubelet_device_is_healthy(now),
				  "%s is Unhealthy, too", one->id);
	}
}

static const char by_id_advice[] =
	"Look devices up by id, not by their place in a list, which changes when one fails.";

/* Allocates each healthy one, and checks that it does not get another one's device. health.device-returns judges a
 * refusal of the device that failed; its nodes may have other names afterwards. */
static void judge_answers(const struct others *others, const char *when)
{
	const struct device_under_test *device = others->device;
	struct rig *rig = device->rig;
	TALLY(own, rig->run, check_format(rig->run, "device nodes of an id %s", when),
	      "those of its own device");
	for (size_t i = 0; others->stable && i < others->answers.count; i++) {
		const struct allocate_kept_answer *one = &others->answers.each[i];
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		if (!health_is_undisturbed(device))
			return;
		if (!kubelet_device_is_healthy(
			    kubelet_resource_device(rig->kubelet, one->resource, one->id)))
			continue;
		const V1beta1__ContainerAllocateResponse *now =
			rig_ask(rig, one->resource, &one->id, 1, &reply);
		if (i != 0 && reply.code > RPC_OK && health_is_undisturbed(device) &&
		    !may_share(others->answers.each[0].answer, one->answer)) {
			(void)check_expect(
				rig->run, false,
				check_format(rig->run, "Allocate of %s %s", one->id, when), "OK",
				"%s %s", rpc_code_name(reply.code), reply.message);
			check_advise(rig->run, by_id_advice);
			return;
		}
		for (size_t k = 0; now != NULL && k < now->n_devices; k++) {
			const char *path = now->devices[k]->host_path;
			const char *owner = find_owner(others, i, path);
			tally_add(&own, owner == NULL, "%s for %s, which is that of %s", path,
				  one->id, owner != NULL ? owner : "nobody else");
			if (owner != NULL)
				check_advise(rig->run, by_id_advice);
		}
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
	judge_health(others);
	judge_answers(others, check_format(rig->run, "after %s failed", device->id));
	if (!health_set_failed(device, false))
		return;
	(void)health_wait_until(device, true, rig_wait_ms(rig, CHECK_LAW_11),
				"the device's return");
	(void)rig_watch(rig, STEADY_MS, STEADY_MS);
	if (others->unsure)
		(void)rig_wait(rig, others_are_back, others, rig_wait_ms(rig, CHECK_LAW_11),
			       "all devices", NULL);
	judge_answers(others, check_format(rig->run, "after %s returned", device->id));
	if (others->unsure && health_look(device) == HEALTHY)
		(void)check_expect(rig->run, others->missing == 0,
				   "devices listed before, after the return", "listed again",
				   others->missing == 0 ? "listed again" : "%zu missing",
				   others->missing);
	else if (others->kept.count == 0)
		check_unsupported(rig->run, "%s is not listed again; see health.device-returns",
				  device->id);
}

/* Keeps the grants of the device and of other healthy ones. False: recorded. */
static bool keep_answers(struct others *others)
{
	const struct device_under_test *device = others->device;
	struct rig *rig = device->rig;
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	const struct rig_item item = {.resource = device->resource, .ids = &ids};
	if (!rig_healthy_ids(rig, device->resource, &ids) ||
	    !allocate_keep(rig, device->resource, device->id, &others->answers))
		return false;
	others->stable = allocate_is_stable(rig, &item);
	text_each (id, &ids) {
		if (!text_equal(id, device->id) &&
		    !allocate_keep(rig, device->resource, id, &others->answers))
			return false;
	}
	return true;
}

void health_others_stay(struct check_run *run)
{
	struct others others = {
		.device = health_open_device(run),
		.kept = TALLY_OF(run, "devices listed before", "in each list"),
		.places = TALLY_OF(run, "NUMA nodes of a device", "the same in each list"),
		.well = TALLY_OF(run, "other devices, with nodes of their own",
				 "healthy, as before"),
	};
	if (others.device == NULL)
		return;
	struct rig *rig = others.device->rig;
	const struct kubelet_device_list *list =
		kubelet_resource_devices(rig->kubelet, others.device->resource);
	listed_each (device, list) {
		if (!text_equal(device->id, others.device->id))
			text_list_add(&others.ids, device->id);
	}
	text_list_sort(&others.ids);
	text_each (id, &others.ids) {
		char *numa CLEANUP_FREE = list_numa_text(kubelet_device_find(list, id));
		text_list_add(&others.numa, numa);
	}
	rig->on_list = watch_others;
	rig->on_list_user = &others;
	if (others.ids.count != 0 && keep_answers(&others))
		judge_others(&others);
	else if (others.ids.count == 0)
		check_not_applicable(run, "the plugin lists one device");
	rig->on_list = NULL;
	if (others.kept.wrong == 0 && others.places.wrong != 0)
		check_advise(run, "Keep each device's NUMA nodes with the device: every list must "
				  "give them again.");
	tally_end(&others.kept);
	tally_end(&others.places);
	tally_end(&others.well);
	allocate_kept_free(&others.answers);
	text_list_free(&others.ids);
	text_list_free(&others.numa);
}
