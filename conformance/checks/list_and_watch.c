/* SPDX-License-Identifier: MIT */
/* ListAndWatch: what the plugin says about its devices, and how it holds the stream. */
#include "conformance/checks/list_and_watch.h"
#include "base/clock.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/rig_known.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"
#include "rpc/client.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum {
	IDLE_MS = 2000,
	IDLE_THOROUGH_MS = 600000, /* LAW-07, LAW-14 */
	CYCLES = 100,
	CYCLES_THOROUGH = 1000,
	CYCLES_PAUSE_MS = 1000,
};

static void list_arrives(struct check_run *run)
{
	(void)rig_listed(run);
}

/* Calls `judge` with the first message of each resource. */
static void list_each(struct check_run *run, void (*judge)(struct rig *rig, const char *resource,
							   const struct kubelet_message *message))
{
	struct rig *rig = rig_listed(run);

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
	struct rig *rig = rig_listed(run);
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
				   (long long)requirement_limit_ms(CHECK_LAW_01));
}

static void list_first_message(struct check_run *run)
{
	list_each(run, first_message);
}

/* Characters as the API counts them. */
static size_t list_count_characters(const char *id)
{
	size_t count = 0;

	for (; *id != '\0'; id++)
		count += ((unsigned char)*id & 0xc0) != 0x80;
	return count;
}

/* What a terminal and a one-line log show as it is. */
static bool list_is_printable(const char *id)
{
	struct text escaped CLEANUP_TEXT = {0};
	size_t size = strlen(id);
	size_t backslashes = 0;

	text_add_escaped(&escaped, id, size);
	for (const char *p = id; *p != '\0'; p++)
		backslashes += *p == '\\'; /* which it doubles */
	return escaped.size == size + backslashes;
}

static int list_compare_ids(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The ids of the list in order. NULL: out of memory. Caller frees the array. */
static const char **list_sort_ids(const struct kubelet_device_list *list)
{
	const char **ids = calloc(list->count + 1, sizeof(*ids));

	for (size_t i = 0; ids != NULL && i < list->count; i++)
		ids[i] = list->items[i].id;
	if (ids != NULL)
		qsort(ids, list->count, sizeof(*ids), list_compare_ids);
	return ids;
}

static void ids_sound(struct rig *rig, const char *resource, const struct kubelet_message *message)
{
	const struct kubelet_device_list *list = &message->devices;
	const char **ids CLEANUP_FREE = list_sort_ids(list);
	long long longest = requirement_limit(CHECK_LAW_03);
	char *wanted CLEANUP_FREE = text_format("1 to %lld characters", longest);

	(void)resource;
	if (ids == NULL || wanted == NULL) {
		check_broken(rig->run, "out of memory");
		return;
	}
	struct tally lengths = TALLY(rig->run, "length of an id", wanted);
	struct tally texts = TALLY(rig->run, "id", "UTF-8 without control characters");
	struct tally once = TALLY(rig->run, "id", "sent once");

	for (size_t i = 0; i < list->count; i++) {
		size_t length = list_count_characters(ids[i]);

		tally_add(&lengths, length >= 1 && length <= (size_t)longest, "%zu", length);
		tally_add_text(&texts,
			       text_is_utf8(ids[i], strlen(ids[i])) && list_is_printable(ids[i]),
			       ids[i]);
		tally_add_text(&once, i == 0 || strcmp(ids[i], ids[i - 1]) != 0, ids[i]);
	}
	(void)tally_end(&lengths);
	(void)tally_end(&texts);
	(void)tally_end(&once);
}

static void list_ids(struct check_run *run)
{
	list_each_listing(run, ids_sound);
}

static void health_words(struct rig *rig, const char *resource,
			 const struct kubelet_message *message)
{
	struct tally words = TALLY(rig->run, "health", "Healthy or Unhealthy");

	(void)resource;
	for (size_t i = 0; i < message->devices.count; i++) {
		const char *health = message->devices.items[i].health;

		tally_add(&words,
			  strcmp(health, "Healthy") == 0 || strcmp(health, "Unhealthy") == 0,
			  "'%s' of %s", health, message->devices.items[i].id);
	}
	(void)tally_end(&words);
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
				   requirement_limit(CHECK_LAW_05));
}

static void list_message_size(struct check_run *run)
{
	list_each(run, message_size);
}

