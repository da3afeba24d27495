/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "base/json.h"
#include "base/text.h"
#include "conformance/runner/context.h"

#include <string.h>

const char *const visibility_apis[] = {"vulkan", "opencl", "cuda", NULL};

static const char *visibility_text(const cJSON *json, const char *pointer)
{
	return cJSON_GetStringValue(json_pointer(json, pointer));
}

/* The entry of one API in `list` ("/apis"); NULL when the probe does not know it. */
static const cJSON *visibility_entry(const cJSON *document, const char *list, const char *api)
{
	const cJSON *entry = NULL;

	cJSON_ArrayForEach (entry, json_pointer(document, list)) {
		if (text_equal(visibility_text(entry, "/api/name"), api))
			return entry;
	}
	return NULL;
}

static bool visibility_is_software(const cJSON *device)
{
	return cJSON_IsTrue(json_pointer(device, "/software"));
}

/* "226:128"; false when nothing is told. */
static bool visibility_number(const cJSON *json, const char *pointer, unsigned *major,
			      unsigned *minor)
{
	const char *number = visibility_text(json, pointer);

	return number != NULL && sscanf(number, "%u:%u", major, minor) == 2;
}

/* The number that a PCI id stands for; DISCOVERY_UNKNOWN for what is none: Khronos gives vendors
 * without one ids of its own, from 0x10000 on. */
static long visibility_pci_id(const cJSON *json, const char *pointer)
{
	const char *text = visibility_text(json, pointer);
	unsigned long id = text != NULL ? strtoul(text, NULL, 16) : 0;

	return id == 0 || id > 0xffff ? DISCOVERY_UNKNOWN : (long)id;
}

/* Whether what the API tells is said of this device: -1 no, 0 nothing is told of both, 1 yes. */
static int visibility_same_address(const struct discovery_device *device, const cJSON *seen)
{
	const char *address = visibility_text(seen, "/pciAddress");

	if (address == NULL || device->pci_address[0] == '\0')
		return 0;
	return text_equal(address, device->pci_address) ? 1 : -1;
}

static int visibility_same_node(const struct discovery_device *device, const cJSON *seen)
{
	unsigned major = 0;
	unsigned minor = 0;

	if (device->node_count == 0 || (!visibility_number(seen, "/drm/render", &major, &minor) &&
					!visibility_number(seen, "/drm/primary", &major, &minor)))
		return 0;
	return visibility_is_node_of(device, false, major, minor) ? 1 : -1;
}

static int visibility_same_ids(const struct discovery_device *device, const cJSON *seen)
{
	long vendor = visibility_pci_id(seen, "/vendorId");
	long id = visibility_pci_id(seen, "/deviceId");

	if (vendor < 0 || id < 0 || device->pci_vendor < 0 || device->pci_device < 0)
		return 0;
	return vendor == device->pci_vendor && id == device->pci_device ? 1 : -1;
}

/* The only device of the node that `same` says yes of. */
static const struct discovery_device *
visibility_only(const struct discovery_snapshot *node, const cJSON *seen,
		int (*same)(const struct discovery_device *device, const cJSON *seen))
{
	const struct discovery_device *found = NULL;

	for (size_t i = 0; i < node->device_count; i++) {
		if (same(&node->devices[i], seen) != 1)
			continue;
		if (found != NULL)
			return NULL;
		found = &node->devices[i];
	}
	return found;
}

static const struct discovery_device *
visibility_software_device(const struct discovery_snapshot *node, const char *api)
{
	const struct discovery_device *found = NULL;

	for (size_t i = 0; i < node->device_count; i++) {
		if (node->devices[i].kind != DISCOVERY_SOFTWARE ||
		    !granted_device_offers(&node->devices[i], api))
			continue;
		if (found != NULL)
			return NULL;
		found = &node->devices[i];
	}
	return found;
}

const struct discovery_device *visibility_device(const struct discovery_snapshot *node,
						 const char *api, const cJSON *device)
{
	const struct discovery_device *found = NULL;

	if (visibility_is_software(device))
		return visibility_software_device(node, api);
	found = visibility_only(node, device, visibility_same_address);
	if (found == NULL)
		found = visibility_only(node, device, visibility_same_node);
	if (found == NULL)
		found = visibility_only(node, device, visibility_same_ids);
	return found;
}

static void visibility_identify_nodes(const struct discovery_snapshot *node,
				      const struct sight *sight, struct granted *grant)
{
	for (size_t i = 0; i < node->device_count; i++) {
		if (visibility_has_own_node(node, &node->devices[i], sight))
			granted_add(grant, &node->devices[i]);
	}
}

