/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "base/json.h"
#include "base/text.h"
#include "conformance/checks/node_file.h"
#include "conformance/checks/shown.h"

#include <stdlib.h>
#include <string.h>

enum { VENDOR_VIRTIO = 0x1af4 };

struct identity {
	struct check_run *run;
	const struct discovery_snapshot *node;
	const struct discovery_device *device;
	const cJSON *told; /* the device that worked */
	int index;	   /* its index */
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

/* False: the API does not tell it, or the node does not know it (""). */
static bool compare(const struct identity *identity, const char *member, const char *known)
{
	const char *told = json_pointer_string(identity->told, member);
	if (told == NULL || known[0] == '\0')
		return false;
	(void)check_expect_text(identity->run, what_of(identity, member), told, known);
	return true;
}

/* The domain counts where the API reports one. */
static bool compare_address(const struct identity *identity)
{
	const char *told = json_pointer_string(identity->told, "/pciAddress");
	const char *known = identity->device->pci_address;
	bool same = told != NULL && shown_same_address(told, known);
	return same ? check_expect(identity->run, true, what_of(identity, "/pciAddress"), known,
				   "%s", told)
		    : compare(identity, "/pciAddress", known);
}

/* False, too: an id that is none of PCI, or of a GPU behind a virtual one, which is shown as itself. */
static bool compare_id(const struct identity *identity, const char *member, int32_t known)
{
	char text[16] = "";
	if (shown_pci_id(identity->told, member) < 0 ||
	    identity->device->pci_vendor == VENDOR_VIRTIO)
		return false;
	if (known != DISCOVERY_UNKNOWN)
		(void)snprintf(text, sizeof(text), "0x%04x", (unsigned)known);
	return compare(identity, member, text);
}

/* PCI ids, which devices of one model share. True: no other device of the node has them. */
static bool compare_model(const struct identity *identity)
{
	const struct discovery_device *device = identity->device;
	bool vendor_told = compare_id(identity, "/vendorId", device->pci_vendor);
	bool device_told = compare_id(identity, "/deviceId", device->pci_device);
	size_t alike = 0;
	node_each (other, identity->node) {
		alike += other->kind != DISCOVERY_SOFTWARE &&
			 other->pci_vendor == device->pci_vendor &&
			 (!device_told || other->pci_device == device->pci_device);
	}
	return vendor_told && alike == 1;
}

/* The eight bytes of a LUID as the probes print them: in memory, little-endian. */
static bool compare_luid(const struct identity *identity)
{
	char known[17] = "";
	for (size_t i = 0; identity->device->luid != 0 && i < 8; i++)
		(void)snprintf(known + 2 * i, 3, "%02x",
			       (unsigned)((uint64_t)identity->device->luid >> (8 * i) & 0xFFu));
	return compare(identity, "/deviceLuid", known);
}

/* The render node, which is what a container is given; a card's node need not be. */
static bool compare_node(const struct identity *identity)
{
	const char *told = json_pointer_string(identity->told, "/drm/render");
	bool known = false;
	bool own = false;
	if (told == NULL || identity->node->recorded)
		return false;
	for (size_t i = 0; i < identity->device->node_count; i++) {
		struct node_file file = {0};
		char number[32] = "";
		if (!node_file_identify(identity->device->nodes[i].path, &file) ||
		    file.kind != NODE_FILE_CHARACTER)
			continue;
		(void)snprintf(number, sizeof(number), "%u:%u", file.major, file.minor);
		known = true;
		own = own || strcmp(number, told) == 0;
	}
	if (known)
		(void)check_expect(identity->run, own, what_of(identity, "/drm/render"),
				   "the number of a node of the granted device", "%s", told);
	return known;
}

static void compare_uuid(const struct identity *identity, struct identity_seen *seen)
{
	const char *uuid = json_pointer_string(identity->told, "/deviceUuid");
	struct error err = {0};
	if (uuid == NULL || seen == NULL)
		return;
	for (size_t i = 0; i < seen->uuids.count; i++) {
		if (strcmp(seen->uuids.items[i], uuid) == 0 &&
		    strcmp(seen->devices.items[i], identity->device->id) != 0)
			(void)check_expect(identity->run, false, what_of(identity, "/deviceUuid"),
					   "another one for each device", "%s, as of %s", uuid,
					   seen->devices.items[i]);
	}
	int rc = text_list_add(&seen->uuids, uuid, &err);
	if (rc == 0)
		rc = text_list_add(&seen->devices, identity->device->id, &err);
	(void)check_works(identity->run, rc, NULL, &err);
}

static void compare_hardware(const struct identity *identity, struct identity_seen *seen)
{
	bool unique = compare_model(identity);
	unique = (compare_address(identity) &&
		  !granted_is_partition(identity->node, identity->device)) ||
		 unique;
	unique = compare_luid(identity) || unique;
	unique = compare_node(identity) || unique;
	compare_uuid(identity, seen);
	if (!unique)
		check_unsupported(identity->run,
				  "%s: the API tells nothing by which this device could be told "
				  "from the others of the node",
				  identity->device->id);
}

void identity_expect(struct check_run *run, const struct discovery_snapshot *node,
		     const struct discovery_device *device, const cJSON *document,
		     struct identity_seen *seen)
{
	const cJSON *told = shown_device(document);
	struct identity identity = {run, node, device, told, shown_worked(document)};
	const cJSON *flag = json_pointer(told, "/software");
	const char *what = what_of(&identity, "/software");
	bool software = shown_is_software(told);
	if (!cJSON_IsBool(flag))
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
