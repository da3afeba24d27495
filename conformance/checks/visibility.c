/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "base/json.h"
#include "base/members.h"
#include "base/text.h"
#include "conformance/checks/shown.h"
#include "conformance/runner/context.h"
#include "discovery/filter.h"

#include <string.h>

const cJSON *visibility_entry(const cJSON *document, const char *list, const char *api)
{
	json_each (entry, json_pointer(document, list)) {
		if (text_equal(json_pointer_string(entry, "/api/name"), api))
			return entry;
	}
	return NULL;
}

/* What the container saw through an API that shows devices on every system. */
static const cJSON *devices_of(const cJSON *document, const struct gpu_api *api)
{
	return (api->seen & GPU_API_ON_LINUX) != 0
		       ? json_pointer(visibility_entry(document, "/apis", api->name), "/devices")
		       : NULL;
}

/* "226:128"; false when nothing is told. */
static bool number_at(const cJSON *json, const char *pointer, unsigned *major, unsigned *minor)
{
	const char *number = json_pointer_string(json, pointer);
	return text_to_device_number(number, major, minor);
}

int visibility_same_address(const struct discovery_device *device, const cJSON *seen)
{
	const char *address = json_pointer_string(seen, "/pciAddress");
	if (address == NULL || device->pci_address[0] == '\0')
		return 0;
	return shown_same_address(address, device->pci_address) ? 1 : -1;
}

static int same_node(const struct discovery_device *device, const cJSON *seen)
{
	unsigned major = 0;
	unsigned minor = 0;
	if (device->node_count == 0 || (!number_at(seen, "/drm/render", &major, &minor) &&
					!number_at(seen, "/drm/primary", &major, &minor)))
		return 0;
	return visibility_is_node_of(device, false, major, minor) ? 1 : -1;
}

int visibility_same_model(const struct discovery_device *device, const cJSON *seen)
{
	long vendor = shown_pci_id(seen, "/vendorId");
	long id = shown_pci_id(seen, "/deviceId");
	if (vendor < 0 || id < 0 || device->pci_vendor < 0 || device->pci_device < 0)
		return 0;
	return vendor == device->pci_vendor && id == device->pci_device ? 1 : -1;
}

/* The only device of the node that `same` says yes of; NULL: the only software one that offers the API. */
static const struct discovery_device *
only_device(const struct discovery_snapshot *node, const cJSON *seen, const char *api,
	    int (*same)(const struct discovery_device *device, const cJSON *seen))
{
	const struct discovery_device *found = NULL;
	node_each (device, node) {
		bool software = device->kind == DISCOVERY_SOFTWARE && filter_offers(device, api);
		if (same != NULL ? same(device, seen) != 1 : !software)
			continue;
		if (found != NULL)
			return NULL;
		found = device;
	}
	return found;
}

/* What an API tells of a device, and whether it is said of this one; the surest first. */
static const struct {
	const char *name;
	int (*same)(const struct discovery_device *device, const cJSON *seen);
} facts[] = {
	{"PCI address", visibility_same_address},
	{"device node", same_node},
	{"vendor and device id", visibility_same_model},
};

const struct discovery_device *visibility_device(const struct discovery_snapshot *node,
						 const char *api, const cJSON *device)
{
	const struct discovery_device *found =
		shown_is_software(device) ? only_device(node, device, api, NULL) : NULL;
	for (size_t i = 0; found == NULL && !shown_is_software(device) && i < ARRAY_SIZE(facts);
	     i++)
		found = only_device(node, device, api, facts[i].same);
	return found;
}

void visibility_identify(const struct discovery_snapshot *node, const struct sight *sight,
			 struct granted *grant)
{
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		json_each (device, api->past_assignment ? NULL : devices_of(sight->document, api)) {
			const struct discovery_device *found =
				visibility_device(node, api->name, device);
			if (found != NULL)
				granted_add(grant, found);
		}
	}
	node_each (device, node) {
		if (visibility_has_own_node(node, device, sight))
			granted_add(grant, device);
	}
}

/* How many devices of one API the grant stands for, by how many it must and may show. */
struct wanted {
	long long software, hardware_least, hardware_most;
};

static struct wanted count_wanted(const struct granted *grant, const char *api)
{
	struct wanted wanted = {0};
	for (size_t i = 0; i < grant->count; i++) {
		const struct discovery_device *device = grant->devices[i];
		bool offered = filter_offers(device, api);
		if (device->kind == DISCOVERY_SOFTWARE) {
			wanted.software += offered ? 1 : 0;
		} else {
			wanted.hardware_least += offered && device->file_count != 0 ? 1 : 0;
			wanted.hardware_most++;
		}
	}
	return wanted;
}