void visibility_identify(const struct discovery_snapshot *node, const struct sight *sight,
			 struct granted *grant)
{
	for (size_t i = 0; visibility_apis[i] != NULL; i++) {
		const cJSON *entry = visibility_entry(sight->document, "/apis", visibility_apis[i]);
		const cJSON *device = NULL;

		cJSON_ArrayForEach (device, json_pointer(entry, "/devices")) {
			const struct discovery_device *found =
				visibility_device(node, visibility_apis[i], device);

			if (found != NULL)
				granted_add(grant, found);
		}
	}
	visibility_identify_nodes(node, sight, grant);
}

/* Several drivers may show one device. */
static bool visibility_is_repeated(const cJSON *devices, int index)
{
	static const char *const pointers[] = {"/pciAddress", "/drm/render"};
	const cJSON *device = cJSON_GetArrayItem(devices, index);

	for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
		const char *told = visibility_text(device, pointers[i]);

		for (int j = 0; told != NULL && j < index; j++) {
			if (text_equal(told, visibility_text(cJSON_GetArrayItem(devices, j),
							     pointers[i])))
				return true;
		}
	}
	return false;
}

struct visibility_count {
	long long hardware, software;
};

static struct visibility_count visibility_count(const cJSON *devices)
{
	struct visibility_count count = {0};

	for (int i = 0; i < cJSON_GetArraySize(devices); i++) {
		if (visibility_is_software(cJSON_GetArrayItem(devices, i)))
			count.software++;
		else if (!visibility_is_repeated(devices, i))
			count.hardware++;
	}
	return count;
}

/* How many devices of one API the grant stands for, by how many it must and may show. */
struct visibility_wanted {
	long long software, hardware_least, hardware_most;
};

static struct visibility_wanted visibility_wanted(const struct granted *grant, const char *api)
{
	struct visibility_wanted wanted = {0};

	for (size_t i = 0; i < grant->count; i++) {
		const struct discovery_device *device = grant->devices[i];
		bool offered = granted_device_offers(device, api);

		if (device->kind == DISCOVERY_SOFTWARE) {
			wanted.software += offered ? 1 : 0;
		} else {
			wanted.hardware_least += offered && device->file_count != 0 ? 1 : 0;
			wanted.hardware_most++;
		}
	}
	return wanted;
}

static bool visibility_expect_told(struct check_run *run, const char *what, const cJSON *entry)
{
	const char *status = visibility_text(entry, "/api/status");
	const char *reason = visibility_text(entry, "/api/reason");
	bool told = text_equal(status, "ok") || text_equal(status, "unsupported");

	return check_expect(run, told, what, "told", "%s (%s)", status != NULL ? status : "nothing",
			    reason != NULL ? reason : "no reason");
}

static const char *visibility_emulator(struct check_run *run)
{
	const char *emulator = check_context(run)->node->system.emulator;

	return emulator != NULL ? emulator : "";
}

/* Whatever else an API tells of hardware is told of a granted device as well. */
static void visibility_expect_identity(struct check_run *run, const char *what, const char *api,
				       const cJSON *device, const struct granted *grant)
{
	static const struct {
		const char *name;
		int (*same)(const struct discovery_device *device, const cJSON *seen);
	} rules[] = {
		{"PCI address", visibility_same_address},
		{"device node", visibility_same_node},
		{"vendor and device id", visibility_same_ids},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		bool yes = false;
		bool no = false;

		/* Only Vulkan and DXGI promise the ids of PCI. */
		if (rules[i].same == visibility_same_ids && strcmp(api, "vulkan") != 0)
			continue;
		for (size_t j = 0; j < grant->count; j++) {
			int same = rules[i].same(grant->devices[j], device);

			yes = yes || same > 0;
			no = no || same < 0;
		}
		if (yes || no)
			(void)check_expect(run, yes, what, "a granted device", "%s of %s",
					   yes ? "a device" : rules[i].name,
					   visibility_text(device, "/name") != NULL
						   ? visibility_text(device, "/name")
						   : "a device without a name");
	}
}

