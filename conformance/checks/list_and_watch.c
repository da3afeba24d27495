/* SPDX-License-Identifier: MIT */
/* ListAndWatch: the plugin's device lists, and the streams that bring them. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "conformance/checks/rig.h"
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
	MANY = 10000, /* devices: each list takes long */
};

static void arrives(struct check_run *run)
{
	(void)rig_listed(run);
}

/* For judges that need a listed device. */
static const size_t one_device = 1;

/* A body: the row's judge for the list of each resource that has at least as many devices as the row's
 * param. */
static void each_list(struct check_run *run)
{
	const size_t *least = check_row(run)->param;
	struct rig *rig = rig_listed(run);
	size_t judged = 0;
	rig_each (resource, rig) {
		const struct kubelet_message *list = kubelet_stream_last(rig_stream(rig, resource));
		if (list == NULL) {
			(void)check_expect(run, false, resource, "still listed",
					   "a new connection without a list");
		} else if (least == NULL || list->devices.count >= *least) {
			judged++;
			check_row(run)->judge(
				rig, &(struct rig_item){.resource = resource, .list = list});
		}
	}
	if (rig != NULL && judged == 0)
		check_unsupported(run, "no resource under test lists a device");
}

static void first_message(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_stream_state stream =
		kubelet_stream_state(rig_stream(rig, item->resource));
	(void)check_expect_in_time(rig->run, "milliseconds to the first list",
				   stream.first_ms - stream.opened_ms);
}

/* The ids of a list, sorted. */
static void read_ids(const struct kubelet_device_list *list, struct text_list *out)
{
	for (size_t i = 0; i < list->count; i++)
		(void)text_list_add(out, list->items[i].id, NULL);
	text_list_sort(out);
}

static void ids_are_sound(struct rig *rig, const struct rig_item *item)
{
	struct text_list ids CLEANUP_TEXT_LIST = {0};
	long long longest = requirement_limit(CHECK_LAW_03);
	TALLY(once, rig->run, "id", "sent once");
	TALLY(texts, rig->run, "id", "UTF-8 without control characters");
	TALLY(lengths, rig->run, "length of an id",
	      check_format(rig->run, "1 to %lld characters", longest));
	read_ids(&item->list->devices, &ids);
	for (size_t i = 0; i < ids.count; i++) {
		const char *id = ids.items[i];
		size_t length = text_columns(id, strlen(id));
		tally_add(&lengths, length >= 1 && length <= (size_t)longest, "%zu", length);

		/* A printable id is not escaped, but for its backslashes, which are doubled. */
		struct text escaped CLEANUP_TEXT = {0};
		size_t backslashes = 0;
		text_add_escaped(&escaped, id, strlen(id));
		for (const char *p = id; *p != '\0'; p++)
			backslashes += *p == '\\';
		bool printable = escaped.size == strlen(id) + backslashes;
		tally_add_text(&texts, text_is_utf8(id, strlen(id)) && printable, id);
		tally_add_text(&once, i == 0 || strcmp(id, ids.items[i - 1]) != 0, id);
	}
}

static void health_words(struct rig *rig, const struct rig_item *item)
{
	TALLY(words, rig->run, "health", "Healthy or Unhealthy");
	for (size_t i = 0; i < item->list->devices.count; i++) {
		const struct kubelet_device *device = &item->list->devices.items[i];
		tally_add(&words,
			  text_equal(device->health, "Healthy") ||
				  text_equal(device->health, "Unhealthy"),
			  "'%s' of %s", device->health, device->id);
	}
}

static void message_size(struct rig *rig, const struct rig_item *item)
{
	(void)check_expect_at_most(rig->run, "bytes of the list", (long long)item->list->size,
				   requirement_limit(CHECK_LAW_05));
}

static void numa_nodes(struct rig *rig, const struct rig_item *item)
{
	long long highest = requirement_limit(CHECK_LAW_15);
	TALLY(nodes, rig->run, "NUMA node", check_format(rig->run, "0 to %lld", highest));
	for (size_t i = 0; i < item->list->devices.count; i++) {
		const struct kubelet_device *device = &item->list->devices.items[i];
		for (size_t j = 0; j < device->numa_count; j++)
			tally_add(&nodes, device->numa[j] >= 0 && device->numa[j] <= highest,
				  "%lld of %s", (long long)device->numa[j], device->id);
	}
	if (nodes.count == 0)
		(void)check_expect(rig->run, true, item->resource, "sound NUMA nodes",
				   "%zu devices without a NUMA node", item->list->devices.count);
}

