/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "base/json.h"
#include "base/text.h"

#include <string.h>

/* What the API showed where no variable hid anything; NULL where it did not answer. */
static const cJSON *shown(const cJSON *document, const char *api)
{
	const cJSON *unsteered = json_pointer(document, "/unsteered");
	json_each (entry, cJSON_IsArray(unsteered) ? unsteered : json_pointer(document, "/apis")) {
		if (text_equal(json_pointer_string(entry, "/api/name"), api) &&
		    text_equal(json_pointer_string(entry, "/api/status"), "ok"))
			return json_pointer(entry, "/devices");
	}
	return NULL;
}

static const char *identity_of(const cJSON *device)
{
	const char *address = json_pointer_string(device, "/pciAddress");
	const char *uuid = json_pointer_string(device, "/deviceUuid");
	if (address != NULL)
		return address;
	return uuid != NULL ? uuid : "a device without an identity";
}

/* A part of a device (MIG) has a UUID of its own with CUDA, and the address of the whole. */
static bool is_among(const cJSON *devices, const cJSON *wanted)
{
	static const char *const pointers[] = {"/deviceUuid", "/pciAddress"};
	json_each (device, devices) {
		for (size_t i = 0; i < ARRAY_SIZE(pointers); i++) {
			const char *told = json_pointer_string(wanted, pointers[i]);
			if (told != NULL &&
			    text_equal(told, json_pointer_string(device, pointers[i])))
				return true;
		}
	}
	return false;
}

void agreement_expect(struct check_run *run, const char *label, const cJSON *document)
{
	const cJSON *cuda = shown(document, "cuda");
	const cJSON *nvml = shown(document, "nvml");
	if (cJSON_GetArraySize(cuda) == 0 || nvml == NULL)
		return;
	json_each (device, cuda) {
		bool known = is_among(nvml, device);
		(void)check_expect(run, known,
				   check_format(run, "%s: CUDA's devices through NVML", label),
				   "the same device by UUID or PCI address", "%s, %s by NVML",
				   identity_of(device), known ? "shown" : "not shown");
	}
	json_each (device, nvml) {
		if (!is_among(cuda, device))
			check_note(run, "%s: NVML shows %s, which CUDA does not", label,
				   identity_of(device));
	}
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
