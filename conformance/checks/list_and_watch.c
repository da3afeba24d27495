/* SPDX-License-Identifier: MIT */
/* ListAndWatch: what the plugin says about its devices, and how it holds the stream. */
#include "base/clock.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/suites.h"
#include "rpc/client.h"

#include <signal.h>
#include <string.h>

enum {
	FIRST_MESSAGE_MS = 5000,
	MESSAGE_MAX = 4 * 1024 * 1024,
	ID_MAX = 63,
	NUMA_MAX = 63,
	IDLE_MS = 2000,
	IDLE_THOROUGH_MS = 600000, /* LAW-07, LAW-14 */
	CYCLES = 100,
	CYCLES_THOROUGH = 1000,
	CYCLES_PAUSE_MS = 1000,
	STOP_MS = 30000,
};

static void list_arrives(struct check_run *run)
{
	(void)rig_ready(run);
}

/* Calls `judge` with the first message of each resource. */
static void list_each(struct check_run *run, void (*judge)(struct rig *rig, const char *resource,
							   const struct kubelet_message *message))
{
	struct rig *rig = rig_ready(run);

	if (rig == NULL)
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];
		struct kubelet_stream *stream =
			kubelet_plugin_stream(kubelet_resource_plugin(rig->kubelet, resource));
		const struct kubelet_message *message = kubelet_stream_last(stream);

		if (message == NULL)
			check_broken(run, "%s: the list is gone", resource);
		else
			judge(rig, resource, message);
	}
}

/* As list_each(), for what can only be told where some device is listed. */
static void list_each_listing(struct check_run *run,
			      void (*judge)(struct rig *rig, const char *resource,
					    const struct kubelet_message *message))
{
	struct rig *rig = rig_ready(run);
	size_t listed = 0;

	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];
		const struct kubelet_message *message = kubelet_stream_last(
			kubelet_plugin_stream(kubelet_resource_plugin(rig->kubelet, resource)));

		if (message != NULL && message->devices.count != 0) {
			listed++;
			judge(rig, resource, message);
		}
	}
	if (rig != NULL && listed == 0)
		check_unsupported(run, "no resource under test lists a device");
}

static void first_message(struct rig *rig, const char *resource,
			  const struct kubelet_message *message)
{
	struct kubelet_stream *stream =
		kubelet_plugin_stream(kubelet_resource_plugin(rig->kubelet, resource));
	const struct kubelet_message *first = kubelet_stream_message(stream, 0);

	first = first != NULL ? first : message;
	(void)check_expect_at_most(rig->run, "milliseconds to the first list",
				   (long long)(first->time_ms - kubelet_stream_opened_ms(stream)),
				   FIRST_MESSAGE_MS);
}

static void list_first_message(struct check_run *run)
{
	list_each(run, first_message);
}

/* Does `id` name a replica of the device: the device's id, alone or followed by "::" and a number?
 */
static bool list_is_replica(const char *id, const char *device)
{
	size_t length = strlen(device);

	return strncmp(id, device, length) == 0 &&
	       (id[length] == '\0' || strncmp(id + length, "::", 2) == 0);
}

static bool list_has_device(const struct kubelet_device_list *list, const char *device)
{
	for (size_t i = 0; i < list->count; i++) {
		if (list_is_replica(list->items[i].id, device))
			return true;
	}
	return false;
}

static bool list_is_any_device(const struct context *context, const char *id)
{
	for (size_t i = 0; i < context->node->device_count; i++) {
		if (list_is_replica(id, context->node->devices[i].id))
			return true;
	}
	return false;
}

/* The reference plugin names its devices as the discovery does, so the sets can be compared. */
static void list_matches_node(struct rig *rig, const char *resource,
			      const struct kubelet_device_list *list)
{
	bool display = text_ends_with(resource, "/display");

	for (size_t i = 0; i < rig->context->node->device_count; i++) {
		const struct discovery_device *device = &rig->context->node->devices[i];

		if (device->display == display)
			(void)check_expect(
				rig->run, list_has_device(list, device->id), device->id, "listed",
				"%s", list_has_device(list, device->id) ? "listed" : "missing");
	}
	for (size_t i = 0; i < list->count; i++) {
		if (!list_is_any_device(rig->context, list->items[i].id))
			(void)check_expect(rig->run, false, list->items[i].id,
					   "a device of the node",
					   "unknown to the independent enumeration");
	}
}

