/* SPDX-License-Identifier: MIT */
/* A device that fails. */
#include "base/cleanup.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/health.h"
#include "conformance/checks/list_and_watch.h"
#include "conformance/checks/rig_ids.h"
#include "conformance/checks/rig_known.h"

enum {
	ASKED_MAX = 64,	    /* ids of another resource */
	STAY_FAILED_S = 10, /* longer than plugins wait before they take a device back */
};

/* Opens one more stream; NULL: it is not served, which list-and-watch.two-streams judges. */
static struct kubelet_stream *open_further(struct device_under_test *device)
{
	struct rig *rig = device->rig;
	struct kubelet_stream *stream = NULL;
	struct error err = {0};
	if (list_open_stream(rig, kubelet_resource_plugin(rig->kubelet, device->resource), &stream,
			     &err) == 0)
		return stream;
	kubelet_stream_close(&stream);
	check_note(rig->run, "a further stream brings no list; see list-and-watch.two-streams");
	return NULL;
}

/* Another id that stands for the device: in the resource by its name and its grant, or because a container gets the same by
 * it, device nodes among it; in another one, which may offer the devices shared, by the device nodes of its grant. A
 * resource of one id may stand for all devices (monitoring). `one` is the device's answer, or NULL. */
struct replica {
	const char *resource, *id; /* NULL: none */
};

static struct replica find_replica(struct device_under_test *device, const char *resource,
				   const V1beta1__ContainerAllocateResponse *one)
{
	struct rig *rig = device->rig;
	const bool own = text_equal(resource, device->resource);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct text busy CLEANUP_TEXT = {0};
	(void)rig_free_ids(rig, resource, &ids, &busy);
	if (one == NULL || (!own && (ids.count < 2 || one->n_devices == 0)))
		return (struct replica){0};
	size_t asked = 0;
	text_each (id, &ids) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct allocate_difference difference = {0};
		const char *const ask[] = {id};
		const bool named = own && list_is_same_device(id, device->id);
		if ((own && text_equal(id, device->id)) || (!named && asked++ >= ASKED_MAX))
			continue;
		const V1beta1__ContainerAllocateResponse *other =
			rig_ask(rig, resource, ask, 1, &reply);
		if (other != NULL &&
		    (own && !named ? one->n_devices != 0 &&
					     !allocate_differ(ALLOCATE_ALL, one, other, &difference)
				   : allocate_same_sources(one, other, &difference)))
			return (struct replica){resource, check_format(rig->run, "%s", id)};
	}
	return (struct replica){0};
}

static void judge_replica(struct device_under_test *device, const struct replica *found)
{
	struct device_under_test replica = *device;
	const uint64_t limit_ms = rig_wait_ms(device->rig, CHECK_LAW_10);
	replica.resource = found->resource;
	replica.id = found->id;
	if (found->id == NULL || !health_is_undisturbed(device))
		return;
	const enum listed listed =
		health_wait_until(&replica, false, limit_ms, "the replica's failure");
	const char *what =
		text_equal(found->resource, device->resource)
			? check_format(device->rig->run,
				       "%s, which is the same as %s, after it failed", found->id,
				       device->id)
			: check_format(device->rig->run,
				       "%s of %s, which is %s of %s, after it failed", found->id,
				       found->resource, device->id, device->resource);
	health_expect_not_healthy(device, listed, what);
}

/* The last device of the resource fails, too, after the first has returned. A command that makes the first fail again
 * ignores DEVICE_ID. */
static void judge_last(struct device_under_test *device, const char *resource)
{
	struct rig *rig = device->rig;
	struct error err = {0};
	if (!health_is_undisturbed(device))
		return;
	const struct device_under_test there = {.rig = rig, .resource = resource, .id = device->id};
	struct device_under_test *last = health_other_device(&there, true);
	if (last == NULL || !health_set_failed(device, false) ||
	    health_wait_until(device, true, rig_wait_ms(rig, CHECK_LAW_11), "the device") !=
		    HEALTHY ||
	    health_look(last) != HEALTHY || health_run_command(last, true, &err) < 0)
		return;
	const enum listed listed = health_wait_either(device, last);
	if (!health_is_undisturbed(device))
		return;
	if (listed == HEALTHY && health_look(device) != HEALTHY)
		check_note(rig->run, "only %s was tested: --fail-device makes it fail for %s, too",
			   device->id, last->id);
	else
		health_expect_not_healthy(device, listed,
					  check_format(rig->run,
						       "%s, the last device of %s, after it failed",
						       last->id, resource));
}

