/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "base/gpu_apis.h"
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
	return (api->listed & GPU_API_ON_LINUX) != 0
		       ? json_pointer(visibility_entry(document, "/apis", api->name), "/devices")
		       : NULL;
}

/* "226:128"; false when it is unknown. */
static bool number_at(const cJSON *json, const char *pointer, unsigned *major, unsigned *minor)
{
	return text_to_device_number(json_pointer_string(json, pointer), major, minor);
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

/* The only device of the node for which `same` is 1; `same` NULL: the only software device that offers
 * the API. NULL: none, or several. */
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

/* The facts that an API reports of a device, with their comparison; the most reliable first. */
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
	if (shown_is_software(device))
		return only_device(node, device, api, NULL);
	const struct discovery_device *found = NULL;
	for (size_t i = 0; found == NULL && i < ARRAY_SIZE(facts); i++)
		found = only_device(node, device, api, facts[i].same);
	return found;
}

void visibility_identify(const struct discovery_snapshot *node,
			 const struct observation *observation, struct granted *grant)
{
	gpu_api_each (api) {
		json_each (device,
			   api->past_assignment ? NULL : devices_of(observation->document, api)) {
			const struct discovery_device *found =
				visibility_device(node, api->name, device);
			if (found != NULL)
				granted_add(grant, found);
		}
	}
	node_each (device, node) {
		if (visibility_has_own_node(node, device, observation))
			granted_add(grant, device);
	}
}

static bool expect_answer(struct check_run *run, const char *what, const cJSON *entry)
{
	const char *status = json_pointer_string(entry, "/api/status");
	const char *reason = json_pointer_string(entry, "/api/reason");
	bool answered = text_equal(status, "ok") || text_equal(status, "unsupported");
	return check_expect(run, answered, what, "told", "%s (%s)",
			    status != NULL ? status : "nothing",
			    reason != NULL ? reason : "no reason");
}

