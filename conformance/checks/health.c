/* SPDX-License-Identifier: MIT */
/* Devices that fail and come back, as the commands of --fail-device and --restore-device make them. */
#include "base/cleanup.h"
#include "base/memory.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/suites.h"

#include <stdlib.h>

enum {
	COMMAND_MS = 60000,
	TURNS = 10,
	TURNS_THOROUGH = 100,
	STEADY_MS = 1000,
};

/* The device under test. */
struct patient {
	struct rig *rig;
	const char *resource, *id;
	bool failed;
	bool was_ill, vanished; /* since watch_lists(): listed as Unhealthy; gone without that */
};

enum sight { WELL, ILL, GONE };

static enum sight look(const struct patient *patient)
{
	const struct kubelet_stream *stream = rig_stream(patient->rig, patient->resource);
	/* The kubelet takes the devices of a stream that ended for Unhealthy. */
	if (stream != NULL && !kubelet_stream_state(stream).open)
		return ILL;
	const struct kubelet_message *list = stream != NULL ? kubelet_stream_last(stream) : NULL;
	const struct kubelet_device *device =
		list != NULL ? kubelet_device_find(&list->devices, patient->id) : NULL;
	if (device == NULL)
		return GONE;
	return kubelet_device_is_healthy(device) ? WELL : ILL;
}

static bool is_well(void *user)
{
	return look(user) == WELL;
}

static bool is_not_well(void *user)
{
	return look(user) != WELL;
}

/* Runs the command to its end. False: recorded. */
static bool turn(struct patient *patient, bool fails)
{
	struct rig *rig = patient->rig;
	const char *command = fails ? rig->context->fail_device : rig->context->restore_device;
	struct text_list words CLEANUP_TEXT_LIST = {0};
	struct error err = {0};
	char *out CLEANUP_FREE = NULL;
	const char *const env[] = {check_format(rig->run, "DEVICE_ID=%s", patient->id), NULL};
	int rc = command_line_split(COMMAND_LINE_HERE, command, &words, &err);
	if (rc == 0 && words.count == 0)
		rc = error_set(&err, ERROR_ARGUMENT, "it is empty");
	const struct process_spec spec = {
		.argv = (const char *const *)words.items, .env = env, .timeout_ms = COMMAND_MS};
	if (rc == 0)
		rc = process_ask(&spec, &out, &err);
	patient->failed = fails;
	return check_works(rig->run, rc, fails ? "--fail-device" : "--restore-device", &err);
}

/* The node is left as it was. */
static void restore(void *argument)
{
	struct patient *patient = argument;
	if (patient->failed)
		(void)turn(patient, false);
	free(patient);
}

/* A healthy device of a plugin that is ready. NULL: recorded. */
static struct patient *admit(struct check_run *run)
{
	struct rig *rig = rig_ready(run, NULL);
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	if (rig == NULL || !rig_healthy_ids(rig, rig->resources.items[0], &ids))
		return NULL;
	struct patient *patient = memory_allocate(1, sizeof(*patient));
	patient->rig = rig;
	patient->resource = rig->resources.items[0];
	patient->id = check_format(run, "%s", ids.items[0]);
	check_defer(run, restore, patient);
	return patient;
}

/* Waits until the plugin has said so; judged by the row's requirement. False: recorded. */
static bool expect_seen(struct patient *patient, bool well)
{
	struct rig *rig = patient->rig;
	const char *what = check_format(rig->run, "%s after it %s", patient->id,
					well ? "was restored" : "failed");
	const uint64_t limit_ms = rig_wait_ms(rig, check_row(rig->run)->requirement);
	(void)rig_wait(rig, well ? is_well : is_not_well, patient, limit_ms, what, NULL);
	static const char *const sights[] = {"Healthy", "Unhealthy", "not listed"};
	const bool ended = rig->plugin != NULL && process_has_ended(rig->plugin);
	enum sight sight = look(patient);
	return check_expect(rig->run, (sight == WELL) == well, what,
			    well ? "Healthy" : "Unhealthy, or not listed", "%s after %llu s%s",
			    sights[sight], (unsigned long long)limit_ms / 1000,
			    ended ? ", and the plugin ended" : "");
}

