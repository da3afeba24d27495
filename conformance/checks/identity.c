/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "conformance/checks/node_file.h"
#include "conformance/checks/shown.h"

#include <string.h>

enum { VENDOR_VIRTIO = 0x1af4 };

struct identity {
	struct check_run *run;
	const struct discovery_snapshot *node;
	const struct discovery_device *device;
	const cJSON *shown; /* the device that worked */
	int index;	    /* its index */
};

/* "/devices/0/pciAddress" */
static const char *what_of(const struct identity *identity, const char *member)
{
	return check_format(identity->run, "/devices/%d%s", identity->index, member);
}

void identity_seen_free(struct identity_seen *seen)
{
	text_list_free(&seen->uuids);
	text_list_free(&seen->devices);
}

/* False: the API does not report it, or the node does not know it (""). */
static bool compare(const struct identity *identity, const char *member, const char *known)
{
	const char *shown = json_pointer_string(identity->shown, member);
	if (shown == NULL || known[0] == '\0')
		return false;
	(void)check_expect_text(identity->run, what_of(identity, member), shown, known);
	return true;
}

/* False as well for an id that is not a PCI id, and for a virtual GPU, which shows the physical one's ids. */
static bool compare_id(const struct identity *identity, const char *member, int32_t known)
{
	char text[16] = "";
	if (shown_pci_id(identity->shown, member) < 0 ||
	    identity->device->pci_vendor == VENDOR_VIRTIO)
		return false;
	if (known != DISCOVERY_UNKNOWN)
		(void)snprintf(text, sizeof(text), "0x%04x", (unsigned)known);
	return compare(identity, member, text);
}

/* The render node, which a container gets; a card's node need not be granted. */
static bool compare_node(const struct identity *identity)
{
	const char *shown = json_pointer_string(identity->shown, "/drm/render");
	bool known = false;
	bool own = false;
	if (shown == NULL || identity->node->recorded)
		return false;
	items_each (node, identity->device->nodes, identity->device->node_count) {
		struct node_file file = {0};
		char number[32] = "";
		if (!node_file_identify(node->path, &file) || file.kind != NODE_FILE_CHARACTER)
			continue;
		(void)snprintf(number, sizeof(number), "%u:%u", file.major, file.minor);
		known = true;
		own = own || strcmp(number, shown) == 0;
	}
	if (known)
		(void)check_expect(identity->run, own, what_of(identity, "/drm/render"),
				   "the number of a node of the granted device", "%s", shown);
	return known;
}

static void compare_hardware(const struct identity *identity, struct identity_seen *seen)
{
	const struct discovery_device *device = identity->device;

	/* PCI ids, which devices of one model share. */
	bool vendor_shown = compare_id(identity, "/vendorId", device->pci_vendor);
	bool device_shown = compare_id(identity, "/deviceId", device->pci_device);
	size_t alike = 0;
	node_each (other, identity->node)
		alike += other->kind != DISCOVERY_SOFTWARE &&
			 other->pci_vendor == device->pci_vendor &&
			 (!device_shown || other->pci_device == device->pci_device);
	bool unique = vendor_shown && alike == 1;

	/* The domain of the address counts where the API reports one. */
	const char *address = json_pointer_string(identity->shown, "/pciAddress");
	bool same_address = address != NULL && shown_same_address(address, device->pci_address);
	if (same_address)
		(void)check_expect(identity->run, true, what_of(identity, "/pciAddress"),
				   device->pci_address, "%s", address);
	if ((same_address || compare(identity, "/pciAddress", device->pci_address)) &&
	    !granted_is_partition(identity->node, device))
		unique = true;

	/* The eight bytes of a LUID as the probes print them: in memory, little-endian. */
	char luid[17] = "";
	for (size_t i = 0; device->luid != 0 && i < 8; i++)
		(void)snprintf(luid + 2 * i, 3, "%02x",
			       (unsigned)((uint64_t)device->luid >> (8 * i) & 0xFFu));
	unique = compare(identity, "/deviceLuid", luid) || unique;
	unique = compare_node(identity) || unique;

	const char *uuid = json_pointer_string(identity->shown, "/deviceUuid");
	if (uuid != NULL && seen != NULL) {
		for (size_t i = 0; i < seen->uuids.count; i++) {
			if (strcmp(seen->uuids.items[i], uuid) == 0 &&
			    strcmp(seen->devices.items[i], device->id) != 0)
				(void)check_expect(identity->run, false,
						   what_of(identity, "/deviceUuid"),
						   "another one for each device", "%s, as of %s",
						   uuid, seen->devices.items[i]);
		}
		text_list_add(&seen->uuids, uuid);
		text_list_add(&seen->devices, device->id);
	}
	if (!unique)
		check_unsupported(identity->run,
				  "%s: the API reports nothing that distinguishes this device "
				  "from the others of the node",
				  device->id);
}

void identity_expect(struct check_run *run, const struct discovery_snapshot *node,
		     const struct discovery_device *device, const cJSON *document,
		     struct identity_seen *seen)
{
	const cJSON *shown = shown_device(document);
	const struct identity identity = {run, node, device, shown, shown_worked(document)};
	const char *what = what_of(&identity, "/software");
	bool software = shown_is_software(shown);
	if (!cJSON_IsBool(json_pointer(shown, "/software")))
		(void)check_expect(run, false, what, "true or false", "neither");
	else if (device->kind == DISCOVERY_SOFTWARE)
		(void)check_expect_is(run, software, what, "true", "false");
	else if (software && node->system.emulator != NULL && node->system.emulator[0] != '\0')
		check_note(run, "%s: a software renderer, as under %s", device->id,
			   node->system.emulator);
	else if (check_expect_is(run, !software, what, "false",
				 "true: a software renderer stands in"))
		compare_hardware(&identity, seen);
}
