/* SPDX-License-Identifier: MIT */
#include "conformance/checks/identity.h"

#include "base/json.h"
#include "base/text.h"
#include "conformance/checks/node_file.h"

#include <stdlib.h>
#include <string.h>

struct identity {
	struct check_run *run;
	const struct discovery_snapshot *node;
	const struct discovery_device *device;
	const cJSON *told; /* the document's first device */
	bool unique;	   /* something was compared that no other device of the node has */
};

void identity_seen_free(struct identity_seen *seen)
{
	text_list_free(&seen->uuids);
	text_list_free(&seen->devices);
}

static const char *identity_text(const struct identity *identity, const char *pointer)
{
	return cJSON_GetStringValue(json_pointer(identity->told, pointer));
}

static void identity_compare(struct identity *identity, const char *member, const char *told,
			     const char *wanted)
{
	char *what CLEANUP_FREE = text_format("/devices/0%s", member);

	(void)check_expect_text(identity->run, what != NULL ? what : member, told, wanted);
}

/* PCI ids, which devices of one model share. */
static bool identity_compare_id(struct identity *identity, const char *member, int32_t known)
{
	const char *told = identity_text(identity, member);
	char *wanted CLEANUP_FREE = text_format("0x%04x", (unsigned)known);

	if (told == NULL || known == DISCOVERY_UNKNOWN || wanted == NULL)
		return false;
	identity_compare(identity, member, told, wanted);
	return true;
}

static bool identity_same_model(const struct identity *identity,
				const struct discovery_device *other, bool device_told)
{
	return other->kind != DISCOVERY_SOFTWARE &&
	       other->pci_vendor == identity->device->pci_vendor &&
	       (!device_told || other->pci_device == identity->device->pci_device);
}

static void identity_compare_model(struct identity *identity)
{
	bool vendor = identity_compare_id(identity, "/vendorId", identity->device->pci_vendor);
	bool device = identity_compare_id(identity, "/deviceId", identity->device->pci_device);
	size_t alike = 0;

	for (size_t i = 0; i < identity->node->device_count; i++)
		alike += identity_same_model(identity, &identity->node->devices[i], device) ? 1 : 0;
	identity->unique = identity->unique || (vendor && alike == 1);
}

static void identity_compare_address(struct identity *identity)
{
	const char *told = identity_text(identity, "/pciAddress");

	if (told == NULL || identity->device->pci_address == NULL ||
	    identity->device->pci_address[0] == '\0')
		return;
	identity_compare(identity, "/pciAddress", told, identity->device->pci_address);
	identity->unique = true;
}

/* The eight bytes of a LUID as the probes print them: in memory, little-endian. */
static void identity_compare_luid(struct identity *identity)
{
	const char *told = identity_text(identity, "/deviceLuid");
	char wanted[17] = "";

	if (told == NULL || identity->device->luid == 0)
		return;
	for (size_t i = 0; i < 8; i++)
		(void)snprintf(wanted + 2 * i, 3, "%02x",
			       (unsigned)((uint64_t)identity->device->luid >> (8 * i) & 0xFFu));
	identity_compare(identity, "/deviceLuid", told, wanted);
	identity->unique = true;
}

/* Is "MAJOR:MINOR" the number of a node of the device? *known: it has nodes that can be looked at.
 */
static bool identity_has_number(const struct discovery_device *device, const char *number,
				bool *known)
{
	for (size_t i = 0; i < device->node_count; i++) {
		struct node_file file = {0};
		char own[32] = "";

		if (!node_file_identify(device->nodes[i].path, &file) ||
		    file.kind != NODE_FILE_CHARACTER)
			continue;
		*known = true;
		(void)snprintf(own, sizeof(own), "%u:%u", file.major, file.minor);
		if (strcmp(own, number) == 0)
			return true;
	}
	return false;
}

/* The render node, which is what a container is given; a card's node need not be. */
static void identity_compare_node(struct identity *identity)
{
	const char *told = identity_text(identity, "/drm/render");
	bool known = false;
	bool own = told != NULL && !identity->node->recorded &&
		   identity_has_number(identity->device, told, &known);

	if (!known)
		return;
	(void)check_expect(identity->run, own, "/devices/0/drm/render",
			   "the number of a node of the granted device", "%s", told);
	identity->unique = true;
}

static void identity_compare_uuid(struct identity *identity, struct identity_seen *seen)
{
	const char *uuid = identity_text(identity, "/deviceUuid");
	struct error err = {0};

	if (uuid == NULL || seen == NULL)
		return;
	for (size_t i = 0; i < seen->uuids.count; i++) {
		if (strcmp(seen->uuids.items[i], uuid) == 0 &&
		    strcmp(seen->devices.items[i], identity->device->id) != 0)
			(void)check_expect(identity->run, false, "/devices/0/deviceUuid",
					   "another one for each device", "%s, as of %s", uuid,
					   seen->devices.items[i]);
	}
	if (text_list_add(&seen->uuids, uuid, &err) < 0 ||
	    text_list_add(&seen->devices, identity->device->id, &err) < 0)
		check_broken(identity->run, "%s", err.text);
}

static void identity_compare_hardware(struct identity *identity, struct identity_seen *seen)
{
	identity_compare_model(identity);
	identity_compare_address(identity);
	identity_compare_luid(identity);
	identity_compare_node(identity);
	identity_compare_uuid(identity, seen);
	if (!identity->unique)
		check_unsupported(identity->run,
				  "%s: the API tells nothing by which this device could be told "
				  "from the others of the node",
				  identity->device->id);
}

void identity_expect(struct check_run *run, const struct discovery_snapshot *node,
		     const struct discovery_device *device, const cJSON *document,
		     struct identity_seen *seen)
{
	struct identity identity = {run, node, device, json_pointer(document, "/devices/0"), false};
	const cJSON *flag = json_pointer(identity.told, "/software");
	bool software = cJSON_IsTrue(flag);

	if (!cJSON_IsBool(flag))
		(void)check_expect(run, false, "/devices/0/software", "true or false", "neither");
	else if (device->kind == DISCOVERY_SOFTWARE)
		(void)check_expect(run, software, "/devices/0/software", "true", "%s",
				   software ? "true" : "false");
	else if (software && node->system.emulator != NULL && node->system.emulator[0] != '\0')
		check_note(run, "%s: a software renderer, as under %s", device->id,
			   node->system.emulator);
	else if (check_expect(run, !software, "/devices/0/software", "false", "%s",
			      software ? "true: a software renderer stands in" : "false"))
		identity_compare_hardware(&identity, seen);
}
