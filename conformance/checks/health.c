/* SPDX-License-Identifier: MIT */
/* Devices that fail and come back, as the commands of --fail-device and --restore-device make them. */
#include "conformance/checks/health.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/list_and_watch.h"
#include "conformance/checks/rig_ids.h"
#include "conformance/checks/rig_usage.h"
#include "conformance/checks/suites.h"
#include "rpc/client.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

enum {
	STEADY_MS = 1000,
	IDLE_THOROUGH_MS = 20000,
	STAY_FAILED_S = 10, /* longer than plugins wait before they take a device back */
};

static const char *const listed_names[] = {"Healthy", "Unhealthy", "not listed"};

static enum listed state_in(const struct kubelet_stream *stream, const char *id)
{
	/* The kubelet treats the devices of an ended stream as Unhealthy. */
	if (stream != NULL && !kubelet_stream_state(stream).open)
		return UNHEALTHY;
	const struct kubelet_message *list = stream != NULL ? kubelet_stream_last(stream) : NULL;
	enum listed listed = NOT_LISTED;
	/* Listed with both, it is among the healthy ones of a kubelet as well. */
	for (size_t i = 0; list != NULL && listed != HEALTHY && i < list->devices.count; i++) {
		const struct kubelet_device *device = &list->devices.items[i];
		if (text_equal(device->id, id))
			listed = kubelet_device_is_healthy(device) ? HEALTHY : UNHEALTHY;
	}
	return listed;
}

enum listed health_look(const struct device_under_test *device)
{
	return state_in(rig_stream(device->rig, device->resource), device->id);
}

static bool is_healthy(void *user)
{
	return health_look(user) == HEALTHY;
}

static bool is_not_healthy(void *user)
{
	return health_look(user) != HEALTHY;
}

enum listed health_wait_until(struct device_under_test *device, bool healthy, uint64_t limit_ms,
			      const char *what)
{
	(void)rig_wait(device->rig, healthy ? is_healthy : is_not_healthy, device, limit_ms, what,
		       NULL);
	return health_look(device);
}

int health_run_command(struct device_under_test *device, bool fails, struct error *err)
{
	const struct context *context = device->rig->context;
	/* Before the command: whatever happens to this process, the device must be restored. */
	if (fails)
		check_add_failing(device->rig->run, device->id, true);
	int rc = device_command_run(fails ? context->fail_device : context->restore_device,
				    device->id, err);
	device->failed = fails;
	if (!fails && rc == 0)
		check_add_failing(device->rig->run, device->id, false);
	return rc;
}

bool health_set_failed(struct device_under_test *device, bool fails)
{
	struct error err = {0};
	int rc = health_run_command(device, fails, &err);
	return check_works(device->rig->run, rc, fails ? "--fail-device" : "--restore-device",
			   &err);
}

void health_restore(void *argument)
{
	struct device_under_test *device = argument;
	if (device->failed)
		(void)health_set_failed(device, false);
	kubelet_stream_close(&device->second);
	free(device);
}

struct device_under_test *health_open_device(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	if (rig == NULL || !rig_healthy_ids(rig, rig->resources.items[0], &ids))
		return NULL;
	struct device_under_test *device = memory_allocate(1, sizeof(*device));
	device->rig = rig;
	device->registrations = kubelet_registration_count(rig->kubelet);
	rig->supervised = true; /* it may end when a device fails */
	device->resource = rig->resources.items[0];
	device->id = check_format(run, "%s", ids.items[0]);
	check_defer(run, health_restore, device);
	return device;
}

/* When the failure was not noticed: another device that is listed as failed; NULL: none. */
static const char *find_unhealthy_other(const struct device_under_test *device)
{
	listed_each (other, kubelet_resource_devices(device->rig->kubelet, device->resource)) {
		if (!text_equal(other->id, device->id) && !kubelet_device_is_healthy(other))
			return other->id;
	}
	return NULL;
}

