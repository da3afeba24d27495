/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "base/json.h"
#include "base/text.h"

#include <string.h>

enum { TOLD_MAX = 256 };

static const cJSON *devices_in(const cJSON *list, const char *api)
{
	json_each (entry, list) {
		if (text_equal(json_pointer_string(entry, "/api/name"), api) &&
		    text_equal(json_pointer_string(entry, "/api/status"), "ok"))
			return json_pointer(entry, "/devices");
	}
	return NULL;
}

const cJSON *agreement_shown(const cJSON *document, const char *api)
{
	const cJSON *unsteered = devices_in(json_pointer(document, "/unsteered"), api);
	return cJSON_GetArraySize(unsteered) != 0
		       ? unsteered
		       : devices_in(json_pointer(document, "/apis"), api);
}

/* What one API tells of a device. */
struct told {
	const char *api;
	const char *value;
	const char *family; /* of drivers, within which it must be the same; "" for all */
};

struct told_list {
	struct told items[TOLD_MAX];
	size_t count;
};

static bool is_of_nvidia(const char *api, const cJSON *device)
{
	const char *vendor = json_pointer_string(device, "/vendor");
	const char *driver = json_pointer_string(device, "/driver/idName");
	return text_equal(api, "cuda") || text_equal(api, "nvml") ||
	       text_equal(driver, "VK_DRIVER_ID_NVIDIA_PROPRIETARY") ||
	       (driver == NULL && text_equal(vendor, "NVIDIA Corporation"));
}

/* UUIDs are those of one driver in all its APIs; two drivers of one device (Mesa's and the vendor's) make
 * their own. NULL: nothing tells which driver it is. */
static const char *family_of(const char *api, const cJSON *device)
{
	return is_of_nvidia(api, device) ? "NVIDIA" : json_pointer_string(device, "/driverUuid");
}

/* "40:00.0" of "0000:40:00.0": some APIs do not tell the domain, and are given 0. */
static const char *without_domain(const char *address)
{
	const char *colon = strchr(address, ':');
	return colon != NULL && strchr(colon + 1, ':') != NULL ? colon + 1 : address;
}

static bool is_same_address(const char *one, const char *other)
{
	bool lacks = text_starts_with(one, "0000:") || text_starts_with(other, "0000:");
	return strcmp(one, other) == 0 ||
	       (lacks && strcmp(without_domain(one), without_domain(other)) == 0);
}

static bool is_same_text(const char *one, const char *other)
{
	return strcmp(one, other) == 0;
}

static const struct fact {
	const char *pointer;
	bool (*same)(const char *one, const char *other);
	bool of_driver; /* told alike by the APIs of one driver alone */
} facts[] = {
	{"/pciAddress", is_same_address, false},
	{"/deviceLuid", is_same_text, false},
	{"/drm/render", is_same_text, false},
	{"/deviceUuid", is_same_text, true},
};

/* A part of a device (MIG) has a UUID of its own with CUDA, and the address of the whole, which is what
 * NVML tells. */
static bool is_part(const cJSON *document, const cJSON *device)
{
	const char *address = json_pointer_string(device, "/pciAddress");
	json_each (whole, agreement_shown(document, "nvml")) {
		const char *told = json_pointer_string(whole, "/pciAddress");
		if (address != NULL && told != NULL && is_same_address(address, told))
			return true;
	}
	return false;
}

static void collect(const cJSON *document, const struct fact *fact, struct told_list *list)
{
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		json_each (device, agreement_shown(document, api->name)) {
			const char *value = json_pointer_string(device, fact->pointer);
			const char *family = fact->of_driver ? family_of(api->name, device) : "";
			if (value == NULL || family == NULL || list->count == TOLD_MAX ||
			    (fact->of_driver && strcmp(api->name, "cuda") == 0 &&
			     is_part(document, device)))
				continue;
			list->items[list->count++] = (struct told){api->name, value, family};
		}
	}
}

/* "VALUE by vulkan, VALUE by cuda" of those that belong together with the first; *alike: all are the
 * same. False: no second API tells it. */
static bool compare(const struct told_list *list, size_t first, const struct fact *fact,
		    struct text *saw, bool *alike)
{
	const struct told *one = &list->items[first];
	bool another = false;
	*alike = true;
	for (size_t i = first; i < list->count; i++) {
		const struct told *told = &list->items[i];
		if (strcmp(told->family, one->family) != 0)
			continue;
		another = another || strcmp(told->api, one->api) != 0;
		*alike = *alike && fact->same(one->value, told->value);
		text_addf(saw, "%s%s by %s", saw->size != 0 ? ", " : "", told->value, told->api);
	}
	return another;
}

static bool is_first_of_family(const struct told_list *list, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (strcmp(list->items[i].family, list->items[index].family) == 0)
			return false;
	}
	return true;
}

size_t agreement_expect(struct check_run *run, const char *label, const cJSON *document)
{
	size_t compared = 0;
	for (size_t i = 0; i < ARRAY_SIZE(facts); i++) {
		struct told_list list = {.count = 0};
		collect(document, &facts[i], &list);
		for (size_t j = 0; j < list.count; j++) {
			struct text saw CLEANUP_TEXT = {0};
			bool alike = false;
			if (!is_first_of_family(&list, j) ||
			    !compare(&list, j, &facts[i], &saw, &alike))
				continue;
			compared++;
			(void)check_expect(run, alike,
					   check_format(run, "%s: %s", label, facts[i].pointer + 1),
					   "the same through each API", "%s", text_string(&saw));
		}
	}
	return compared;
}

static bool is_of_model(const struct discovery_device *device, const cJSON *seen)
{
	char vendor[16] = "";
	char model[16] = "";
	(void)snprintf(vendor, sizeof(vendor), "0x%04x", (unsigned)device->pci_vendor);
	(void)snprintf(model, sizeof(model), "0x%04x", (unsigned)device->pci_device);
	return text_equal(json_pointer_string(seen, "/vendorId"), vendor) &&
	       text_equal(json_pointer_string(seen, "/deviceId"), model);
}

void agreement_expect_among(struct check_run *run, const struct discovery_device *device,
			    const cJSON *document)
{
	const cJSON *devices = json_pointer(document, "/devices");
	const bool addressed = device->pci_address[0] != '\0';
	size_t found = 0;
	json_each (seen, devices)
		found += addressed ? text_equal(json_pointer_string(seen, "/pciAddress"),
						device->pci_address)
				   : is_of_model(device, seen);
	if (found > 1)
		check_unsupported(run, "%s: %zu devices of its model are shown, and none by a name",
				  device->id, found);
	else
		(void)check_expect(run, found == 1, "/devices", "the granted device among them",
				   "%d devices, the granted one %s", cJSON_GetArraySize(devices),
				   found == 1 ? "too" : "not");
	if (cJSON_GetArraySize(devices) > 1)
		check_note(run, "%d devices of the host are shown, whatever was assigned",
			   cJSON_GetArraySize(devices));
}