static void numa_nodes(struct rig *rig, const char *resource, const struct kubelet_message *message)
{
	long long highest = requirement_limit(CHECK_LAW_15);
	char *wanted CLEANUP_FREE = text_format("0 to %lld", highest);
	struct tally nodes = TALLY(rig->run, "NUMA node", wanted != NULL ? wanted : "");

	for (size_t i = 0; i < message->devices.count; i++) {
		const struct kubelet_device *device = &message->devices.items[i];

		for (size_t j = 0; j < device->numa_count; j++)
			tally_add(&nodes, device->numa[j] >= 0 && device->numa[j] <= highest,
				  "%lld of %s", (long long)device->numa[j], device->id);
	}
	if (nodes.count == 0)
		(void)check_expect(rig->run, true, resource, "sound NUMA nodes", "none given");
	(void)tally_end(&nodes);
}

static void list_numa_nodes(struct check_run *run)
{
	list_each_listing(run, numa_nodes);
}

/* The ids of both lists are the same; both are sorted. */
static void list_expect_same_ids(struct check_run *run, const char *what,
				 const struct text_list *wanted, const struct text_list *saw)
{
	struct tally missing = TALLY(run, what, "there");
	struct tally unknown = TALLY(run, what, "none but the known ones");
	size_t i = 0;
	size_t j = 0;

	while (i < wanted->count || j < saw->count) {
		int order = i == wanted->count ? 1
			    : j == saw->count  ? -1
					       : strcmp(wanted->items[i], saw->items[j]);

		if (order <= 0)
			tally_add(&missing, order == 0, "%s is missing", wanted->items[i]);
		if (order >= 0)
			tally_add_text(&unknown, order == 0, saw->items[j]);
		i += order <= 0;
		j += order >= 0;
	}
	(void)tally_end(&missing);
	(void)tally_end(&unknown);
}

/* Adds "RESOURCE ID" for each healthy device of the resources under test, in order. */
static bool list_take_ids(struct rig *rig, struct text_list *out)
{
	struct error err = {0};
	int rc = 0;

	for (size_t i = 0; i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];
		struct text_list ids CLEANUP_TEXT_LIST = {0};

		if (!rig_healthy_ids(rig, resource, &ids))
			return false;
		for (size_t j = 0; rc == 0 && j < ids.count; j++)
			rc = text_list_take(out, text_format("%s %s", resource, ids.items[j]),
					    &err);
	}
	text_list_sort(out);
	if (rc < 0)
		check_broken(rig->run, "%s", err.text);
	return rc == 0;
}

static void list_ids_stable(struct check_run *run)
{
	struct rig *rig = rig_ready(run);
	struct text_list before CLEANUP_TEXT_LIST = {0};
	struct text_list after CLEANUP_TEXT_LIST = {0};

	if (rig == NULL || !list_take_ids(rig, &before))
		return;
	if (!rig_end_plugin(rig, SIGTERM, RIG_END_MS)) {
		check_broken(run, "the plugin did not end after SIGTERM");
		return;
	}
	if (rig_start_plugin(rig, NULL) && rig_expect_registered(rig) && rig_expect_listed(rig) &&
	    list_take_ids(rig, &after))
		list_expect_same_ids(run, "id after a restart", &before, &after);
}

/* The ids of a list, sorted. */
static int list_read_ids(const struct kubelet_device_list *list, struct text_list *out,
			 struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < list->count; i++)
		rc = text_list_add(out, list->items[i].id, err);
	text_list_sort(out);
	return rc;
}

static void list_expect_same_list(struct check_run *run, const struct kubelet_device_list *wanted,
				  const struct kubelet_device_list *saw)
{
	struct text_list first CLEANUP_TEXT_LIST = {0};
	struct text_list second CLEANUP_TEXT_LIST = {0};
	struct error err = {0};

	if (list_read_ids(wanted, &first, &err) < 0 || list_read_ids(saw, &second, &err) < 0)
		check_broken(run, "%s", err.text);
	else if (first.count == 0 && second.count == 0)
		(void)check_expect(run, true, "devices on the second stream", "none", "none");
	else
		list_expect_same_ids(run, "id on the second stream", &first, &second);
}

struct list_streams {
	struct kubelet_stream *first, *second;
};

/* As long as the first stream's; a stream may begin where the devices are not all there yet. */
static bool list_is_as_long(void *user)
{
	const struct list_streams *streams = user;
	const struct kubelet_message *first = kubelet_stream_last(streams->first);
	const struct kubelet_message *second = kubelet_stream_last(streams->second);

	return first != NULL && second != NULL && first->devices.count == second->devices.count;
}

static void list_compare_streams(struct rig *rig, const char *resource,
				 struct list_streams *streams)
{
	uint64_t start = clock_monotonic_ns();

	(void)kubelet_wait(rig->kubelet, list_is_as_long, streams,
			   context_limit_ms(rig->context, RIG_HEALTHY_MS), "the whole list", NULL);
	rig_waited(rig, start);
	const struct kubelet_message *first = kubelet_stream_last(streams->first);
	const struct kubelet_message *second = kubelet_stream_last(streams->second);
	bool open = kubelet_stream_is_open(streams->first);