struct device_under_test *health_other_device(const struct device_under_test *device, bool last)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	const char *id = NULL;
	if (!rig_healthy_ids(device->rig, device->resource, &ids))
		return NULL;
	for (size_t i = 0; i < ids.count; i++) {
		if ((id == NULL || last) && !text_equal(ids.items[i], device->id))
			id = ids.items[i];
	}
	if (id == NULL)
		return NULL;
	struct device_under_test *other = memory_allocate(1, sizeof(*other));
	*other = (struct device_under_test){
		.rig = device->rig,
		.resource = device->resource,
		.id = check_format(device->rig->run, "%s", id),
	};
	check_defer(device->rig->run, health_restore, other);
	return other;
}

bool health_expect_listed(struct device_under_test *device, bool healthy)
{
	struct rig *rig = device->rig;
	const char *what = check_format(rig->run, "%s after it %s%s", device->id,
					healthy ? "was restored" : "failed",
					device->when != NULL ? device->when : "");
	const uint64_t limit_ms = rig_wait_ms(rig, check_row(rig->run)->requirement);
	const enum listed listed = health_wait_until(device, healthy, limit_ms, what);
	const bool held = (listed == HEALTHY) == healthy;
	const bool ended = rig->plugin != NULL && process_has_ended(rig->plugin);
	const bool elsewhere =
		device->second != NULL && state_in(device->second, device->id) != listed;
	/* The wait ends early when it is so, and when the plugin ends. */
	const char *when = held	   ? ""
			   : ended ? ", and the plugin ended"
				   : check_format(rig->run, " after %llu s",
						  (unsigned long long)limit_ms / 1000);
	const char *other = held || healthy || ended ? NULL : find_unhealthy_other(device);
	return check_expect(rig->run, held, what, healthy ? "Healthy" : "Unhealthy, or not listed",
			    "%s%s%s%s%s", listed_names[listed], when,
			    !held && elsewhere ? ", unlike on a second stream" : "",
			    other != NULL ? ", and Unhealthy is " : "", other != NULL ? other : "");
}

bool health_has_registered(const struct device_under_test *device)
{
	return kubelet_registration_count(device->rig->kubelet) != device->registrations;
}

static bool is_served(const struct device_under_test *device)
{
	const struct kubelet_stream *stream = rig_stream(device->rig, device->resource);
	return stream != NULL && kubelet_stream_state(stream).open;
}

bool health_is_undisturbed(const struct device_under_test *device)
{
	return is_served(device) && !health_has_registered(device);
}

static void watch_state(const struct kubelet_event *event, void *user)
{
	struct device_under_test *device = user;
	if (!text_equal(event->resource, device->resource) || health_has_registered(device))
		return;
	const struct kubelet_device *found = kubelet_device_find(event->devices, device->id);
	const bool healthy = kubelet_device_is_healthy(found);
	device->flapped |= healthy != device->healthy;
}

void health_expect_stays(struct device_under_test *device, bool healthy, int seconds)
{
	struct rig *rig = device->rig;
	if (!health_is_undisturbed(device))
		return;
	device->healthy = healthy;
	device->flapped = false;
	rig->on_list = watch_state;
	rig->on_list_user = device;
	(void)rig_watch(rig, (uint64_t)seconds * 1000, (uint64_t)seconds * 1000);
	rig->on_list = NULL;
	(void)check_expect_is(rig->run, !device->flapped,
			      check_format(rig->run, "%s in the %d s after its %s was listed",
					   device->id, seconds, healthy ? "return" : "failure"),
			      healthy ? "Healthy all the time" : "never Healthy",
			      healthy ? "not Healthy for a time" : "Healthy for a time");
}

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

static void expect_not_healthy(const struct device_under_test *device, enum listed listed,
			       const char *what)
{
	(void)check_expect(device->rig->run, listed != HEALTHY, what, "Unhealthy, or not listed",
			   "%s", listed_names[listed]);
}

static bool second_is_not_healthy(void *user)
{
	const struct device_under_test *device = user;
	return state_in(device->second, device->id) != HEALTHY;
}