/* The facts that an API reports of hardware are those of a granted device. */
static void expect_identity(struct check_run *run, const char *what, const char *api,
			    const cJSON *device, const struct granted *grant)
{
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		bool yes = false;
		bool no = false;
		/* Only Vulkan and DXGI promise the ids of PCI. */
		if (facts[i].same == visibility_same_model && strcmp(api, "vulkan") != 0)
			continue;
		granted_each (granted, grant) {
			int same = facts[i].same(granted, device);
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

/* `exactly`: the API must show the granted devices as well. */
static void expect_devices(struct check_run *run, const char *what, const char *api,
			   const cJSON *devices, const cJSON *bare, const struct granted *grant,
			   bool exactly)
{
	const struct context *context = check_context(run);
	const char *emulator = context->node->system.emulator;
	bool parts = false;
	granted_each (device, grant)
		parts = parts || granted_is_partition(context->node, device);
	struct shown_count saw = shown_count(devices, emulator, parts);
	if (emulator != NULL && emulator[0] != '\0') {
		/* A software renderer stands in for the hardware. */
		(void)check_expect_int(run, what, saw.hardware,
				       (long long)granted_count(grant, api));
		return;
	}

	/* The devices that the API must and may show. Hardware may need a driver from the answer, except Mesa,
	 * which images have. */
	long long software = 0, hardware_least = 0, hardware_most = 0;
	granted_each (device, grant) {
		bool offered = filter_offers(device, api);
		if (device->kind == DISCOVERY_SOFTWARE) {
			software += offered ? 1 : 0;
		} else {
			hardware_least +=
				offered && device->file_count != 0 &&
						!text_starts_with(device->user_mode_driver, "Mesa ")
					? 1
					: 0;
			hardware_most++;
		}
	}
	/* A composed image has no driver: its bare container shows software that the runtime added. */
	long long own = context->image.complete ? 0 : shown_count(bare, NULL, false).software;
	(void)check_expect(run,
			   saw.software <= software + own && (!exactly || saw.software >= software),
			   what, software == 0 ? "no software renderer" : "the granted one",
			   "%lld software renderer%s, %lld granted", saw.software,
			   saw.software == 1 ? "" : "s", software);
	(void)check_expect(
		run, saw.hardware <= hardware_most && (!exactly || saw.hardware >= hardware_least),
		what, "granted hardware", "%lld of hardware, %lld granted", saw.hardware,
		hardware_most);
	json_each (device, devices) {
		if (!shown_is_software(device))
			expect_identity(run, what, api, device, grant);
	}
}

/* The devices that one container saw, for readers of the report. */
struct seen {
	struct granted devices; /* of the node */
	size_t others;		/* most devices of one API not known to be the node's */
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

static void add_refs(struct members *record, const char *key, const struct granted *granted)
{
	struct members refs = member_array(record, key);
	granted_each (device, granted)
		member_string(&refs, NULL, device->id);
}

/* Records the observation that the verdicts are about. Software renderers of the image itself are left out. */
static void add_observation(struct check_run *run, const char *label,
			    const struct observation *observation, const struct observation *bare,
			    const struct granted *grant)
{
	const struct discovery_snapshot *node = check_context(run)->node;
	const cJSON *document = bare != NULL ? bare->document : observation->document;
	struct members record CLEANUP_MEMBERS = members_new();
	struct seen seen = {0};
	gpu_api_each (api) {
		bool own_software =
			!check_context(run)->image.complete &&
			shown_count(devices_of(document, api), NULL, false).software != 0;
		if (!api->past_assignment)
			see_api(node, api->name, devices_of(observation->document, api),
				own_software, &seen);
	}
	see_api(node, "dxgi",
		json_pointer(visibility_entry(observation->document, "/apis", "dxgi"), "/devices"),
		false, &seen);
	node_each (device, node) {
		if (visibility_has_own_node(node, device, observation))
			granted_add(&seen.devices, device);
	}
	member_string(&record, "container", label);
	add_refs(&record, "granted", grant);
	add_refs(&record, "saw", &seen.devices);
	member_int(&record, "others", (int64_t)seen.others);
	check_add_record(run, "observation", &record);
}

void visibility_expect_only(struct check_run *run, const char *label,
			    const struct observation *observation, const struct observation *bare,
			    const struct granted *grant)
{
	const struct discovery_system *system = &check_context(run)->node->system;
	bool windows = node_is_windows(check_context(run)->node);
	unsigned asked = windows ? GPU_API_ON_LINUX | GPU_API_ON_WINDOWS : GPU_API_ON_LINUX;
	add_observation(run, label, observation, bare, grant);

	/* isolation.management-apis judges APIs that show unassigned devices of the host. */
	gpu_api_each (api) {
		if ((api->listed & asked) != asked || api->past_assignment)
			continue;
		const cJSON *entry = visibility_entry(observation->document, "/apis", api->name);
		const cJSON *again =
			visibility_entry(observation->document, "/unsteered", api->name);
		const cJSON *others =
			devices_of(bare != NULL ? bare->document : observation->document, api);
		const char *what = check_format(run, "%s: devices through %s", label, api->name);
		const char *unsteered =
			check_format(run, "%s without the variables that hide some", what);
		if (expect_answer(run, what, entry))
			expect_devices(run, what, api->name, json_pointer(entry, "/devices"),
				       others, grant, true);
		if (text_equal(json_pointer_string(again, "/api/status"), "failed"))
			check_note(run, "%s: %s", unsteered,
				   json_pointer_string(again, "/api/reason"));
		else if (again != NULL)
			expect_devices(run, unsteered, api->name, json_pointer(again, "/devices"),
				       others, grant, false);
	}

	const cJSON *dxgi = visibility_entry(observation->document, "/apis", "dxgi");
	const char *adapters = check_format(run, "%s: adapters through DXGI", label);
	if (windows && expect_answer(run, adapters, dxgi)) {
		const struct shown_count shown =
			shown_count(json_pointer(dxgi, "/devices"), system->emulator, false);
		(void)check_expect_int(run, adapters, shown.hardware,
				       (long long)granted_count(grant, "directx"));
	}
	visibility_expect_nodes(run, label, observation, bare, grant);
	granted_each (device, grant)
		check_add_device(run, device->id);
}

void visibility_expect_same_devices(struct check_run *run, const cJSON *first, const cJSON *second)
{
	static const char *const pointers[] = {"/name", "/deviceUuid"};
	gpu_api_each (api) {
		const cJSON *other = json_first(devices_of(second, api));
		json_each (device, devices_of(first, api)) {
			array_each (pointer, pointers)
				(void)check_expect_text(run, *pointer + 1,
							json_pointer_string(other, *pointer),
							json_pointer_string(device, *pointer));
			other = other != NULL ? other->next : NULL;
		}
	}
}

void visibility_expect_different_devices(struct check_run *run, const cJSON *first,
					 const cJSON *second)
{
	gpu_api_each (api) {
		json_each (device, devices_of(first, api)) {
			const char *uuid = json_pointer_string(device, "/deviceUuid");
			if (uuid == NULL || shown_is_software(device))
				continue;
			bool seen = false;
			json_each (other, devices_of(second, api))
				seen |= text_equal(uuid, json_pointer_string(other, "/deviceUuid"));
			(void)check_expect(run, !seen, api->name,
					   "another device in each container", "%s in %s container",
					   uuid, seen ? "either" : "one");
		}
	}
}