/* The ids of both lists are the same; both are sorted. */
static void expect_same_ids(struct check_run *run, const char *what, const struct text_list *wanted,
			    const struct text_list *saw)
{
	TALLY(unknown, run, what, "none but the known ones");
	TALLY(missing, run, what, "there");
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
}

/* Adds "RESOURCE ID" for each healthy device of the resources under test, in order. False: recorded. */
static bool take_ids(struct rig *rig, struct text_list *out)
{
	rig_each (resource, rig) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		if (!rig_healthy_ids(rig, resource, &ids))
			return false;
		text_each (id, &ids)
			(void)text_list_addf(out, NULL, "%s %s", resource, id);
	}
	text_list_sort(out);
	return true;
}

static void ids_stable(struct check_run *run)
{
	struct rig *rig = rig_ready(run, NULL);
	struct text_list before CLEANUP_TEXT_LIST = {0};
	struct text_list after CLEANUP_TEXT_LIST = {0};
	if (rig != NULL && take_ids(rig, &before) && rig_restart_plugin(rig, SIGTERM) &&
	    rig_expect_listed(rig) && take_ids(rig, &after))
		expect_same_ids(run, "id after a restart", &before, &after);
}

/* Are both lists equally long? The first list of a stream may lack devices. */
static bool is_as_long(void *user)
{
	struct kubelet_stream *const *streams = user;
	const struct kubelet_message *first = kubelet_stream_last(streams[0]);
	const struct kubelet_message *second = kubelet_stream_last(streams[1]);
	return first != NULL && second != NULL && first->devices.count == second->devices.count;
}

static void free_stream(struct kubelet_stream **stream)
{
	kubelet_stream_free(*stream);
}

/* Opens a stream, and waits for its first list. The caller frees *out in any case. */
static int open_stream(struct rig *rig, struct kubelet_plugin *plugin, struct kubelet_stream **out,
		       struct error *err)
{
	uint64_t start = clock_monotonic_ns();
	int rc = kubelet_stream_open(kubelet_plugin_channel(plugin), NULL, out, err);
	if (rc == 0)
		rc = kubelet_stream_wait(*out, RIG_CALL_MS, err);
	rig_waited(rig, start);
	return rc;
}

/* Opens a second stream for each resource and compares its list with the first stream's. */
static void two_streams(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	rig_each (resource, rig) {
		struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
		struct kubelet_stream *own CLEANUP(free_stream) = NULL;
		struct error err = {0};
		int rc = open_stream(rig, plugin, &own, &err);
		if (!check_expect_ok(run, rc, "a list on a second stream", &err))
			continue;

		struct kubelet_stream *streams[2] = {kubelet_plugin_stream(plugin), own};
		(void)rig_wait(rig, is_as_long, streams,
			       context_limit_ms(rig->context, RIG_HEALTHY_MS), "the whole list",
			       NULL);
		const struct kubelet_message *first = kubelet_stream_last(streams[0]);
		const struct kubelet_message *second = kubelet_stream_last(streams[1]);
		if (first == NULL || second == NULL) {
			(void)check_expect(run, false, resource, "a list on both streams",
					   "none on the %s", first == NULL ? "first" : "second");
		} else {
			struct text_list wanted CLEANUP_TEXT_LIST = {0};
			struct text_list saw CLEANUP_TEXT_LIST = {0};
			read_ids(&first->devices, &wanted);
			read_ids(&second->devices, &saw);
			expect_same_ids(run, "id on the second stream", &wanted, &saw);
			if (wanted.count == 0 && saw.count == 0)
				(void)check_expect(run, true, "devices on the second stream",
						   "0, as on the first", "0 and 0");
		}
		(void)check_expect_is(run, kubelet_stream_state(streams[0]).open,
				      "the first stream", "still open", "closed");
	}
}

