/* SPDX-License-Identifier: MIT */
/* Devices that fail and come back, as the commands of --fail-device and --restore-device make them. */
#include "conformance/checks/health.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/memory.h"
#include "conformance/checks/allocate.h"
#include "conformance/checks/growth.h"
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
	LISTED_SHOWN = 4,
	ROUNDS_TRIED = 3,
	/* More than a plugin needs that looks every 500 ms. Slower ones are of a real device, which must not fail a hundred
	 * times. */
	ROUND_MS = 1500,
};

static const char *const listed_names[] = {"Healthy", "Unhealthy", "not listed"};

enum listed health_state_in(const struct kubelet_stream *stream, const char *id)
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
	return health_state_in(rig_stream(device->rig, device->resource), device->id);
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

/* The first of the ids, or the last, in the order in which the plugin lists them, which may be that of its devices' numbers.
 * Not `but`. NULL: none. */
static const char *find_listed(const struct rig *rig, const char *resource,
			       const struct text_list *ids, bool last, const char *but)
{
	const struct kubelet_device_list *list = kubelet_resource_devices(rig->kubelet, resource);
	const size_t count = list != NULL ? list->count : 0;
	for (size_t i = 0; i < count; i++) {
		const char *id = list->items[last ? count - 1 - i : i].id;
		if (!text_equal(id, but) && text_list_has(ids, id))
			return check_format(rig->run, "%s", id);
	}
	return NULL;
}

struct device_under_test *health_open_device(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	if (rig == NULL || !rig_healthy_ids(rig, rig->resources.items[0], &ids))
		return NULL;
	const char *id = find_listed(rig, rig->resources.items[0], &ids, false, NULL);
	struct device_under_test *device = memory_allocate(1, sizeof(*device));
	device->rig = rig;
	device->registrations = kubelet_registration_count(rig->kubelet);
	rig->supervised = true; /* it may end when a device fails */
	device->resource = rig->resources.items[0];
	device->id = id != NULL ? id : check_format(run, "%s", ids.items[0]);
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

/* "; listed are A, B" of a resource whose device is gone: it may have come back under another id. */
static const char *name_listed(const struct device_under_test *device)
{
	struct text names CLEANUP_TEXT = {0};
	size_t shown = 0;
	listed_each (other, kubelet_resource_devices(device->rig->kubelet, device->resource)) {
		if (shown == LISTED_SHOWN)
			text_add(&names, ", ...");
		if (shown++ < LISTED_SHOWN)
			text_addf(&names, "%s%s", shown == 1 ? "; listed are " : ", ", other->id);
	}
	return check_format(device->rig->run, "%s", text_string(&names));
}

static bool either_failed(void *user)
{
	const struct device_under_test *const *both = user;
	return health_look(both[0]) != HEALTHY || health_look(both[1]) != HEALTHY;
}

enum listed health_wait_either(const struct device_under_test *device,
			       const struct device_under_test *other)
{
	const struct device_under_test *both[] = {device, other};
	(void)rig_wait(device->rig, either_failed, both, rig_wait_ms(device->rig, CHECK_LAW_10),
		       "a failure", NULL);
	return health_look(other);
}

struct device_under_test *health_other_device(const struct device_under_test *device, bool last)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	struct text busy CLEANUP_TEXT = {0};
	(void)rig_free_ids(device->rig, device->resource, &ids, &busy);
	const char *id = find_listed(device->rig, device->resource, &ids, last, device->id);
	if (id == NULL)
		return NULL;
	struct device_under_test *other = memory_allocate(1, sizeof(*other));
	*other = (struct device_under_test){
		.rig = device->rig,
		.resource = device->resource,
		.id = id,
	};
	check_defer(device->rig->run, health_restore, other);
	return other;
}

