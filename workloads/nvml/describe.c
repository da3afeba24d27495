/* SPDX-License-Identifier: MIT */
#include "workloads/nvml/nvml.h"

#include "base/cleanup.h"

#include <string.h>

static int digit_of(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
	return found != NULL && c != '\0' ? (int)(found - digits) : -1;
}

bool nvml_parse_uuid(const char *text, uint8_t out[16])
{
	size_t count = 0;
	if (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0)
		return false;
	for (text += 4; *text != '\0'; text++) {
		const int digit = digit_of(*text);
		if (*text == '-')
			continue;
		if (digit < 0 || count == 32)
			return false;
		out[count / 2] = (uint8_t)(count % 2 == 0 ? digit << 4 : out[count / 2] | digit);
		count++;
	}
	return count == 32;
}

static void add_identity(struct members *members, const struct nvml *nvml, nvml_device device)
{
	char text[NVML_TEXT_MAX + 1] = "";
	uint8_t uuid[16] = {0};
	struct nvml_pci pci = {.domain = 0};
	bool told = nvml->nvmlDeviceGetUUID(device, text, NVML_TEXT_MAX) == NVML_SUCCESS &&
		    nvml_parse_uuid(text, uuid);
	member_bytes(members, "deviceUuid", told ? uuid : NULL, sizeof(uuid));
	if (nvml->nvmlDeviceGetPciInfo(device, &pci) != NVML_SUCCESS) {
		member_null(members, "pciAddress");
		return;
	}
	api_add_pci_address(members, pci.domain, pci.bus & 0xFFu, pci.device & 0xFFu, 0);
	member_hex(members, "vendorId", pci.id & 0xFFFFu, 4);
	member_hex(members, "deviceId", pci.id >> 16, 4);
	member_hex(members, "subSystemId", pci.subsystem_id, 8);
}

cJSON *nvml_describe(const struct nvml *nvml, unsigned index, nvml_device device)
{
	struct members members CLEANUP_MEMBERS = members_new();
	char name[NVML_TEXT_MAX + 1] = "";
	struct nvml_memory memory = {0};
	(void)nvml->nvmlDeviceGetName(device, name, NVML_TEXT_MAX);
	member_number(&members, "index", index);
	member_optional(&members, "name", name);
	member_null(&members, "type");
	member_bool(&members, "software", false);
	add_identity(&members, nvml, device);
	member_optional(&members, "apiVersion", nvml->cuda_version);
	api_add_driver(&members, nvml->driver_version[0] != '\0' ? nvml->driver_version : NULL);
	if (nvml->nvmlDeviceGetMemoryInfo(device, &memory) == NVML_SUCCESS)
		member_number(&members, "memoryBytes", (double)memory.total);
	else
		member_null(&members, "memoryBytes");
	return members_take(&members);
}