/* The connection still answers. */
static void expect_answers(struct check_run *run, struct kubelet_plugin *plugin, const char *what)
{
	struct rpc_answer reply CLEANUP_RPC_ANSWER = {0};
	struct error err = {0};
	int rc = kubelet_call_options(plugin, RIG_CALL_MS, &reply, &err);
	if (check_expect_ok(run, rc, what, &err))
		(void)check_expect_int(run, "gRPC status of that call", reply.code, RPC_OK);
}

static void cancel(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	if (rig == NULL)
		return;
	const char *resource = rig->resources.items[0];
	struct kubelet_plugin *plugin = kubelet_resource_plugin(rig->kubelet, resource);
	int before = rig_descriptors(rig);
	int cycles = CYCLES;
	if (rig->context->thorough)
		cycles = CYCLES_THOROUGH;
	else if (kubelet_resource_status(rig->kubelet, resource).capacity > MANY)
		cycles = CYCLES / 10;

	struct error err = {0};
	int rc = 0;
	for (int i = 0; rc == 0 && i < cycles; i++) {
		/* Servers may take many resets within a second for an attack (CVE-2023-44487). */
		if (i != 0 && i % CYCLES == 0)
			(void)rig_watch(rig, CYCLES_PAUSE_MS, CYCLES_PAUSE_MS);
		struct kubelet_stream *stream = NULL;
		rc = open_stream(rig, plugin, &stream, &err);
		kubelet_stream_free(stream); /* which cancels it */
	}
	if (!check_expect_ok(run, rc, "a stream that is opened and cancelled", &err))
		return;
	rig_expect_descriptors(rig, before);
	expect_answers(run, plugin, "a call afterwards");
}

/* Adds "RESOURCE ID" for each device, in order. */
static void add_devices(const char *resource, const struct kubelet_device_list *list,
			struct text_list *out)
{
	for (size_t i = 0; list != NULL && i < list->count; i++)
		(void)text_list_addf(out, NULL, "%s %s", resource, list->items[i].id);
	text_list_sort(out);
}

struct steady {
	struct text_list before; /* the devices that were listed when the watch began */
	struct tally kept;
};

/* A device of a stable node stays in the lists, healthy or not. */
static void compare_list(const struct kubelet_event *event, void *user)
{
	struct steady *steady = user;
	struct text_list now CLEANUP_TEXT_LIST = {0};
	size_t length = strlen(event->resource);
	size_t i = 0;
	add_devices(event->resource, event->devices, &now);
	text_each (device, &steady->before) {
		if (strncmp(device, event->resource, length) != 0 || device[length] != ' ')
			continue;
		while (i < now.count && strcmp(now.items[i], device) < 0)
			i++;
		tally_add(&steady->kept, i < now.count && strcmp(now.items[i], device) == 0,
			  "%s is gone", device);
	}
}

/* Idle streams: they stay open, their devices stay listed, and the connection still answers. */
static void idle(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	if (rig == NULL)
		return;
	struct steady steady = {.kept = TALLY_OF(run, "devices listed before", "still listed")};
	rig_each (resource, rig)
		add_devices(resource, kubelet_resource_devices(rig->kubelet, resource),
			    &steady.before);
	rig->on_list = compare_list;
	rig->on_list_user = &steady;
	uint64_t waited_ms = rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS);
	rig->on_list = NULL;
	tally_end(&steady.kept);
	text_list_free(&steady.before);
	check_note(run, "watched for %llu ms", (unsigned long long)waited_ms);

	rig_each (resource, rig) {
		const struct kubelet_stream_state stream =
			kubelet_stream_state(rig_stream(rig, resource));
		(void)check_expect(run, stream.open, "stream", "open", "%s%s%s",
				   stream.open ? "open" : "ended with ",
				   stream.open ? "" : rpc_code_name(stream.code),
				   stream.open ? "" : check_format(run, " %s", stream.text));
		expect_answers(run, kubelet_resource_plugin(rig->kubelet, resource),
			       "a call on the idle connection");
		if (kubelet_resource_status(rig->kubelet, resource).allocatable == 0)
			check_note(run, "%s has no healthy device at the end", resource);
	}
}