static bool is_served_again(void *user)
{
	return health_is_served(user);
}

/* The server of a plugin that lives may have ended with its stream, or with one that was closed before. */
static void expect_served(struct device_under_test *device)
{
	struct rig *rig = device->rig;
	if (health_is_served(device) || rig->plugin == NULL || rig_plugin_ends(rig))
		return;
	(void)rig_wait(rig, is_served_again, device, rig_wait_ms(rig, CHECK_RES_01), "the stream",
		       NULL);
	(void)check_expect_is(rig->run, health_is_served(device) || process_has_ended(rig->plugin),
			      check_format(rig->run, "the stream of %s after %s failed",
					   device->resource, device->id),
			      "open, or open again",
			      "ended, and the plugin did not register again");
}

/* The kubelet's stream, and a second one. */
static bool is_noticed_on_one(void *user)
{
	const struct device_under_test *device = user;
	return health_look(device) != HEALTHY ||
	       health_state_in(device->second, device->id) != HEALTHY;
}

static bool is_noticed_on_both(void *user)
{
	const struct device_under_test *device = user;
	return health_look(device) != HEALTHY &&
	       health_state_in(device->second, device->id) != HEALTHY;
}

static const char unnoticed[] = "the plugin does not notice failures; see health.device-fails";

/* Kubelets up to 1.36 keep the stream of an earlier registration open, and read both. */
void health_every_stream(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	if (device == NULL)
		return;
	const uint64_t limit_ms = rig_wait_ms(device->rig, CHECK_LAW_10);
	device->second = open_further(device);
	if (device->second == NULL || health_is_unnoticed(run, false)) {
		check_unsupported(
			run, "%s",
			device->second == NULL
				? "a further stream brings no list; see list-and-watch.two-streams"
				: unnoticed);
		return;
	}
	if (!health_set_failed(device, true))
		return;
	(void)rig_wait(device->rig, is_noticed_on_one, device, limit_ms, "the failure", NULL);
	if (!is_noticed_on_one(device)) {
		check_unsupported(run, "%s", unnoticed);
		return;
	}
	(void)rig_wait(device->rig, is_noticed_on_both, device, limit_ms,
		       "the failure on both streams", NULL);
	health_expect_not_healthy(
		device, health_look(device),
		check_format(run, "%s on the kubelet's stream after it failed", device->id));
	health_expect_not_healthy(
		device, health_state_in(device->second, device->id),
		check_format(run, "%s on a second stream after it failed", device->id));
	kubelet_stream_close(&device->second);
	device->second = open_further(device);
	if (device->second != NULL)
		health_expect_not_healthy(
			device, health_state_in(device->second, device->id),
			check_format(run, "%s on a stream that was opened after it failed",
				     device->id));
	kubelet_stream_close(&device->second);

	/* The handler of a closed stream may still wait for the next change, and take it. */
	if (!health_is_served(device) || !health_set_failed(device, false))
		return;
	(void)health_wait_until(device, true, rig_wait_ms(device->rig, CHECK_LAW_11), "its return");
	expect_served(device);
}

void health_device_fails(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	if (device == NULL)
		return;
	struct rig *rig = device->rig;
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	const V1beta1__ContainerAllocateResponse *one =
		rig_ask(rig, device->resource, &device->id, 1, &reply);
	struct replica replica = find_replica(device, device->resource, one);
	struct replica shared = {0};
	const char *elsewhere = NULL; /* a resource with devices of its own */
	rig_each (resource, rig) {
		if (text_equal(resource, device->resource))
			continue;
		const struct replica found = find_replica(device, resource, one);
		if (found.id == NULL && one != NULL && one->n_devices != 0 &&
		    rig_count_healthy(rig, resource) > 1)
			elsewhere = resource;
		else if (shared.id == NULL)
			shared = found;
	}
	if (!health_set_failed(device, true))
		return;
	if (!health_expect_listed(device, false)) {
		struct error err = {0};
		if (health_is_undisturbed(device))
			(void)check_works(run, health_keep_unnoticed(run, false, &err), NULL, &err);
		return;
	}
	health_expect_stays(device, false, STAY_FAILED_S);
	judge_replica(device, &replica);
	judge_replica(device, &shared);
	judge_last(device, device->resource);
	if (elsewhere != NULL)
		judge_last(device, elsewhere);
	expect_served(device);
}