static size_t times_listed(const struct device_under_test *device)
{
	size_t times = 0;
	listed_each (listed, kubelet_resource_devices(device->rig->kubelet, device->resource))
		times += text_equal(listed->id, device->id);
	return times;
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
	/* The wait ends early when it is so, and when the plugin ends. */
	const char *when = held	   ? ""
			   : ended ? ", and the plugin ended"
				   : check_format(rig->run, " after %llu s",
						  (unsigned long long)limit_ms / 1000);
	const char *other = held || healthy || ended ? NULL : find_unhealthy_other(device);
	return check_expect(rig->run, held, what, healthy ? "Healthy" : "Unhealthy, or not listed",
			    "%s%s%s%s%s%s", listed_names[listed],
			    !held && times_listed(device) > 1 ? " and Unhealthy, listed twice" : "",
			    when, other != NULL ? ", and Unhealthy is " : "",
			    other != NULL ? other : "",
			    held || listed != NOT_LISTED ? "" : name_listed(device));
}

bool health_has_registered(const struct device_under_test *device)
{
	return kubelet_registration_count(device->rig->kubelet) != device->registrations;
}

bool health_is_served(const struct device_under_test *device)
{
	return kubelet_stream_state(rig_stream(device->rig, device->resource)).open;
}

bool health_is_undisturbed(const struct device_under_test *device)
{
	return health_is_served(device) && !health_has_registered(device);
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

void health_expect_not_healthy(const struct device_under_test *device, enum listed listed,
			       const char *what)
{
	(void)check_expect(device->rig->run, listed != HEALTHY, what, "Unhealthy, or not listed",
			   "%s", listed_names[listed]);
}

static const char *unnoticed_path(struct check_run *run, bool returns)
{
	return check_run_path(run, returns ? "return-unnoticed" : "failure-unnoticed");
}

int health_keep_unnoticed(struct check_run *run, bool returns, struct error *err)
{
	return file_write_atomic(unnoticed_path(run, returns), "", 0, 0600, err);
}

bool health_is_unnoticed(struct check_run *run, bool returns)
{
	return file_exists(unnoticed_path(run, returns));
}

bool health_fail_and_notice(struct device_under_test *device)
{
	struct rig *rig = device->rig;
	bool noticed = !health_is_unnoticed(rig->run, false);
	if (noticed && !health_set_failed(device, true))
		return false;
	noticed = noticed && health_wait_until(device, false, rig_wait_ms(rig, CHECK_LAW_10),
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

static bool is_listed_unhealthy(const struct device_under_test *device)
{
	return health_is_served(device) && health_look(device) == UNHEALTHY;
}

/* The Allocate of a kubelet may come before it has read the list. */
static void allocate_failed(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	if (device == NULL || !health_fail_and_notice(device))
		return;
	if (!is_listed_unhealthy(device)) {
		check_not_applicable(run,
				     "the plugin does not list a device that failed as Unhealthy");
		return;
	}
	int rc = rig_allocate(device->rig, device->resource, &device->id, 1, &reply, &err);
	if (!check_expect_ok(run, rc, "Allocate is answered", &err))
		return;
	if (!is_listed_unhealthy(device)) {
		check_unsupported(run, "%s did not stay Unhealthy; see health.device-fails",
				  device->id);
		return;
	}
	if (!check_expect_is(run, reply.code != RPC_OK,
			     check_format(run, "Allocate of %s after it failed", device->id),
			     "an error", "OK"))
		return;
	/* Behind a healthy one. A plugin may refuse two devices at once. */
	const struct device_under_test *other = health_other_device(device, false);
	struct rpc_answer both CLEANUP_RPC_ANSWER = {0};
	if (other == NULL)
		return;
	const char *const ids[] = {other->id, device->id};
	rc = rig_allocate(device->rig, device->resource, ids, ARRAY_SIZE(ids), &both, &err);
	if (check_expect_ok(run, rc, "Allocate of two devices is answered", &err) &&
	    is_listed_unhealthy(device))
		(void)check_expect_is(run, both.code != RPC_OK,
				      check_format(run, "Allocate of %s and %s, which failed",
						   other->id, device->id),
				      "an error", "OK");
}

static void idle_with_failed_device(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	if (device != NULL && health_fail_and_notice(device))
		rig_expect_idle(device->rig, STEADY_MS, IDLE_THOROUGH_MS,
				check_format(run, "while %s was failed", device->id));
}

static const char unnoticed_change[] = "the plugin does not notice a failure or a return; see "
				       "health.device-fails and health.device-returns";

static bool fail_and_return(struct rig *rig, void *user)
{
	struct device_under_test *device = user;
	if (!health_set_failed(device, true))
		return false;
	const bool failed = health_wait_until(device, false, rig_wait_ms(rig, CHECK_LAW_10),
					      "the failure") != HEALTHY;
	if (!health_set_failed(device, false))
		return false;
	const bool returned =
		failed && health_wait_until(device, true, rig_wait_ms(rig, CHECK_LAW_11),
					    "the return") == HEALTHY;
	if (!returned)
		check_unsupported(rig->run, "%s", unnoticed_change);
	return returned;
}

static void leaks(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	if (device == NULL)
		return;
	if (health_is_unnoticed(run, false) || health_is_unnoticed(run, true)) {
		check_unsupported(run, "%s", unnoticed_change);
		return;
	}
	/* On a busy machine the first may be slow by chance. */
	bool quick = false;
	for (int i = 0; i < ROUNDS_TRIED && !quick; i++) {
		const uint64_t start_ms = clock_monotonic_ms();
		if (!fail_and_return(device->rig, device))
			return;
		quick = clock_monotonic_ms() - start_ms <=
			context_limit_ms(device->rig->context, ROUND_MS);
	}
	if (!quick)
		check_unsupported(run,
				  "a failure and a return take more than %.1f s, which is too long "
				  "for many",
				  ROUND_MS / 1000.0);
	else
		rig_expect_level(device->rig, "a failure and a return", fail_and_return, device);
}

#define HEALTH(name, rule, severity, revision, body, ...)                                          \
	CHECK("health." name, rule, severity, revision, body, .timeout_s = 720,                    \
	      .depends_on = "list-and-watch.devices-present", .needs.failing_device = true,        \
	      __VA_ARGS__)

const struct check health_checks[] = {
	HEALTH("device-fails", LAW_10, CRITICAL, 7, health_device_fails,
	       .title = "A device that fails is not offered any more",
	       .advice = "Watch each device (events of the driver, or a look at it every few "
			 "seconds), and send a list with the device as Unhealthy."),
	HEALTH("every-stream", LAW_08, LOW, 1, health_every_stream,
	       .title = "A failure is listed on every stream, also on one that is opened later",
	       .advice =
		       "Begin each stream with the present list, pass each change to every open one, "
		       "and end only the handler of a closed one: kubelets up to 1.36 may have two, "
		       "and a kubelet that restarts opens another."),
	HEALTH("device-returns", LAW_11, MEDIUM, 5, health_device_returns,
	       .title = "A device that works again is offered again",
	       .advice = "Look at devices that failed as well, and send them as Healthy once they "
			 "work, on the NUMA nodes of before; a restart of the plugin should not be "
			 "needed."),
	HEALTH("allocated-device", LAW_12, MEDIUM, 1, allocated_device,
	       .title = "A device in use is listed as Unhealthy before it goes",
	       .advice = "Keep a device that failed in the lists, as Unhealthy, as long as a "
			 "container may hold it."),
	HEALTH("allocate", ALC_08, MEDIUM, 2, allocate_failed,
	       .title = "Allocate of a device that failed is refused",
	       .advice =
		       "Check the health of each device before you answer: the kubelet's view may "
		       "be older."),
	HEALTH("others-stay", LAW_22, CRITICAL, 5, health_others_stay,
	       .title = "Other devices stay listed when one fails and returns",
	       .advice = "Send all devices in every list, not only those that changed: each list "
			 "replaces the one before."),
	HEALTH("idle", LOAD_08, MEDIUM, 1, idle_with_failed_device,
	       .title = "A plugin with a failed device stays idle",
	       .advice = "Report a failure once, and pause between looks at the device."),
	HEALTH("leaks", LOAD_09, MEDIUM, 2, leaks, .title = "Failures and returns leak nothing",
	       .advice = "Close what a change opened, and wait for the processes that it started."),
	HEALTH("settles", LAW_20, MEDIUM, 9, health_settles,
	       .title = "After many failures and returns the list says what is true",
	       .advice = "Compute every list from the devices' present state; do not count "
			 "events or drop those that come at once."),
	{.id = NULL},
};