static bool has_parts(const struct discovery_snapshot *node, const struct granted *grant)
{
	for (size_t i = 0; i < grant->count; i++) {
		if (granted_is_partition(node, grant->devices[i]))
			return true;
	}
	return false;
}

static bool expect_told(struct check_run *run, const char *what, const cJSON *entry)
{
	const char *status = json_pointer_string(entry, "/api/status");
	const char *reason = json_pointer_string(entry, "/api/reason");
	bool told = text_equal(status, "ok") || text_equal(status, "unsupported");
	return check_expect(run, told, what, "told", "%s (%s)", status != NULL ? status : "nothing",
			    reason != NULL ? reason : "no reason");
}

/* Whatever else an API tells of hardware is told of a granted device as well. */
static void expect_identity(struct check_run *run, const char *what, const char *api,
			    const cJSON *device, const struct granted *grant)
{
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		bool yes = false;
		bool no = false;
		/* Only Vulkan and DXGI promise the ids of PCI. */
		if (facts[i].same == visibility_same_model && strcmp(api, "vulkan") != 0)
			continue;
		for (size_t j = 0; j < grant->count; j++) {
			int same = facts[i].same(grant->devices[j], device);
			yes = yes || same > 0;
			no = no || same < 0;
		}
		if (yes || no)
			(void)check_expect(run, yes, what, "a granted device", "%s of %s",
					   yes ? "a device" : facts[i].name,
					   json_pointer_string(device, "/name") != NULL
						   ? json_pointer_string(device, "/name")
						   : "a device without a name");
	}
}

/* `exactly`: the granted devices must be there as well. */
static void expect_devices(struct check_run *run, const char *what, const char *api,
			   const cJSON *devices, const cJSON *bare, const struct granted *grant,
			   bool exactly)
{
	const char *emulator = check_context(run)->node->system.emulator;
	struct wanted wanted = count_wanted(grant, api);
	struct shown_count saw =
		shown_count(devices, emulator, has_parts(check_context(run)->node, grant));
	/* A composed image brings no driver: what its bare container shows is the runtime's gift.
	 */
	long long own =
		check_context(run)->image.complete ? 0 : shown_count(bare, NULL, false).software;
	if (emulator != NULL && emulator[0] != '\0') {
		/* A software renderer stands in for the hardware. */
		(void)check_expect_int(run, what, saw.hardware,
				       (long long)granted_count(grant, api));
		return;
	}
	(void)check_expect(run,
			   saw.software <= wanted.software + own &&
				   (!exactly || saw.software >= wanted.software),
			   what, wanted.software == 0 ? "no software renderer" : "the granted one",
			   "%lld software renderer%s, %lld granted", saw.software,
			   saw.software == 1 ? "" : "s", wanted.software);
	(void)check_expect(run,
			   saw.hardware <= wanted.hardware_most &&
				   (!exactly || saw.hardware >= wanted.hardware_least),
			   what, "granted hardware", "%lld of hardware, %lld granted", saw.hardware,
			   wanted.hardware_most);
	json_each (device, devices) {
		if (!shown_is_software(device))
			expect_identity(run, what, api, device, grant);
	}
}

static void expect_api(struct check_run *run, const char *label, const struct gpu_api *api,
		       const struct sight *sight, const struct sight *bare,
		       const struct granted *grant)
{
	const cJSON *entry = visibility_entry(sight->document, "/apis", api->name);
	const cJSON *again = visibility_entry(sight->document, "/unsteered", api->name);
	const cJSON *others = devices_of(bare != NULL ? bare->document : sight->document, api);
	const char *what = check_format(run, "%s: devices through %s", label, api->name);
	const char *unsteered = check_format(run, "%s without the variables that hide some", what);
	if (expect_told(run, what, entry))
		expect_devices(run, what, api->name, json_pointer(entry, "/devices"), others, grant,
			       true);
	if (again != NULL && text_equal(json_pointer_string(again, "/api/status"), "failed"))
		check_note(run, "%s: %s", unsteered, json_pointer_string(again, "/api/reason"));
	else if (again != NULL)
		expect_devices(run, unsteered, api->name, json_pointer(again, "/devices"), others,
			       grant, false);
}

static void expect_dxgi(struct check_run *run, const char *label, const cJSON *document,
			const struct granted *grant)
{
	const char *what = check_format(run, "%s: adapters through DXGI", label);
	const cJSON *entry = visibility_entry(document, "/apis", "dxgi");
	const char *emulator = check_context(run)->node->system.emulator;
	if (expect_told(run, what, entry))
		(void)check_expect_int(
			run, what,
			shown_count(json_pointer(entry, "/devices"), emulator, false).hardware,
			(long long)granted_count(grant, "directx"));
}