/* `exactly`: the granted devices must be there as well. */
static void visibility_expect_devices(struct check_run *run, const char *what, const char *api,
				      const cJSON *devices, const cJSON *bare,
				      const struct granted *grant, bool exactly)
{
	struct visibility_wanted wanted = visibility_wanted(grant, api);
	struct visibility_count saw = visibility_count(devices);
	/* A composed image brings no driver: what its bare container shows is the runtime's gift.
	 */
	long long own = check_context(run)->image.complete ? 0 : visibility_count(bare).software;
	const cJSON *device = NULL;

	if (visibility_emulator(run)[0] != '\0') {
		/* A software renderer stands in for the hardware. */
		(void)check_expect_int(run, what, saw.software + saw.hardware,
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
	cJSON_ArrayForEach (device, devices) {
		if (!visibility_is_software(device))
			visibility_expect_identity(run, what, api, device, grant);
	}
}

static void visibility_expect_api(struct check_run *run, const char *label, const char *api,
				  const struct sight *sight, const struct sight *bare,
				  const struct granted *grant)
{
	const cJSON *entry = visibility_entry(sight->document, "/apis", api);
	const cJSON *again = visibility_entry(sight->document, "/unsteered", api);
	const cJSON *others =
		bare != NULL
			? json_pointer(visibility_entry(bare->document, "/apis", api), "/devices")
			: NULL;
	char *what CLEANUP_FREE = text_format("%s: devices through %s", label, api);
	char *unsteered CLEANUP_FREE = text_format(
		"%s: devices through %s without the variables that hide some", label, api);

	if (what == NULL || unsteered == NULL) {
		check_broken(run, "out of memory");
		return;
	}
	if (visibility_expect_told(run, what, entry))
		visibility_expect_devices(run, what, api, json_pointer(entry, "/devices"), others,
					  grant, true);
	if (again != NULL && text_equal(visibility_text(again, "/api/status"), "failed"))
		check_note(run, "%s: %s", unsteered, visibility_text(again, "/api/reason"));
	else if (again != NULL)
		visibility_expect_devices(run, unsteered, api, json_pointer(again, "/devices"),
					  others, grant, false);
}

/* WARP: 1414:008c. */
static bool visibility_is_basic_render_driver(const cJSON *device)
{
	return text_equal(visibility_text(device, "/vendorId"), "0x1414") &&
	       text_equal(visibility_text(device, "/deviceId"), "0x008c");
}

/* Windows' own software renderer (Microsoft Basic Render Driver) is in every container and is not
 * counted. */
static void visibility_expect_dxgi(struct check_run *run, const char *label, const cJSON *document,
				   const struct granted *grant)
{
	const cJSON *entry = visibility_entry(document, "/apis", "dxgi");
	const cJSON *device = NULL;
	long long seen = 0;
	char *what CLEANUP_FREE = text_format("%s: adapters through DXGI", label);

	if (what == NULL) {
		check_broken(run, "out of memory");
		return;
	}
	if (!visibility_expect_told(run, what, entry))
		return;
	cJSON_ArrayForEach (device, json_pointer(entry, "/devices"))
		seen += visibility_is_basic_render_driver(device) ? 0 : 1;
	(void)check_expect_int(run, what, seen, (long long)granted_count(grant, "directx"));
}

void visibility_expect_only(struct check_run *run, const char *label, const struct sight *sight,
			    const struct sight *bare, const struct granted *grant)
{
	for (size_t i = 0; visibility_apis[i] != NULL; i++)
		visibility_expect_api(run, label, visibility_apis[i], sight, bare, grant);
	if (strcmp(check_context(run)->node->system.os, "windows") == 0)
		visibility_expect_dxgi(run, label, sight->document, grant);
	visibility_expect_nodes(run, label, sight, bare, grant);
	for (size_t i = 0; i < grant->count; i++)
		check_add_device(run, grant->devices[i]->id);
}

void visibility_expect_same_devices(struct check_run *run, const cJSON *first, const cJSON *second)
{
	for (size_t i = 0; visibility_apis[i] != NULL; i++) {
		const cJSON *devices[2] = {
			json_pointer(visibility_entry(first, "/apis", visibility_apis[i]),
				     "/devices"),
			json_pointer(visibility_entry(second, "/apis", visibility_apis[i]),
				     "/devices"),
		};

		for (int j = 0; j < cJSON_GetArraySize(devices[0]); j++) {
			const cJSON *one = cJSON_GetArrayItem(devices[0], j);
			const cJSON *other = cJSON_GetArrayItem(devices[1], j);

			(void)check_expect_text(run, "name", visibility_text(other, "/name"),
						visibility_text(one, "/name"));
			(void)check_expect_text(run, "deviceUuid",
						visibility_text(other, "/deviceUuid"),
						visibility_text(one, "/deviceUuid"));
		}
	}
}

static void visibility_expect_uuid_unseen(struct check_run *run, const char *api,
					  const cJSON *device, const cJSON *others)
{
	const char *uuid = visibility_text(device, "/deviceUuid");
	const cJSON *other = NULL;
	bool seen = false;

	if (uuid == NULL || visibility_is_software(device))
		return;
	cJSON_ArrayForEach (other, others)
		seen = seen || text_equal(uuid, visibility_text(other, "/deviceUuid"));
	(void)check_expect(run, !seen, api, "another device in each container",
			   "%s in %s container", uuid, seen ? "either" : "one");
}

void visibility_expect_different_devices(struct check_run *run, const cJSON *first,
					 const cJSON *second)
{
	for (size_t i = 0; visibility_apis[i] != NULL; i++) {
		const char *api = visibility_apis[i];
		const cJSON *others =
			json_pointer(visibility_entry(second, "/apis", api), "/devices");
		const cJSON *device = NULL;

		cJSON_ArrayForEach (device,
				    json_pointer(visibility_entry(first, "/apis", api), "/devices"))
			visibility_expect_uuid_unseen(run, api, device, others);
	}
}
