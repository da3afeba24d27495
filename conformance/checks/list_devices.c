/* SPDX-License-Identifier: MIT */
/* Does the plugin list the devices that the node has? */
#include "conformance/checks/list_and_watch.h"

#include "base/clock.h"
#include "conformance/checks/granted.h"
#include "conformance/checks/rig.h"
#include "conformance/checks/tally.h"
#include "rpc/rpc.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_ASKED_MAX = 1024 }; /* ids of a resource that are looked into */

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
	struct tally known = TALLY(rig->run, "listed device", "one of the node");

	for (size_t i = 0; i < list->count; i++)
		tally_add_text(&known, list_is_any_device(rig->context, list->items[i].id),
			       list->items[i].id);
	(void)tally_end(&known);
}

/* What the ids of a plugin stand for, told by the answers to Allocate: names are the plugin's own.
 */
struct list_asked {
	struct rig *rig;
	struct granted_reader *reader;
	struct granted granted;
	size_t ids, asked, unread;
};

/* The grant of one id. False: there is no answer, which other checks judge. */
static bool list_read_id(const struct list_asked *asked, const char *resource, const char *id,
			 struct granted *granted)
{
	struct grant grant = {0};
	struct kubelet_reply reply = {0};
	uint64_t start = clock_monotonic_ns();
	bool answered =
		kubelet_call_allocate(kubelet_resource_plugin(asked->rig->kubelet, resource), &id,
				      1, RIG_CALL_MS, &reply, NULL) == 0 &&
		reply.reply != NULL;
	const V1beta1__AllocateResponse *response =
		answered ? (const V1beta1__AllocateResponse *)reply.reply : NULL;

	rig_waited(asked->rig, start);
	answered = response != NULL && response->n_container_responses != 0;
	if (answered) {
		struct kubelet_answer answer = {resource, response->container_responses[0]};

		answered = kubelet_merge(rig_is_windows(asked->rig), &answer, 1, &grant, NULL) == 0;
	}
	if (answered)
		*granted = granted_read(asked->reader, &grant);
	grant_free(&grant);
	kubelet_reply_free(&reply);
	return answered;
}

static void list_ask(struct list_asked *asked, const char *resource, const struct text_list *ids)
{
	size_t count = ids->count < LIST_ASKED_MAX ? ids->count : LIST_ASKED_MAX;
	struct tally empty = TALLY(asked->rig->run, "Allocate of a listed device",
				   "an answer that hands something out");

	for (size_t i = 0; i < count; i++) {
		const char *id = ids->items[i * ids->count / count];
		struct granted granted = {0};

		if (!list_read_id(asked, resource, id, &granted))
			continue;
		tally_add(&empty, granted.source != GRANTED_NOTHING, "nothing for %s", id);
		for (size_t j = 0; j < granted.count; j++)
			granted_add(&asked->granted, granted.devices[j]);
		asked->asked++;
		asked->unread += granted.source == GRANTED_UNTOLD;
	}
	asked->ids += ids->count;
	(void)tally_end(&empty);
}

/* Devices of the driver that the plugin hands out devices of. */
static bool list_is_expected(const struct list_asked *asked, const struct discovery_device *device)
{
	for (size_t i = 0; device->allocatable && i < asked->granted.count; i++) {
		const struct discovery_device *other = asked->granted.devices[i];

		if (text_equal(other->vendor, device->vendor) &&
		    text_equal(other->driver_name, device->driver_name))
			return true;
	}
	return false;
}

static void list_expect_granted(const struct list_asked *asked)
{
	const struct discovery_snapshot *node = asked->rig->context->node;
	struct tally devices = TALLY(asked->rig->run, "device of the node", "granted by some id");

	if (asked->granted.count == 0 || asked->unread != 0 || asked->asked != asked->ids) {
		check_note(asked->rig->run,
			   "%zu of %zu ids: what they stand for cannot be told from the answers",
			   asked->ids - asked->asked + asked->unread, asked->ids);
		if (asked->granted.count == 0)
			check_unsupported(asked->rig->run,
					  "which devices the ids stand for cannot be told from "
					  "the plugin's answers");
		return;
	}
	for (size_t i = 0; i < node->device_count; i++) {
		if (list_is_expected(asked, &node->devices[i]))
			tally_add(&devices, granted_has(&asked->granted, &node->devices[i]),
				  "%s is granted by none", node->devices[i].id);
	}
	(void)tally_end(&devices);
}

/* Another plugin than the reference plugin may serve some of the node's devices: what it serves one
 * of, it must serve all of. */
static void list_compare_grants(struct rig *rig)
{
	struct list_asked asked = {.rig = rig};
	struct error err = {0};

	if (granted_reader_new(rig->context->node, &asked.reader, &err) < 0) {
		check_broken(rig->run, "%s", err.text);
		return;
	}
	for (size_t i = 0; i < rig->resources.count; i++) {
		const char *resource = rig->resources.items[i];
		struct text_list ids CLEANUP_TEXT_LIST = {0};

		if (kubelet_resource_status(rig->kubelet, resource).allocatable != 0 &&
		    rig_healthy_ids(rig, resource, &ids))
			list_ask(&asked, resource, &ids);
	}
	list_expect_granted(&asked);
	granted_reader_free(&asked.reader);
}

void list_devices_present(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	size_t listed = 0;
	size_t healthy = 0;

	for (size_t i = 0; rig != NULL && i < rig->resources.count; i++) {
		struct kubelet_resource_status status =
			kubelet_resource_status(rig->kubelet, rig->resources.items[i]);

		listed += status.capacity;
		healthy += status.allocatable;
	}
	if (rig == NULL ||
	    !check_expect(run, listed != 0, "the plugin's lists", "at least one device", "none") ||
	    !check_expect(run, healthy != 0, "healthy devices", "at least one", "none of %zu",
			  listed) ||
	    rig->context->resource != NULL)
		return;
	if (!rig->context->reference_plugin) {
		list_compare_grants(rig);
		return;
	}
	for (size_t i = 0; i < rig->resources.count; i++)
		list_matches_node(rig, rig->resources.items[i],
				  kubelet_resource_devices(rig->kubelet, rig->resources.items[i]));
}