/* What one container saw, for people who read the report. */
struct seen {
	struct granted devices; /* of the node */
	size_t others; /* the most that one API showed and that cannot be told to be one of the node */
};

static void see_api(const struct discovery_snapshot *node, const char *api, const cJSON *devices,
		    bool own_software, struct seen *seen)
{
	struct granted found = {0};
	size_t shown = (size_t)shown_count(devices, NULL, false).hardware;
	json_each (entry, devices) {
		const struct discovery_device *device = visibility_device(node, api, entry);
		if (shown_is_basic_renderer(entry) || (own_software && shown_is_software(entry)))
			continue;
		shown += shown_is_software(entry) ? 1 : 0;
		if (device == NULL)
			continue;
		granted_add(&found, device);
		granted_add(&seen->devices, device);
	}
	if (shown > found.count + seen->others)
		seen->others = shown - found.count;
}

static cJSON *refs_json(const struct granted *granted)
{
	struct members refs CLEANUP_MEMBERS = members_new_array();
	for (size_t i = 0; i < granted->count; i++)
		member_string(&refs, NULL, granted->devices[i]->id);
	return members_take(&refs);
}

/* Beside the verdicts: the picture that they are about. Software renderers of the image itself are left out. */
static void add_sight(struct check_run *run, const char *label, const struct sight *sight,
		      const struct sight *bare, const struct granted *grant)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	const cJSON *document = bare != NULL ? bare->document : sight->document;
	struct members record CLEANUP_MEMBERS = members_new();
	struct seen seen = {0};
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		bool own_software =
			!check_context(run)->image.complete &&
			shown_count(devices_of(document, api), NULL, false).software != 0;
		if (!api->past_assignment)
			see_api(node, api->name, devices_of(sight->document, api), own_software,
				&seen);
	}
	see_api(node, "dxgi",
		json_pointer(visibility_entry(sight->document, "/apis", "dxgi"), "/devices"), false,
		&seen);
	node_each (device, node) {
		if (visibility_has_own_node(node, device, sight))
			granted_add(&seen.devices, device);
	}
	member_string(&record, "container", label);
	member_item(&record, "granted", refs_json(grant));
	member_item(&record, "saw", refs_json(&seen.devices));
	member_int(&record, "others", (int64_t)seen.others);
	check_add_sight(run, &record);
}

void visibility_expect_only(struct check_run *run, const char *label, const struct sight *sight,
			    const struct sight *bare, const struct granted *grant)
{
	bool windows = strcmp(check_context(run)->node->system.os, "windows") == 0;
	unsigned asked = windows ? GPU_API_ON_LINUX | GPU_API_ON_WINDOWS : GPU_API_ON_LINUX;
	add_sight(run, label, sight, bare, grant);
	/* What shows the devices of the host, whatever was assigned, isolation.management-apis judges. */
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		if ((api->seen & asked) == asked && !api->past_assignment)
			expect_api(run, label, api, sight, bare, grant);
	}
	if (windows)
		expect_dxgi(run, label, sight->document, grant);
	visibility_expect_nodes(run, label, sight, bare, grant);
	for (size_t i = 0; i < grant->count; i++)
		check_add_device(run, grant->devices[i]->id);
}

void visibility_expect_same_devices(struct check_run *run, const cJSON *first, const cJSON *second)
{
	static const char *const pointers[] = {"/name", "/deviceUuid"};
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		const cJSON *other = json_first(devices_of(second, api));
		json_each (device, devices_of(first, api)) {
			for (size_t i = 0; i < ARRAY_SIZE(pointers); i++)
				(void)check_expect_text(run, pointers[i] + 1,
							json_pointer_string(other, pointers[i]),
							json_pointer_string(device, pointers[i]));
			other = other != NULL ? other->next : NULL;
		}
	}
}

static bool has_uuid(const cJSON *devices, const char *uuid)
{
	json_each (device, devices) {
		if (text_equal(uuid, json_pointer_string(device, "/deviceUuid")))
			return true;
	}
	return false;
}

void visibility_expect_different_devices(struct check_run *run, const cJSON *first,
					 const cJSON *second)
{
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		json_each (device, devices_of(first, api)) {
			const char *uuid = json_pointer_string(device, "/deviceUuid");
			if (uuid == NULL || shown_is_software(device))
				continue;
			bool seen = has_uuid(devices_of(second, api), uuid);
			(void)check_expect(run, !seen, api->name,
					   "another device in each container", "%s in %s container",
					   uuid, seen ? "either" : "one");
		}
	}
}