static void no_storm(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	if (rig == NULL)
		return;
	size_t *before CLEANUP_FREE = memory_allocate(rig->resources.count, sizeof(*before));
	for (size_t i = 0; i < rig->resources.count; i++)
		before[i] = kubelet_stream_state(rig_stream(rig, rig->resources.items[i])).messages;
	uint64_t waited_ms = rig_watch(rig, IDLE_MS, IDLE_THOROUGH_MS);
	long long most = (long long)(waited_ms / 1000) * requirement_limit(CHECK_LAW_14);
	for (size_t i = 0; i < rig->resources.count; i++) {
		size_t now =
			kubelet_stream_state(rig_stream(rig, rig->resources.items[i])).messages;
		(void)check_expect_at_most(run, "lists in the time watched",
					   (long long)(now - before[i]), most);
	}
}

#define LIST(name, rule, severity, body, ...)                                                      \
	CHECK("list-and-watch." name, rule, severity, 1, body, .timeout_s = 720,                   \
	      .depends_on = "list-and-watch.arrives", __VA_ARGS__)

const struct check list_and_watch_checks[] = {
	CHECK("list-and-watch.arrives", LAW_02, CRITICAL, 1, arrives,
	      .title = "Each resource's first device list arrives",
	      .advice = "Send the list as soon as the stream opens; the reason says how the "
			"stream ended, if it did.",
	      .timeout_s = 150, .depends_on = "registration.accepted"),
	LIST("first-message", LAW_01, CRITICAL, each_list,
	     .title = "The first device list arrives promptly",
	     .advice = "Send the list as soon as the stream opens, before watching for changes.",
	     .judge = first_message),
	LIST("devices-present", LAW_02, CRITICAL, list_devices_present,
	     .title = "The list holds the devices that the node has",
	     .advice = "Compare with 'gpu-discovery'; a filter of the plugin may be too narrow.",
	     .needs = {.devices = 1}),
	LIST("ids", LAW_03, HIGH, each_list, .param = &one_device,
	     .title = "Device ids are unique, printable and not too long",
	     .advice = "Shorten or hash long ids; the kubelet keeps them in its checkpoint as they "
		       "are.",
	     .judge = ids_are_sound),
	LIST("health", LAW_04, CRITICAL, each_list, .param = &one_device,
	     .title = "Health is exactly \"Healthy\" or \"Unhealthy\"",
	     .advice = "The kubelet compares exactly: any other word makes the device unusable.",
	     .judge = health_words),
	LIST("message-size", LAW_05, HIGH, each_list,
	     .title = "A device list fits the kubelet's limit for a message",
	     .advice = "Offer fewer replicas or shorter ids: a longer list ends the stream.",
	     .judge = message_size),
	LIST("ids-stable", LAW_06, HIGH, ids_stable,
	     .title = "Device ids survive a restart of the plugin",
	     .advice = "Derive ids from the hardware (PCI address, UUID), not from order or time.",
	     .needs = {.own_plugin = true}),
	LIST("idle", LAW_07, HIGH, idle,
	     .title = "An idle stream stays open and keeps its devices listed",
	     .advice = "Set no deadline and no idle limit on ListAndWatch: the kubelet never asks "
		       "again. Send a device that is not usable as Unhealthy; a device that a list "
		       "leaves out is gone."),
	LIST("two-streams", LAW_08, MEDIUM, two_streams,
	     .title = "Two streams at once both get the full list",
	     .advice = "Give each ListAndWatch call its own subscription instead of one shared "
		       "channel."),
	LIST("cancel", LAW_09, MEDIUM, cancel, .title = "Cancelled streams are released",
	     .advice = "End the handler when the stream's context ends."),
	LIST("no-storm", LAW_14, MEDIUM, no_storm,
	     .title = "A stable node causes no storm of device lists",
	     .advice = "Send a list only when something changed: each costs a checkpoint write."),
	LIST("numa-nodes", LAW_15, MEDIUM, each_list, .param = &one_device,
	     .title = "NUMA nodes in the list are numbers that a kubelet can keep",
	     .advice =
		     "Leave the topology out when the node is unknown; do not send -1. Most nodes "
		     "do not notice; where the Topology Manager's policy is restricted or "
		     "single-numa-node, pods with the device are refused.",
	     .judge = numa_nodes),
	{.id = NULL},
};
