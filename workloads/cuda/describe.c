/* SPDX-License-Identifier: MIT */
#include "workloads/cuda/cuda.h"

#include "base/cleanup.h"

/* Those that follow; false when one is not told. */
static bool attributes(const struct cuda *cuda, cuda_device device,
		       const enum cuda_attribute *which, size_t count, int *values)
{
	for (size_t i = 0; i < count; i++)
		if (cuda->cuDeviceGetAttribute(&values[i], (int)which[i], device) != CUDA_SUCCESS)
			return false;
	return true;
}

static void add_attributes(struct members *members, const struct cuda *cuda, cuda_device device)
{
	static const enum cuda_attribute which[] = {
		CUDA_ATTRIBUTE_INTEGRATED,
		CUDA_ATTRIBUTE_CAPABILITY_MAJOR,
		CUDA_ATTRIBUTE_CAPABILITY_MINOR,
		CUDA_ATTRIBUTE_MULTIPROCESSORS,
	};
	int told[ARRAY_SIZE(which)] = {0};
	if (!attributes(cuda, device, which, ARRAY_SIZE(which), told)) {
		member_null(members, "type");
		member_null(members, "computeCapability");
		return;
	}
	member_string(members, "type", told[0] != 0 ? "integrated-gpu" : "discrete-gpu");
	member_format(members, "computeCapability", "%d.%d", told[1], told[2]);
	member_number(members, "computeUnits", told[3]);
}

static void add_address(struct members *members, const struct cuda *cuda, cuda_device device)
{
	static const enum cuda_attribute which[] = {
		CUDA_ATTRIBUTE_PCI_DOMAIN, CUDA_ATTRIBUTE_PCI_BUS, CUDA_ATTRIBUTE_PCI_DEVICE};
	int told[ARRAY_SIZE(which)] = {0};
	if (attributes(cuda, device, which, ARRAY_SIZE(which), told))
		api_add_pci_address(members, (unsigned)told[0], (unsigned)told[1] & 0xFFu,
				    (unsigned)told[2] & 0xFFu, 0);
	else
		member_null(members, "pciAddress");
}

static void add_identity(struct members *members, const struct cuda *cuda, cuda_device device)
{
	struct cuda_uuid uuid = {{0}};
	char luid[8] = "";
	unsigned nodes = 0;
	bool has_uuid = cuda->cuDeviceGetUuid != NULL &&
			cuda->cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS;
	bool has_luid = cuda->cuDeviceGetLuid != NULL &&
			cuda->cuDeviceGetLuid(luid, &nodes, device) == CUDA_SUCCESS;
	member_bytes(members, "deviceUuid", has_uuid ? uuid.bytes : NULL, sizeof(uuid.bytes));
	if (has_luid)
		member_bytes(members, "deviceLuid", (const uint8_t *)luid, sizeof(luid));
	add_address(members, cuda, device);
}

/* The other visible devices whose memory this one reaches directly. */
static cJSON *peers_of(const struct cuda *cuda, int index)
{
	struct members peers CLEANUP_MEMBERS = members_new_array();
	for (int i = 0; i < cuda->device_count; i++) {
		int can = 0;
		if (i != index &&
		    cuda->cuDeviceCanAccessPeer(&can, cuda->devices[index], cuda->devices[i]) ==
			    CUDA_SUCCESS &&
		    can != 0)
			member_number(&peers, NULL, i);
	}
	return members_take(&peers);
}

cJSON *cuda_describe(const struct cuda *cuda, const struct api_report *report, int index)
{
	struct members members CLEANUP_MEMBERS = members_new();
	const cuda_device device = cuda->devices[index];
	char name[256] = "";
	size_t memory = 0;
	(void)cuda->cuDeviceGetName(name, sizeof(name) - 1, device);
	member_number(&members, "index", index);
	member_optional(&members, "name", name);
	member_bool(&members, "software", false);
	add_identity(&members, cuda, device);
	member_optional(&members, "apiVersion", report->version);
	add_attributes(&members, cuda, device);
	api_add_driver(&members, NULL);
	if (cuda->cuDeviceTotalMem(&memory, device) == CUDA_SUCCESS)
		member_number(&members, "memoryBytes", (double)memory);
	else
		member_null(&members, "memoryBytes");
	member_item(&members, "peers", peers_of(cuda, index));
	return members_take(&members);
}
