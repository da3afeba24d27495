/* SPDX-License-Identifier: MIT */
/* ListAndWatch: the plugin's device lists, and the streams that carry them. */
#include "conformance/checks/list_and_watch.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "conformance/checks/suites.h"

#include <stdlib.h>
#include <string.h>

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

static int compare_ids(const void *a, const void *b)
{
	const struct kubelet_device *const *left = a;
	const struct kubelet_device *const *right = b;
	return strcmp((*left)->id, (*right)->id);
}

const struct kubelet_device **list_sorted(const struct kubelet_device_list *list)
{
	const struct kubelet_device **sorted = memory_allocate(list->count + 1, sizeof(*sorted));
	for (size_t i = 0; i < list->count; i++)
		sorted[i] = &list->items[i];
	qsort(sorted, list->count, sizeof(*sorted), compare_ids);
	return sorted;
}

/* A printable id is not escaped, except backslashes, which are doubled. */
bool list_id_is_text(const char *id)
{
	struct text escaped CLEANUP_TEXT = {0};
	size_t backslashes = 0;
	text_add_escaped(&escaped, id, strlen(id));
	for (const char *p = id; *p != '\0'; p++)
		backslashes += *p == '\\';
	return text_is_utf8(id, strlen(id)) && escaped.size == strlen(id) + backslashes;
}

static void ids_are_sound(struct rig *rig, const struct rig_item *item)
{
	const struct kubelet_device_list *list = &item->list->devices;
	const struct kubelet_device **sorted CLEANUP_FREE = list_sorted(list);
	TALLY(filled, rig->run, "id", "not empty");
	TALLY(texts, rig->run, "id", "UTF-8 without control characters");
	TALLY(once, rig->run, "id", "sent once");
	for (size_t i = 0; i < list->count; i++) {
		const char *id = sorted[i]->id;
		tally_add(&filled, id[0] != '\0', "an empty one");
		tally_add_text(&texts, list_id_is_text(id), id);
		tally_add_text(&once, i == 0 || strcmp(id, sorted[i - 1]->id) != 0, id);
	}
}

static void id_length(struct rig *rig, const struct rig_item *item)
{
	const long long most = requirement_limit(CHECK_LAW_21);
	TALLY(lengths, rig->run, "length of an id",
	      check_format(rig->run, "at most %lld characters", most));
	for (size_t i = 0; i < item->list->devices.count; i++) {
		const char *id = item->list->devices.items[i].id;
		size_t length = text_columns(id, strlen(id));
		tally_add(&lengths, length <= (size_t)most, "%zu", length);
	}
}

bool list_health_is_known(const struct kubelet_device *device)
{
	return text_equal(device->health, "Healthy") || text_equal(device->health, "Unhealthy");
}

static void health_words(struct rig *rig, const struct rig_item *item)
{
	TALLY(words, rig->run, "health", "Healthy or Unhealthy");
	listed_each (device, &item->list->devices)
		tally_add(&words, list_health_is_known(device), "'%s' of %s", device->health,
			  device->id);
}

static void message_size(struct rig *rig, const struct rig_item *item)
{
	(void)check_expect_at_most(rig->run, "bytes of the list", (long long)item->list->size,
				   requirement_limit(CHECK_LAW_05));
}

/* Is it unknown, or does the node have one of these NUMA nodes? Topology managers know no others. */
static bool is_on_node(const struct rig *rig, const struct kubelet_device *device)
{
	const struct context *context = rig->context;
	if (context->node_file != NULL || context->wine_directory != NULL ||
	    !file_exists("/sys/devices/system/node/node0"))
		return true;
	for (size_t i = 0; i < device->numa_count; i++) {
		char *path CLEANUP_FREE = text_format("/sys/devices/system/node/node%lld",
						      (long long)device->numa[i]);
		if (file_exists(path))
			return true;
	}
	return device->numa_count == 0;
}

static void numa_nodes(struct rig *rig, const struct rig_item *item)
{
	long long highest = requirement_limit(CHECK_LAW_15);
	TALLY(present, rig->run, "NUMA nodes of a device", "one of them on this machine, at least");
	TALLY(nodes, rig->run, "NUMA node", check_format(rig->run, "0 to %lld", highest));
	for (size_t i = 0; i < item->list->devices.count; i++) {
		const struct kubelet_device *device = &item->list->devices.items[i];
		for (size_t j = 0; j < device->numa_count; j++)
			tally_add(&nodes, device->numa[j] >= 0 && device->numa[j] <= highest,
				  "%lld of %s", (long long)device->numa[j], device->id);
		if (device->numa_count != 0 && nodes.wrong == 0)
			tally_add(&present, is_on_node(rig, device), "none of those of %s",
				  device->id);
	}
	if (nodes.count == 0)
		(void)check_expect(rig->run, true, item->resource, "sound NUMA nodes",
				   "%zu devices without a NUMA node", item->list->devices.count);
}

