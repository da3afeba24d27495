/* SPDX-License-Identifier: MIT */
#pragma once

/* Bodies of health.*, and the device that they let fail. */

#include "conformance/checks/rig.h"

/* The device under test. */
struct device_under_test {
	struct rig *rig;
	const char *resource, *id;
	const char *when;	       /* what happened before, for reasons; NULL: nothing */
	size_t registrations;	       /* at the time before it fails */
	struct kubelet_stream *second; /* in addition to the kubelet's; NULL: none */
	bool failed;
	bool healthy, flapped;	      /* watch_state(): wanted; another state was seen */
	bool was_unhealthy, vanished; /* in watch_list(): listed as Unhealthy; gone without that */
};

enum listed { HEALTHY, UNHEALTHY, NOT_LISTED };

/* A healthy device of a plugin that is ready; restored at the end of the check. NULL: recorded. */
struct device_under_test *health_open_device(struct check_run *run);

/* Another healthy device of the resource, the next one or the last; the same. NULL: none. */
struct device_under_test *health_other_device(const struct device_under_test *device, bool last);

/* After the command was called for `other`: waits until it, or `device`, which a command that ignores DEVICE_ID makes fail
 * instead, is not Healthy any more. How `other` is listed then. */
enum listed health_wait_either(const struct device_under_test *device,
			       const struct device_under_test *other);

/* What the kubelet's latest list says of it; UNHEALTHY where the stream has ended. */
enum listed health_look(const struct device_under_test *device);

/* The same of another stream's latest list. */
enum listed health_state_in(const struct kubelet_stream *stream, const char *id);

/* Records whether the state is one in which no pod gets the device. */
void health_expect_not_healthy(const struct device_under_test *device, enum listed listed,
			       const char *what);

/* Is the kubelet's stream of the resource open? */
bool health_is_served(const struct device_under_test *device);

/* A plugin that registered meanwhile may have restarted, and examine its devices later. */
bool health_has_registered(const struct device_under_test *device);

/* The kubelet's stream is open, and the plugin has not registered meanwhile. */
bool health_is_undisturbed(const struct device_under_test *device);

/* Runs the command of --fail-device, or that of --restore-device. Errors of device_command_run(). */
int health_run_command(struct device_under_test *device, bool fails, struct error *err);

/* The same. False: recorded. */
bool health_set_failed(struct device_under_test *device, bool fails);

/* A check's clean-up: the node is left as it was. Frees the device that it is passed. */
void health_restore(void *argument);

/* Waits for the list to show it; judged by the row's requirement. False: recorded. */
bool health_expect_listed(struct device_under_test *device, bool healthy);

/* Fails the device. False: recorded, also when the plugin does not notice, which health.device-fails judges. */
bool health_fail_and_notice(struct device_under_test *device);

/* The plugin does not notice failures, or returns: the run's further checks need not wait for one, each a minute. */
int health_keep_unnoticed(struct check_run *run, bool returns, struct error *err);
bool health_is_unnoticed(struct check_run *run, bool returns);

/* Waits until the device is healthy, or is not, for at most that time. */
enum listed health_wait_until(struct device_under_test *device, bool healthy, uint64_t limit_ms,
			      const char *what);

/* The state that the list shows does not change by itself; nothing is recorded when the plugin registers meanwhile. */
void health_expect_stays(struct device_under_test *device, bool healthy, int seconds);

/* A device that fails (health_fails.c); one that works again (health_returns.c); devices other than the failing one
 * (health_others.c); repeated failures and returns (health_settles.c). */
check_body health_device_fails, health_every_stream, health_device_returns, health_others_stay,
	health_settles;