static void devices_present(struct rig *rig, const char *resource,
			    const struct kubelet_message *message)
{
	(void)check_expect(rig->run, message->devices.count != 0, resource, "at least one device",
			   "%zu", message->devices.count);
	if (rig->context->reference_plugin && rig->context->resource == NULL)
		list_matches_node(rig, resource, &message->devices);
}

static void list_devices_present(struct check_run *run)
{
	list_each(run, devices_present);
}

static void ids_sound(struct rig *rig, const char *resource, const struct kubelet_message *message)
{
	const struct kubelet_device_list *list = &message->devices;

	(void)resource;
	for (size_t i = 0; i < list->count; i++) {
		const char *id = list->items[i].id;
		size_t length = strlen(id);
		const struct kubelet_device *first = kubelet_device_find(list, id);

		(void)check_expect(rig->run, length >= 1 && length <= ID_MAX, "length of an id",
				   "1 to 63", "%zu (%s)", length, id);
		(void)check_expect(rig->run, text_is_utf8(id, length), "id", "UTF-8", "%s", id);
		(void)check_expect(rig->run, first == &list->items[i], "id", "sent once", "%s", id);
	}
}

static void list_ids(struct check_run *run)
{
	list_each_listing(run, ids_sound);
}

static void health_words(struct rig *rig, const char *resource,
			 const struct kubelet_message *message)
{
	(void)resource;
	for (size_t i = 0; i < message->devices.count; i++) {
		const char *health = message->devices.items[i].health;

		(void)check_expect(
			rig->run,
			strcmp(health, "Healthy") == 0 || strcmp(health, "Unhealthy") == 0,
			message->devices.items[i].id, "Healthy or Unhealthy", "'%s'", health);
	}
}

static void list_health(struct check_run *run)
{
	list_each_listing(run, health_words);
}

static void message_size(struct rig *rig, const char *resource,
			 const struct kubelet_message *message)
{
	(void)resource;
	(void)check_expect_at_most(rig->run, "bytes of the list", (long long)message->size,
				   MESSAGE_MAX - 1);
}

static void list_message_size(struct check_run *run)
{
	list_each(run, message_size);
}

static void numa_nodes(struct rig *rig, const char *resource, const struct kubelet_message *message)
{
	long long seen = 0;

	for (size_t i = 0; i < message->devices.count; i++) {
		const struct kubelet_device *device = &message->devices.items[i];

		for (size_t j = 0; j < device->numa_count; j++, seen++)
			(void)check_expect(rig->run,
					   device->numa[j] >= 0 && device->numa[j] <= NUMA_MAX,
					   device->id, "NUMA node 0 to 63", "%lld",
					   (long long)device->numa[j]);
	}
	(void)check_expect(rig->run, true, resource, "sound NUMA nodes", "%lld given", seen);
}

static void list_numa_nodes(struct check_run *run)
{
	list_each_listing(run, numa_nodes);
}

static void list_ids_stable(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text_list before CLEANUP_TEXT_LIST = {0};
	struct text_list after CLEANUP_TEXT_LIST = {0};

	if (rig == NULL)
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		if (!rig_healthy_ids(rig, rig->resources.items[i], &before))
			return;
	}
	if (!rig_end_plugin(rig, SIGTERM, STOP_MS)) {
		check_broken(run, "the plugin did not end after SIGTERM");
		return;
	}
	if (!rig_start_plugin(rig, NULL) || !rig_expect_registered(rig) || !rig_expect_listed(rig))
		return;
	for (size_t i = 0; i < rig->resources.count; i++) {
		if (!rig_healthy_ids(rig, rig->resources.items[i], &after))
			return;
	}
	text_list_sort(&before);
	text_list_sort(&after);
	if (!check_expect_int(run, "ids after a restart", (long long)after.count,
			      (long long)before.count))
		return;
	for (size_t i = 0; i < before.count; i++)
		(void)check_expect_text(run, "id after a restart", after.items[i], before.items[i]);
}