	if (first == NULL || second == NULL)
		check_broken(rig->run, "%s: a stream's list is gone", resource);
	else
		list_expect_same_list(rig->run, &first->devices, &second->devices);
	(void)check_expect(rig->run, open, "the first stream", "still open", "%s",
			   open ? "still open" : "closed");
}

/* Opens a second stream for the resource and compares its list with the first stream's. */
static void list_compare_second_stream(struct rig *rig, const char *resource)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
	struct list_streams streams = {.first = kubelet_plugin_stream(plugin)};
	struct error err = {0};
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_stream_open(kubelet_plugin_channel(plugin), NULL, &streams.second, &err);

	if (rc == 0)
		rc = kubelet_stream_wait(streams.second, 0, RIG_CALL_MS, NULL, &err);
	rig_waited(rig, start);
	if (check_expect_ok(rig->run, rc, "a list on a second stream", &err))
		list_compare_streams(rig, resource, &streams);
	kubelet_stream_free(streams.second);
}

static void list_two_streams(struct check_run *run)
{
	struct rig *rig = rig_listed(run);

	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++)
		list_compare_second_stream(rig, rig->resources.items[i]);
}

static int list_open_and_cancel(struct kubelet_plugin *plugin, struct error *err)
{
	struct kubelet_stream *stream = NULL;
	int rc = kubelet_stream_open(kubelet_plugin_channel(plugin), NULL, &stream, err);

	if (rc == 0)
		rc = kubelet_stream_wait(stream, 0, RIG_CALL_MS, NULL, err);
	if (rc == 0)
		kubelet_stream_cancel(stream);
	kubelet_stream_free(stream);
	return rc;
}

static void list_cancel(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
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
	rig_expect_descriptors(rig, before);
	rc = kubelet_call_options(plugin, RIG_CALL_MS, &reply, &err);
	if (check_expect_ok(run, rc, "a call afterwards", &err))
		(void)check_expect_int(run, "gRPC status of a call afterwards", reply.code, RPC_OK);
	kubelet_reply_free(&reply);
}

/* Idle streams: they stay open, and the connection still answers. */
static void list_idle(struct check_run *run)
{
	struct rig *rig = rig_listed(run);

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

static size_t list_count_messages(const struct rig *rig, const char *resource)
{
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);

	return kubelet_stream_message_count(kubelet_plugin_stream(plugin));
}

static void list_no_storm(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	size_t *before CLEANUP_FREE =
		rig != NULL ? calloc(rig->resources.count + 1, sizeof(*before)) : NULL;

	if (before == NULL)
		return;
	for (size_t i = 0; i < rig->resources.count; i++)
		before[i] = list_count_messages(rig, rig->resources.items[i]);
	uint64_t waited_ms = rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS);

	for (size_t i = 0; i < rig->resources.count; i++) {
		size_t count = list_count_messages(rig, rig->resources.items[i]) - before[i];

		(void)check_expect_at_most(run, "lists in the time watched", (long long)count,
					   (long long)(waited_ms / 1000) *
						   requirement_limit(CHECK_LAW_14));
	}
}

#define LIST_CHECK(name, body)                                                                     \
	.id = "list-and-watch." name, .revision = 1, .timeout_s = 150,                             \
	.stands_on = "list-and-watch.arrives", .run = (body)

static const struct check checks[] = {
	{
		.id = "list-and-watch.arrives",
		.title = "Each resource's first device list arrives",
		.advice = "Send the list as soon as the stream opens; the reason tells how the "
			  "stream ended, if it did.",
		.requirement = CHECK_LAW_02,
		.severity = CHECK_CRITICAL,
		.revision = 1,
		.timeout_s = 150,
		.stands_on = "registration.accepted",
		.run = list_arrives,
	},
	{
		LIST_CHECK("first-message", list_first_message),
		.title = "The first device list arrives promptly",
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
		.title = "Device ids are unique, printable and not too long",
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
		.title = "A device list is not longer than a kubelet receives",
		.advice = "Offer fewer replicas or shorter ids: a longer list ends the stream.",
		.requirement = CHECK_LAW_05,
		.severity = CHECK_HIGH,
		.revision = 1,
		.timeout_s = 150,
		.stands_on = "list-and-watch.arrives",
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
		.title = "A stable node causes no storm of device lists",
		.advice = "Send a list only when something changed: each costs a checkpoint write.",
		.requirement = CHECK_LAW_14,
		.severity = CHECK_MEDIUM,
	},
	{
		LIST_CHECK("numa-nodes", list_numa_nodes),
		.title = "NUMA nodes in the list are numbers that a kubelet can keep",
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