static void device_fails(struct check_run *run)
{
	struct patient *patient = admit(run);
	if (patient != NULL && turn(patient, true))
		(void)expect_seen(patient, false);
}

/* Fails the device. False: recorded, also when the plugin does not notice, which device_fails() judges. */
static bool fail_and_notice(struct patient *patient)
{
	struct rig *rig = patient->rig;
	if (!turn(patient, true))
		return false;
	(void)rig_wait(rig, is_not_well, patient, rig_wait_ms(rig, CHECK_LAW_10),
		       "the device's failure", NULL);
	if (look(patient) == WELL)
		check_unsupported(rig->run,
				  "the plugin does not notice that %s failed; see "
				  "health.device-fails",
				  patient->id);
	return look(patient) != WELL;
}

static void device_returns(struct check_run *run)
{
	struct patient *patient = admit(run);
	if (patient != NULL && fail_and_notice(patient) && turn(patient, false))
		(void)expect_seen(patient, true);
}

static void watch_list(const struct kubelet_event *event, void *user)
{
	struct patient *patient = user;
	if (!text_equal(event->resource, patient->resource))
		return;
	const struct kubelet_device *device = kubelet_device_find(event->devices, patient->id);
	patient->was_ill |= device != NULL && !kubelet_device_is_healthy(device);
	patient->vanished |= device == NULL && !patient->was_ill;
}

static void allocated_device(struct check_run *run)
{
	struct patient *patient = admit(run);
	struct grant grant CLEANUP_GRANT = {0};
	if (patient == NULL)
		return;
	struct rig *rig = patient->rig;
	const struct kubelet_limit limit = {patient->resource, 1, &patient->id};
	if (!rig_admit(rig, "holder", &limit, 1, &grant))
		return;
	rig->on_list = watch_list;
	rig->on_list_user = patient;
	if (fail_and_notice(patient)) {
		(void)rig_watch(rig, STEADY_MS, STEADY_MS);
		(void)check_expect_is(run, !patient->vanished,
				      check_format(run,
						   "%s, which a container holds, after it failed",
						   patient->id),
				      "listed as Unhealthy", "gone from the list at once");
	}
	rig->on_list = NULL;
}

static void settles(struct check_run *run)
{
	struct patient *patient = admit(run);
	if (patient == NULL || !fail_and_notice(patient))
		return;
	struct rig *rig = patient->rig;
	const int turns = rig->context->thorough ? TURNS_THOROUGH : TURNS;
	for (int i = 0; i < turns; i++)
		if (!turn(patient, !patient->failed))
			return;

	/* It failed at first, so an even number of turns leaves it failed. */
	for (int i = 0; i < 2; i++) {
		if (!expect_seen(patient, !patient->failed))
			return;
		(void)rig_watch(rig, STEADY_MS, STEADY_MS);
		if (!expect_seen(patient, !patient->failed) || (i == 0 && !turn(patient, false)))
			return;
	}
}

#define HEALTH(name, rule, severity, body, ...)                                                    \
	CHECK("health." name, rule, severity, 1, body, .timeout_s = 720,                           \
	      .depends_on = "list-and-watch.devices-present", .needs.failing_device = true,        \
	      __VA_ARGS__)

const struct check health_checks[] = {
	HEALTH("device-fails", LAW_10, CRITICAL, device_fails,
	       .title = "A device that fails is not offered any more",
	       .advice = "Watch each device (events of the driver, or a look at it every few "
			 "seconds), and send a list with the device as Unhealthy."),
	HEALTH("device-returns", LAW_11, MEDIUM, device_returns,
	       .title = "A device that works again is offered again",
	       .advice = "Look at devices that failed as well, and send them as Healthy once they "
			 "work; a restart of the plugin should not be needed."),
	HEALTH("allocated-device", LAW_12, MEDIUM, allocated_device,
	       .title = "A device in use is listed as Unhealthy before it goes",
	       .advice = "Keep a device that failed in the lists, as Unhealthy, as long as a "
			 "container may hold it."),
	HEALTH("settles", LAW_20, MEDIUM, settles,
	       .title = "After many failures and returns the list says what is true",
	       .advice = "Compute every list from the devices' present state; do not count "
			 "events or drop those that come at once."),
	{.id = NULL},
};
