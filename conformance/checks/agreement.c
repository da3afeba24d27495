/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "base/gpu_apis.h"
#include "conformance/checks/shown.h"
#include "conformance/checks/tally.h"

#include <string.h>

enum { SHOWN_MAX = 256 };

/* A device as one API shows it. */
struct shown {
	const char *api;
	const cJSON *device;
};

static const cJSON *devices_in(const cJSON *document, const char *list, const char *api)
{
	const cJSON *entry = visibility_entry(document, list, api);
	bool answered = text_equal(json_pointer_string(entry, "/api/status"), "ok");
	return answered ? json_pointer(entry, "/devices") : NULL;
}

const cJSON *agreement_shown(const cJSON *document, const char *api)
{
	const cJSON *unsteered = devices_in(document, "/unsteered", api);
	return cJSON_GetArraySize(unsteered) != 0 ? unsteered : devices_in(document, "/apis", api);
}

/* APIs of one driver agree on UUIDs; two drivers of one device (Mesa's and the vendor's) each make
 * their own. NULL: the driver is unknown. */
static const char *family_of(const struct shown *shown)
{
	const char *driver = json_pointer_string(shown->device, "/driver/idName");
	const char *vendor = json_pointer_string(shown->device, "/vendor");
	if (text_equal(shown->api, "cuda") || text_equal(shown->api, "nvml") ||
	    text_equal(driver, "VK_DRIVER_ID_NVIDIA_PROPRIETARY") ||
	    (driver == NULL && text_equal(vendor, "NVIDIA Corporation")))
		return "NVIDIA";
	return json_pointer_string(shown->device, "/driverUuid");
}

/* Some APIs do not know the domain, and report 0. */
static bool is_same_address(const char *one, const char *other)
{
	static const char zero[] = "0000:";
	if (text_starts_with(one, zero))
		one += strlen(zero);
	if (text_starts_with(other, zero))
		other += strlen(zero);
	return shown_same_address(one, other);
}

static bool is_same_text(const char *one, const char *other)
{
	return strcmp(one, other) == 0;
}

/* CUDA reports a part of a device (MIG) with a UUID of its own and the address of the whole device,
 * which is the device that NVML reports. */
static bool is_part(const cJSON *document, const struct shown *shown)
{
	const char *address = json_pointer_string(shown->device, "/pciAddress");
	if (strcmp(shown->api, "cuda") != 0 || address == NULL)
		return false;
	json_each (whole, agreement_shown(document, "nvml")) {
		const char *other = json_pointer_string(whole, "/pciAddress");
		if (other != NULL && is_same_address(address, other))
			return true;
	}
	return false;
}

static const struct fact {
	const char *pointer;
	bool (*same)(const char *one, const char *other);
	bool of_driver; /* only the APIs of one driver agree on it */
} facts[] = {
	{"/pciAddress", is_same_address, false},
	{"/deviceLuid", is_same_text, false},
	{"/drm/render", is_same_text, false},
	{"/deviceUuid", is_same_text, true},
};

static void compare(const cJSON *document, const struct fact *fact, const struct shown *one,
		    const struct shown *other, struct tally *tally)
{
	const char *first = json_pointer_string(one->device, fact->pointer);
	const char *second = json_pointer_string(other->device, fact->pointer);
	if (strcmp(one->api, other->api) == 0 || first == NULL || second == NULL)
		return;

	const char *family = family_of(one);
	bool one_driver = family != NULL && text_equal(family, family_of(other)) &&
			  !is_part(document, one) && !is_part(document, other);
	if (!fact->of_driver || one_driver)
		tally_add(tally, fact->same(first, second), "%s by %s, %s by %s", first, one->api,
			  second, other->api);
}

size_t agreement_expect(struct check_run *run, const char *label, const cJSON *document)
{
	struct shown list[SHOWN_MAX] = {{0}};
	size_t count = 0;
	gpu_api_each (api) {
		json_each (device, agreement_shown(document, api->name)) {
			if (count < SHOWN_MAX)
				list[count++] = (struct shown){api->name, device};
		}
	}

	size_t compared = 0;
	array_each (fact, facts) {
		TALLY(tally, run, check_format(run, "%s: %s", label, fact->pointer + 1),
		      "the same through each API");
		for (size_t j = 0; j < count; j++) {
			for (size_t k = j + 1; k < count; k++)
				compare(document, fact, &list[j], &list[k], &tally);
		}
		compared += tally.count;
	}
	return compared;
}

void agreement_expect_among(struct check_run *run, const struct discovery_device *device,
			    const cJSON *document)
{
	const cJSON *devices = json_pointer(document, "/devices");
	const bool addressed = device->pci_address[0] != '\0';
	size_t found = 0;
	json_each (seen, devices)
		found += (addressed ? visibility_same_address(device, seen)
				    : visibility_same_model(device, seen)) == 1;
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
