/* SPDX-License-Identifier: MIT */
/* Does the plugin list the devices that the node has? */
#include "conformance/checks/offer.h"
#include "conformance/checks/rig_ids.h"
#include "conformance/checks/suites.h"
#include "conformance/checks/tally.h"

#include <string.h>

enum { ASKED_MAX = 1024 }; /* ids of a resource that are asked for */

/* Does `id` name a replica of the device: the device's id, alone or followed by "::" and a number?
 */
static bool is_replica(const char *id, const char *device)
{
	size_t length = strlen(device);
	return strncmp(id, device, length) == 0 &&
	       (id[length] == '\0' || strncmp(id + length, "::", 2) == 0);
}

/* The devices that a plugin's ids stand for, by its answers to Allocate. */
struct asked {
	struct granted granted;
	size_t ids, asked, unread, empty;
};

static void ask(struct rig *rig, const char *resource, const struct text_list *ids,
		struct asked *asked)
{
	size_t count = ids->count < ASKED_MAX ? ids->count : ASKED_MAX;
	for (size_t i = 0; i < count; i++) {
		const char *id = ids->items[i * ids->count / count];
		struct offer offer = {0};
		/* Other checks judge a missing answer. */
		if (offer_ask(rig, resource, id, &offer, NULL) < 0)
			continue;
		asked->empty += offer.granted.source == GRANTED_NOTHING;
		if (offer.granted.source == GRANTED_UNKNOWN)
			granted_read_names(rig->context->node, id, &offer.grant, &offer.granted);
		granted_each (device, &offer.granted)
			granted_add(&asked->granted, device);
		asked->asked++;
		asked->unread +=
			offer.granted.source == GRANTED_UNKNOWN && offer.granted.count == 0;
		offer_close(rig, &offer);
	}
	asked->ids += ids->count;
}

/* A plugin other than the reference plugin may serve only some of the node's devices; a device must be
 * served if another one of its kind is (granted_requires()). */
static void compare_grants(struct rig *rig)
{
	const struct discovery_snapshot *node = rig->context->node;
	TALLY(devices, rig->run, "device of the node", "granted by some id");
	struct text busy CLEANUP_TEXT = {0};
	struct asked asked = {0};
	rig_each (resource, rig) {
		struct text_list ids CLEANUP_TEXT_LIST = {0};
		if (kubelet_resource_status(rig->kubelet, resource).allocatable == 0)
			continue;
		asked.ids += rig_free_ids(rig, resource, &ids, &busy);
		if (ids.count != 0)
			ask(rig, resource, &ids, &asked);
	}
	if (asked.asked == 0 && busy.size != 0) {
		check_unsupported(rig->run, "%s", text_string(&busy));
		return;
	}
	/* If all are empty, something other than the kubelet may grant the devices, such as a plugin of the runtime. */
	(void)check_expect(rig->run, asked.empty == 0 || asked.empty == asked.asked,
			   "answers that hand nothing out", "none, or all", "%zu of %zu",
			   asked.empty, asked.asked);
	size_t unread = asked.ids - asked.asked + asked.unread + asked.empty;
	if (asked.asked != asked.ids || asked.unread != 0)
		check_note(rig->run,
			   "the answers for %zu of %zu ids do not show which device each "
			   "stands for",
			   unread, asked.ids);

	node_each (device, node) {
		if (granted_has(&asked.granted, device))
			tally_add(&devices, true, "%s", device->id);
		else if (!granted_requires(node, &asked.granted, device))
			continue;
		else if (unread != 0)
			check_unsupported(
				rig->run,
				"%s may belong to one of %zu ids whose answers do not show which "
				"device they stand for",
				device->id, unread);
		else if (rig->context->resource != NULL &&
			 granted_may_be_elsewhere(node, &asked.granted, device))
			check_unsupported(
				rig->run,
				"%s may belong to another resource of the plugin: run without "
				"--resource to test all of them",
				device->id);
		else
			tally_add(&devices, false, "%s is granted by none", device->id);
	}
	if (devices.count == 0)
		check_unsupported(rig->run,
				  "nothing was compared with the node: the answers do not "
				  "show which device each id stands for");
}

void list_devices_present(struct check_run *run)
{
	struct rig *rig = rig_listed(run);
	size_t listed = 0;
	size_t healthy = 0;
	rig_each (resource, rig) {
		struct kubelet_resource_status status =
			kubelet_resource_status(rig->kubelet, resource);
		listed += status.capacity;
		healthy += status.allocatable;
	}
	if (rig == NULL ||
	    !check_expect(run, listed != 0, "the plugin's lists", "at least one device", "%zu",
			  listed) ||
	    !check_expect(run, healthy != 0, "healthy devices", "at least one", "%zu of %zu",
			  healthy, listed))
		return;
	if (!rig->context->reference_plugin) {
		compare_grants(rig);
		return;
	}

	/* The reference plugin names its devices as the discovery does: the sets are compared. */
	const struct discovery_snapshot *node = rig->context->node;
	rig_each (resource, rig) {
		const struct kubelet_device_list *list =
			kubelet_resource_devices(rig->kubelet, resource);
		TALLY(known, run, "listed device", "one of the node");
		node_each (device, node) {
			if (!device->allocatable ||
			    device->display != text_ends_with(resource, "/display"))
				continue;
			bool found = false;
			listed_each (entry, list)
				found = found || is_replica(entry->id, device->id);
			(void)check_expect_is(run, found, device->id, "listed", "missing");
		}
		listed_each (entry, list) {
			bool found = false;
			node_each (device, node)
				found = found || is_replica(entry->id, device->id);
			tally_add_text(&known, found, entry->id);
		}
	}
}