/* Another id of the same device, by its name and by its grants. NULL: none. */
static const char *find_replica(struct device_under_test *device)
{
	struct rig *rig = device->rig;
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct rpc_answer own CLEANUP_RPC_ANSWER = {0};
	if (!rig_healthy_ids(rig, device->resource, &ids))
		return NULL;
	const V1beta1__ContainerAllocateResponse *one =
		rig_ask(rig, device->resource, &device->id, 1, &own);
	text_each (id, &ids) {
		struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
		struct allocate_difference difference = {0};
		const char *const asked[] = {id};
		if (one == NULL || text_equal(id, device->id) ||
		    !list_is_same_device(id, device->id))
			continue;
		const V1beta1__ContainerAllocateResponse *other =
			rig_ask(rig, device->resource, asked, 1, &reply);
		if (other != NULL && allocate_same_sources(one, other, &difference))
			return check_format(rig->run, "%s", id);
	}
	return NULL;
}

static void judge_replica(struct device_under_test *device, const char *id)
{
	struct device_under_test replica = *device;
	const uint64_t limit_ms = rig_wait_ms(device->rig, CHECK_LAW_10);
	replica.id = id;
	if (!health_is_undisturbed(device))
		return;
	const enum listed listed =
		health_wait_until(&replica, false, limit_ms, "the replica's failure");
	expect_not_healthy(device, listed,
			   check_format(device->rig->run, "%s, a replica of %s, after it failed",
					id, device->id));
}

/* The last device fails, too, after the first has returned. A command that makes the first fail again ignores DEVICE_ID. */
static void judge_last(struct device_under_test *device)
{
	struct rig *rig = device->rig;
	struct error err = {0};
	const uint64_t limit_ms = rig_wait_ms(rig, CHECK_LAW_10);
	if (!health_is_undisturbed(device))
		return;
	struct device_under_test *last = health_other_device(device, true);
	if (last == NULL || !health_set_failed(device, false) ||
	    health_wait_until(device, true, rig_wait_ms(rig, CHECK_LAW_11), "the device") !=
		    HEALTHY ||
	    health_look(last) != HEALTHY || health_run_command(last, true, &err) < 0)
		return;
	const enum listed listed = health_wait_until(last, false, limit_ms, "the last device");
	if (!health_is_undisturbed(device))
		return;
	if (listed == HEALTHY && health_look(device) != HEALTHY)
		check_note(rig->run, "only %s was tested: --fail-device makes it fail for %s, too",
			   device->id, last->id);
	else
		expect_not_healthy(
			device, listed,
			check_format(rig->run, "%s, the last device, after it failed", last->id));
}

static void device_fails(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	if (device == NULL)
		return;
	const char *replica = find_replica(device);
	device->second = open_further(device);
	const bool only_one = device->second == NULL;
	if (!health_set_failed(device, true) || !health_expect_listed(device, false))
		return;
	health_expect_stays(device, false, STAY_FAILED_S);
	if (replica != NULL)
		judge_replica(device, replica);
	/* A list with the change must come on every stream. */
	struct rig *rig = device->rig;
	if (device->second != NULL) {
		const uint64_t limit_ms = rig_wait_ms(rig, check_row(run)->requirement);
		(void)rig_wait(rig, second_is_not_healthy, device, limit_ms,
			       "a list on a second stream", NULL);
		expect_not_healthy(
			device, state_in(device->second, device->id),
			check_format(run, "%s on a second stream after it failed", device->id));
		kubelet_stream_close(&device->second);
	}
	/* A stream that is opened while the device is failed. */
	if (!only_one && health_is_undisturbed(device)) {
		struct kubelet_stream *fresh CLEANUP_KUBELET_STREAM = open_further(device);
		if (fresh != NULL)
			expect_not_healthy(
				device, state_in(fresh, device->id),
				check_format(run, "%s on a stream that was opened after it failed",
					     device->id));
	}
	judge_last(device);
}

bool health_fail_and_notice(struct device_under_test *device)
{
	struct rig *rig = device->rig;
	if (!health_set_failed(device, true))
		return false;
	bool noticed = health_wait_until(device, false, rig_wait_ms(rig, CHECK_LAW_10),
					 "the device's failure") != HEALTHY;
	if (!noticed)
		check_unsupported(rig->run,
				  "the plugin does not notice that %s failed; see "
				  "health.device-fails",
				  device->id);
	return noticed;
}