/* Opens a second stream for the resource and compares its first list with the first stream's. */
static void list_compare_second_stream(struct rig *rig, const char *resource)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
	const struct kubelet_message *message = NULL;
	struct kubelet_stream *second = NULL;
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_stream_open(kubelet_plugin_channel(plugin), NULL, &second, &err);

	if (rc == 0)
		rc = kubelet_stream_wait(second, 0, FIRST_MESSAGE_MS, &message, &err);
	rig_waited(rig, start);
	if (check_expect_ok(rig->run, rc, "a list on a second stream", &err)) {
		const struct kubelet_message *first =
			kubelet_stream_last(kubelet_plugin_stream(plugin));

		(void)check_expect_int(rig->run, "devices on the second stream",
				       (long long)message->devices.count,
				       first != NULL ? (long long)first->devices.count : -1);
		(void)check_expect(rig->run, kubelet_stream_is_open(kubelet_plugin_stream(plugin)),
				   "the first stream", "still open", "%s",
				   kubelet_stream_is_open(kubelet_plugin_stream(plugin))
					   ? "still open"
					   : "closed");
	}
	kubelet_stream_free(second);
}

static void list_two_streams(struct check_run *run)
{
	struct rig *rig = rig_ready(run);

	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++)
		list_compare_second_stream(rig, rig->resources.items[i]);
}

static int list_open_and_cancel(struct kubelet_plugin *plugin, struct error *err)
{
	struct kubelet_stream *stream = NULL;
	int rc = kubelet_stream_open(kubelet_plugin_channel(plugin), NULL, &stream, err);

	if (rc == 0)
		rc = kubelet_stream_wait(stream, 0, FIRST_MESSAGE_MS, NULL, err);
	if (rc == 0)
		kubelet_stream_cancel(stream);
	kubelet_stream_free(stream);
	return rc;
}

static void list_cancel(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct kubelet_plugin *plugin = NULL;
	struct kubelet_reply reply = {0};
	struct error err = {0};
	uint64_t start = 0;
	int before = 0;
	int rc = 0;

	if (rig == NULL)
		return;
	plugin = kubelet_resource_plugin(rig->kubelet, rig->resources.items[0]);
	before = rig_descriptors(rig);
	start = clock_monotonic_ns();
	for (int i = 0; rc == 0 && i < (rig->context->thorough ? CYCLES_THOROUGH : CYCLES); i++) {
		/* Servers may hold many resets within a second for an attack (CVE-2023-44487). */
		if (i != 0 && i % CYCLES == 0) {
			rig_waited(rig, start);
			(void)rig_watch(rig, CYCLES_PAUSE_MS, CYCLES_PAUSE_MS);
			start = clock_monotonic_ns();
		}
		rc = list_open_and_cancel(plugin, &err);
	}
	rig_waited(rig, start);
	if (!check_expect_ok(run, rc, "a stream that is opened and cancelled", &err))
		return;
	if (before >= 0)
		(void)check_expect_at_most(run, "open descriptors of the plugin afterwards",
					   rig_descriptors(rig), before);
	rc = kubelet_call_options(plugin, RIG_CALL_MS, &reply, &err);
	if (check_expect_ok(run, rc, "a call afterwards", &err))
		(void)check_expect_int(run, "gRPC status of a call afterwards", reply.code, RPC_OK);
	kubelet_reply_free(&reply);
}

/* Idle streams: they stay open, and the connection still answers. */
static void list_idle(struct check_run *run)
{
	struct rig *rig = rig_ready(run);

	if (rig == NULL)
		return;
	check_note(run, "watched for %llu ms",
		   (unsigned long long)rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS));
	for (size_t i = 0; i < rig->resources.count; i++) {
		struct kubelet_plugin *plugin =
			kubelet_resource_plugin(rig->kubelet, rig->resources.items[i]);
		struct kubelet_stream *stream = kubelet_plugin_stream(plugin);
		struct kubelet_reply reply = {0};
		struct error err = {0};
		int rc = kubelet_call_options(plugin, RIG_CALL_MS, &reply, &err);

		(void)check_expect(run, kubelet_stream_is_open(stream), "stream", "open", "%s",
				   kubelet_stream_is_open(stream) ? "open"
								  : kubelet_stream_status(stream));
		if (check_expect_ok(run, rc, "a call on the idle connection", &err))
			(void)check_expect_int(run, "gRPC status of a call", reply.code, RPC_OK);
		kubelet_reply_free(&reply);
	}
}

static void list_no_storm(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	uint64_t waited_ms = 0;

	if (rig == NULL)
		return;
	waited_ms = rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS);
	for (size_t i = 0; i < rig->resources.count; i++) {
		struct kubelet_plugin *plugin =
			kubelet_resource_plugin(rig->kubelet, rig->resources.items[i]);
		size_t count = kubelet_stream_message_count(kubelet_plugin_stream(plugin));

		(void)check_expect_at_most(run, "lists in the time watched, the first aside",
					   (long long)count - 1, (long long)(waited_ms / 1000));
	}
}

