/* SPDX-License-Identifier: MIT */
/* Devices that fail and return again and again: over restarts of kubelet and plugin, and beside another one. */
#include "base/clock.h"
#include "conformance/checks/health.h"

#include <signal.h>

enum {
	TURNS = 10,
	TURNS_THOROUGH = 100,
	OTHERS_MAX = 15,
	QUICK_TURNS = 3,
	QUICK_MS = 2000,
	STEADY_MS = 1000,
};

/* The list says so, and still does a while later. False: recorded. */
static bool expect_steady(struct device_under_test *device, bool healthy)
{
	if (!health_expect_listed(device, healthy))
		return false;
	(void)rig_watch(device->rig, STEADY_MS, STEADY_MS);
	return health_expect_listed(device, healthy);
}

/* Each change is listed before the next one comes: a plugin may count them. */
static bool settles_in_quick_turns(struct device_under_test *device)
{
	const uint64_t end_ms = clock_monotonic_ms() + QUICK_MS;
	device->when = ", again and again";
	for (int i = 0; i < QUICK_TURNS && clock_monotonic_ms() < end_ms; i++) {
		if (!health_set_failed(device, true) || !health_expect_listed(device, false) ||
		    !health_set_failed(device, false) || !health_expect_listed(device, true))
			return false;
	}
	device->when = NULL;
	return true;
}

/* The plugin is back after a kubelet's restart, and lists the resource. False: noted, other checks judge that. */
static bool comes_back(struct rig *rig)
{
	struct error err = {0};
	int rc = rig_wait_return(rig, rig_wait_ms(rig, CHECK_RES_01), &err);
	if (rc < 0)
		check_note(rig->run, "not tested after a kubelet's restart: %s", err.text);
	return rc == 0 && rig_expect_lists(rig);
}

static bool restart_kubelet(struct device_under_test *device)
{
	return rig_restart_kubelet(device->rig, KUBELET_RESTART_WHOLE) && comes_back(device->rig);
}

/* The same, and the device changes while there is no stream on which to send that. */
static bool change_without_kubelet(struct device_under_test *device, bool fails)
{
	struct rig *rig = device->rig;
	device->when = ", without a kubelet";
	rig_stop_kubelet(rig);
	if (!health_set_failed(device, fails))
		return false;
	(void)rig_watch(rig, STEADY_MS, STEADY_MS);
	return rig_start_kubelet(rig) && comes_back(rig) && expect_steady(device, !fails);
}

/* Devices fail and return in later sessions of the kubelet as well. False: no need to continue. */
static bool settles_after_restarts(struct device_under_test *device)
{
	if (!restart_kubelet(device))
		return false;
	if (health_wait_until(device, true, rig_wait_ms(device->rig, CHECK_LAW_11), "the device") !=
	    HEALTHY) {
		check_note(device->rig->run, "after a kubelet's restart %s is not healthy",
			   device->id);
		return false;
	}
	device->when = ", after a kubelet's restart";
	if (!health_set_failed(device, true) || !expect_steady(device, false))
		return false;
	device->when = ", and the kubelet restarted";
	if (!restart_kubelet(device))
		return check_expect(
			device->rig->run, false,
			check_format(device->rig->run,
				     "%s, after a kubelet's restart while %s was failed",
				     device->resource, device->id),
			"registered and listed, as after the restart before", "not within %lld s",
			requirement_limit(CHECK_RES_01));
	if (!expect_steady(device, false) || !health_set_failed(device, false))
		return false;
	bool held = expect_steady(device, true) && change_without_kubelet(device, true) &&
		    change_without_kubelet(device, false);
	device->when = NULL;
	return held;
}

/* The plugin starts while the device is failed. False: no need to continue. */
static bool settles_after_a_start(struct device_under_test *device)
{
	struct rig *rig = device->rig;
	if (rig->plugin == NULL)
		return true;
	device->when = ", and the plugin was started again";
	if (!health_set_failed(device, true) ||
	    health_wait_until(device, false, rig_wait_ms(rig, CHECK_LAW_10), "its failure") ==
		    HEALTHY ||
	    !rig_restart_plugin(rig, SIGTERM) || !rig_expect_lists(rig) ||
	    !expect_steady(device, false))
		return false;
	const bool held = health_set_failed(device, false) && expect_steady(device, true);
	device->when = NULL;
	return held;
}

/* The other one was restored. A command that restores all devices made this one work, too: then it can fail anew. */
static void expect_stays_failed(struct device_under_test *device, struct device_under_test *other)
{
	struct rig *rig = device->rig;
	struct error err = {0};
	(void)health_wait_until(other, true, rig_wait_ms(rig, CHECK_LAW_11), "the other device");
	(void)rig_watch(rig, STEADY_MS, STEADY_MS);
	if (health_look(device) == HEALTHY && health_run_command(device, true, &err) == 0 &&
	    health_wait_until(device, false, rig_wait_ms(rig, CHECK_LAW_10), "its failure") !=
		    HEALTHY)
		return;
	(void)check_expect_is(
		rig->run, health_look(device) != HEALTHY,
		check_format(rig->run, "%s, when %s worked again", device->id, other->id),
		"still failed", "Healthy");
}