static void watch_list(const struct kubelet_event *event, void *user)
{
	struct device_under_test *device = user;
	if (!text_equal(event->resource, device->resource))
		return;
	const struct kubelet_device *found = kubelet_device_find(event->devices, device->id);
	device->was_unhealthy |= found != NULL && !kubelet_device_is_healthy(found);
	device->vanished |= found == NULL && !device->was_unhealthy;
}

static void allocated_device(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	struct grant grant CLEANUP_GRANT = {0};
	if (device == NULL)
		return;
	struct rig *rig = device->rig;
	const struct kubelet_limit limit = {device->resource, 1, &device->id};
	if (!rig_admit(rig, "holder", &limit, 1, &grant))
		return;
	rig->on_list = watch_list;
	rig->on_list_user = device;
	if (health_fail_and_notice(device)) {
		(void)rig_watch(rig, STEADY_MS, STEADY_MS);
		(void)check_expect_is(run, !device->vanished,
				      check_format(run,
						   "%s, which a container holds, after it failed",
						   device->id),
				      "listed as Unhealthy", "gone from the list at once");
	}
	rig->on_list = NULL;
}

/* The Allocate of a kubelet may come before it has read the list. */
static void allocate_failed(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	if (device == NULL || !health_fail_and_notice(device))
		return;
	if (!is_served(device) || health_look(device) != UNHEALTHY) {
		check_not_applicable(run,
				     "the plugin does not list a device that failed as Unhealthy");
		return;
	}
	int rc = rig_allocate(device->rig, device->resource, &device->id, 1, &reply, &err);
	if (!check_expect_ok(run, rc, "Allocate is answered", &err))
		return;
	if (is_served(device) && health_look(device) == UNHEALTHY)
		(void)check_expect_is(
			run, reply.code != RPC_OK,
			check_format(run, "Allocate of %s after it failed", device->id), "an error",
			"OK");
	else
		check_unsupported(run, "%s did not stay Unhealthy; see health.device-fails",
				  device->id);
}

static void idle_with_failed_device(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	if (device != NULL && health_fail_and_notice(device))
		rig_expect_idle(device->rig, STEADY_MS, IDLE_THOROUGH_MS,
				check_format(run, "while %s was failed", device->id));
}

#define HEALTH(name, rule, severity, revision, body, ...)                                          \
	CHECK("health." name, rule, severity, revision, body, .timeout_s = 720,                    \
	      .depends_on = "list-and-watch.devices-present", .needs.failing_device = true,        \
	      __VA_ARGS__)

const struct check health_checks[] = {
	HEALTH("device-fails", LAW_10, CRITICAL, 5, device_fails,
	       .title = "A device that fails is not offered any more",
	       .advice = "Watch each device (events of the driver, or a look at it every few "
			 "seconds), and send a list with the device as Unhealthy."),
	HEALTH("device-returns", LAW_11, MEDIUM, 5, health_device_returns,
	       .title = "A device that works again is offered again",
	       .advice = "Look at devices that failed as well, and send them as Healthy once they "
			 "work, on the NUMA nodes of before; a restart of the plugin should not be "
			 "needed."),
	HEALTH("allocated-device", LAW_12, MEDIUM, 1, allocated_device,
	       .title = "A device in use is listed as Unhealthy before it goes",
	       .advice = "Keep a device that failed in the lists, as Unhealthy, as long as a "
			 "container may hold it."),
	HEALTH("allocate", ALC_08, MEDIUM, 1, allocate_failed,
	       .title = "Allocate of a device that failed is refused",
	       .advice = "Check the device's health before you answer: the kubelet's view may be "
			 "older."),
	HEALTH("others-stay", LAW_22, CRITICAL, 4, health_others_stay,
	       .title = "Other devices stay listed when one fails and returns",
	       .advice = "Send all devices in every list, not only those that changed: each list "
			 "replaces the one before."),
	HEALTH("idle", LOAD_08, MEDIUM, 1, idle_with_failed_device,
	       .title = "A plugin with a failed device stays idle",
	       .advice = "Report a failure once, and pause between looks at the device."),
	HEALTH("settles", LAW_20, MEDIUM, 6, health_settles,
	       .title = "After many failures and returns the list says what is true",
	       .advice = "Compute every list from the devices' present state; do not count "
			 "events or drop those that come at once."),
	{.id = NULL},
};