#define LIST_CHECK(name, body)                                                                     \
	.id = "list-and-watch." name, .revision = 1, .timeout_s = 60,                              \
	.stands_on = "list-and-watch.arrives", .run = (body)

static const struct check checks[] = {
	{
		.id = "list-and-watch.arrives",
		.title = "Each resource's first device list arrives",
		.advice = "Send the list as soon as the stream opens; the reason tells how the "
			  "stream ended, if it did.",
		.requirement = CHECK_LAW_01,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 60,
		.stands_on = "registration.accepted",
		.run = list_arrives,
	},
	{
		LIST_CHECK("first-message", list_first_message),
		.title = "The first device list arrives within five seconds",
		.advice = "Send the list as soon as the stream opens, before watching for changes.",
		.requirement = CHECK_LAW_01,
		.severity = CHECK_CRITICAL,
	},
	{
		LIST_CHECK("devices-present", list_devices_present),
		.title = "The list holds the devices that the node has",
		.advice = "Compare with 'gpu-discovery'; a filter of the plugin may be too narrow.",
		.requirement = CHECK_LAW_02,
		.severity = CHECK_CRITICAL,
		.needs = {.devices = 1},
	},
	{
		LIST_CHECK("ids", list_ids),
		.title = "Device ids are unique, printable and at most 63 characters",
		.advice = "Shorten or hash long ids; the kubelet keeps them in its checkpoint as "
			  "they are.",
		.requirement = CHECK_LAW_03,
		.severity = CHECK_HIGH,
	},
	{
		LIST_CHECK("health", list_health),
		.title = "Health is Healthy or Unhealthy, letter for letter",
		.advice = "The kubelet compares exactly: any other word makes the device unusable.",
		.requirement = CHECK_LAW_04,
		.severity = CHECK_CRITICAL,
	},
	{
		.id = "list-and-watch.message-size",
		.title = "A device list stays below 4 MiB",
		.advice = "Offer fewer replicas or shorter ids: a longer list ends the stream.",
		.requirement = CHECK_LAW_05,
		.severity = CHECK_HIGH,
		.revision = 1,
		.timeout_s = 60,
		.stands_on = "registration.accepted", /* a longer list never arrives */
		.run = list_message_size,
	},
	{
		LIST_CHECK("ids-stable", list_ids_stable),
		.title = "Device ids survive a restart of the plugin",
		.advice =
			"Derive ids from the hardware (PCI address, UUID), not from order or time.",
		.requirement = CHECK_LAW_06,
		.severity = CHECK_HIGH,
		.needs = {.own_plugin = true},
	},
	{
		.id = "list-and-watch.idle",
		.revision = 1,
		.timeout_s = 720,
		.stands_on = "list-and-watch.arrives",
		.run = list_idle,
		.title = "An idle stream stays open and its connection answers",
		.advice = "Set no deadline and no idle limit on ListAndWatch; the kubelet never "
			  "asks again.",
		.requirement = CHECK_LAW_07,
		.severity = CHECK_HIGH,
	},
	{
		LIST_CHECK("two-streams", list_two_streams),
		.title = "Two streams at once both get the full list",
		.advice = "Give each ListAndWatch call its own subscription instead of one shared "
			  "channel.",
		.requirement = CHECK_LAW_08,
		.severity = CHECK_MEDIUM,
	},
	{
		LIST_CHECK("cancel", list_cancel),
		.title = "Cancelled streams are released",
		.advice = "End the handler when the stream's context ends.",
		.requirement = CHECK_LAW_09,
		.severity = CHECK_MEDIUM,
	},
	{
		.id = "list-and-watch.no-storm",
		.revision = 1,
		.timeout_s = 720,
		.stands_on = "list-and-watch.arrives",
		.run = list_no_storm,
		.title = "A stable node causes at most one list a second",
		.advice = "Send a list only when something changed: each costs a checkpoint write.",
		.requirement = CHECK_LAW_14,
		.severity = CHECK_MEDIUM,
	},
	{
		LIST_CHECK("numa-nodes", list_numa_nodes),
		.title = "NUMA nodes in the list are between 0 and 63",
		.advice = "Leave the topology out when the node is unknown; do not send -1.",
		.requirement = CHECK_LAW_15,
		.severity = CHECK_HIGH,
	},
	{.id = NULL},
};

const struct check_suite suite_list_and_watch = {
	.name = "list-and-watch",
	.title = "Device lists",
	.checks = checks,
};