/* Both fail at once: neither change is lost. False: no need to continue. */
static bool settles_together(struct device_under_test *device, struct device_under_test *other)
{
	struct rig *rig = device->rig;
	struct error err = {0};
	device->when = check_format(rig->run, ", together with %s", other->id);
	if (health_wait_until(other, true, rig_wait_ms(rig, CHECK_LAW_11), "the other device") !=
		    HEALTHY ||
	    !health_set_failed(device, true) || health_run_command(other, true, &err) < 0 ||
	    !expect_steady(device, false))
		return false;
	const bool held = health_wait_until(other, false, rig_wait_ms(rig, CHECK_LAW_10),
					    "the other device's failure") != HEALTHY;
	(void)check_expect_is(
		rig->run, held,
		check_format(rig->run, "%s, which failed together with %s", other->id, device->id),
		"Unhealthy, or not listed", "Healthy");
	return health_run_command(other, false, &err) == 0 && health_set_failed(device, false) &&
	       expect_steady(device, true) && held;
}

/* The device is the last that fails: a list without a healthy one is sent as well. The command may not know all devices, and
 * there may be too many. */
static void settles_as_the_last(struct device_under_test *device)
{
	const uint64_t limit_ms = rig_wait_ms(device->rig, CHECK_LAW_10);
	struct error err = {0};
	for (size_t i = 0; i <= OTHERS_MAX; i++) {
		struct device_under_test *other = health_other_device(device, false);
		if (other == NULL)
			break;
		if (i == OTHERS_MAX || health_run_command(other, true, &err) < 0 ||
		    health_wait_until(other, false, limit_ms, "its failure") == HEALTHY)
			return;
	}
	if (health_look(device) != HEALTHY)
		return;
	device->when = ", as the last one of the resource";
	(void)(health_set_failed(device, true) && expect_steady(device, false) &&
	       health_set_failed(device, false) && expect_steady(device, true));
}

/* The device fails while another one is failed. The command may know one device only, or replicas may fail together:
 * nothing is judged then. False: no need to continue. */
static bool settles_beside_another(struct device_under_test *device)
{
	struct device_under_test *other = health_other_device(device, false);
	struct error err = {0};
	if (other == NULL)
		return true;
	if (health_run_command(other, true, &err) < 0)
		return false;
	if (health_wait_either(device, other) == HEALTHY || health_look(device) != HEALTHY) {
		check_note(device->rig->run, "not tested with two devices that fail");
		return health_set_failed(other, false) &&
		       health_wait_until(device, true, rig_wait_ms(device->rig, CHECK_LAW_11),
					 "the device") == HEALTHY;
	}
	device->when = check_format(device->rig->run, ", while %s was failed", other->id);
	if (!health_set_failed(device, true) || !expect_steady(device, false))
		return false;
	const bool several = health_look(other) != HEALTHY; /* else it supports one device only */
	if (health_run_command(other, false, &err) < 0)
		return false;
	expect_stays_failed(device, other);
	if (!health_set_failed(device, false) || !expect_steady(device, true))
		return false;
	if (several && settles_together(device, other))
		settles_as_the_last(device);
	return true;
}

/* A change that no stream can take must not keep the plugin from its end. */
static void ends_with_a_change(struct device_under_test *device)
{
	struct rig *rig = device->rig;
	if (rig->plugin == NULL || health_look(device) != HEALTHY)
		return;
	rig_stop_kubelet(rig);
	if (!health_set_failed(device, true))
		return;
	(void)rig_watch(rig, STEADY_MS, STEADY_MS);
	const bool ended = rig_end_plugin(rig, SIGTERM, requirement_limit_ms(CHECK_RES_08));
	(void)check_expect_is(
		rig->run, ended,
		check_format(rig->run, "the plugin after SIGTERM, when %s failed without a kubelet",
			     device->id),
		"ended", "still running");
}

void health_settles(struct check_run *run)
{
	struct device_under_test *device = health_open_device(run);
	if (device == NULL)
		return;
	if (health_is_unnoticed(run, true)) {
		check_unsupported(run, "the plugin does not notice that a device works again; see "
				       "health.device-returns");
		return;
	}
	if (!health_fail_and_notice(device))
		return;
	/* An even number leaves it failed. */
	const int turns = device->rig->context->thorough ? TURNS_THOROUGH : TURNS;
	for (int i = 0; i < turns; i++)
		if (!health_set_failed(device, !device->failed))
			return;
	if (expect_steady(device, false) && health_set_failed(device, false) &&
	    expect_steady(device, true) && settles_in_quick_turns(device) &&
	    settles_after_restarts(device) && settles_after_a_start(device) &&
	    settles_beside_another(device))
		ends_with_a_change(device);
}