#define LIST(name, rule, severity, revision, body, ...)                                            \
	CHECK("list-and-watch." name, rule, severity, revision, body, .timeout_s = 720,            \
	      .depends_on = "list-and-watch.arrives", __VA_ARGS__)

const struct check list_and_watch_checks[] = {
	CHECK("list-and-watch.arrives", LAW_02, CRITICAL, 1, arrives,
	      .title = "Each resource's first device list arrives",
	      .advice = "Send the list as soon as the stream opens; if the stream ended, the "
			"reason says how.",
	      .timeout_s = 150, .depends_on = "registration.accepted"),
	LIST("first-message", LAW_01, CRITICAL, 1, each_list,
	     .title = "The first device list arrives promptly",
	     .advice = "Send the list as soon as the stream opens, before watching for changes.",
	     .judge = first_message),
	LIST("devices-present", LAW_02, CRITICAL, 2, list_devices_present,
	     .title = "The list contains the node's devices",
	     .advice = "Compare the list with 'gpu-discovery'; one of the plugin's filters may be "
		       "too narrow.",
	     .needs = {.devices = 1}),
	LIST("ids", LAW_03, HIGH, 2, each_list, .param = &one_device,
	     .title = "Device ids are unique, printable and not empty",
	     .advice = "Give each device an id of its own, in UTF-8: other text ends the "
		       "kubelet's stream.",
	     .judge = ids_are_sound),
	LIST("id-length", LAW_21, LOW, 1, each_list, .param = &one_device,
	     .title = "Device ids are not too long",
	     .advice = "Shorten or hash long ids; the kubelet keeps them in its checkpoint as they "
		       "are.",
	     .judge = id_length),
	LIST("health", LAW_04, CRITICAL, 1, each_list, .param = &one_device,
	     .title = "Health is exactly \"Healthy\" or \"Unhealthy\"",
	     .advice = "Send exactly \"Healthy\" or \"Unhealthy\": any other word makes the device "
		       "unusable.",
	     .judge = health_words),
	LIST("message-size", LAW_05, HIGH, 1, each_list,
	     .title = "A device list fits the kubelet's limit for a message",
	     .advice = "Offer fewer replicas or shorter ids: a longer list ends the stream.",
	     .judge = message_size),
	LIST("ids-stable", LAW_06, HIGH, 1, list_ids_stable,
	     .title = "Device ids survive a restart of the plugin",
	     .advice = "Derive ids from the hardware (PCI address, UUID), not from order or time.",
	     .needs = {.own_plugin = true}),
	LIST("idle", LAW_07, HIGH, 3, list_idle,
	     .title = "An idle stream stays open and keeps its devices listed",
	     .advice = "Set no deadline and no idle limit on ListAndWatch: the kubelet never asks "
		       "again. Send an unusable device as Unhealthy; the kubelet removes a device "
		       "that a list omits. Register again only when kubelet.sock is new."),
	LIST("two-streams", LAW_08, MEDIUM, 2, list_two_streams,
	     .title = "Two streams at once both get the full list",
	     .advice = "Give each ListAndWatch call its own subscription instead of one shared "
		       "channel."),
	LIST("cancel", LAW_09, MEDIUM, 3, list_cancel, .title = "Cancelled streams are released",
	     .advice = "End the handler when the stream's context ends."),
	LIST("no-storm", LAW_14, MEDIUM, 1, list_no_storm,
	     .title = "A stable node causes no storm of device lists",
	     .advice = "Send a list only when something changed: each costs a checkpoint write."),
	LIST("numa-nodes", LAW_15, MEDIUM, 2, each_list, .param = &one_device,
	     .title = "NUMA nodes in the list are those that a kubelet counts",
	     .advice =
		     "Omit the topology when the node is unknown; do not send -1. Nodes with the "
		     "Topology Manager policy restricted or single-numa-node refuse pods with such "
		     "a device.",
	     .judge = numa_nodes),
	LIST("ids-across-resources", LAW_18, MEDIUM, 1, list_ids_across,
	     .title = "No device is offered by two resources of the plugin",
	     .advice = "Give a device to one resource: the kubelet counts each resource by itself "
		       "and hands the device out twice.",
	     .needs = {.devices = 1}),
	LIST("ids-apart", LAW_18I, LOW, 1, list_ids_apart,
	     .title = "No id is listed by two resources of the plugin",
	     .advice = "Put the resource's name into its ids: when a device fails, the kubelet "
		       "looks for the pod that has it by the id only.",
	     .needs = {.devices = 1}),
	LIST("later-lists", LAW_13, CRITICAL, 2, list_later_lists,
	     .title = "Later device lists are as sound as the first",
	     .advice = "Build every list by the same code, from all devices: each replaces the one "
		       "before. The check that the reason names shows when: after a restart, or a "
		       "failure.",
	     .last = true),
	{.id = NULL},
};
