/* SPDX-License-Identifier: MIT */
#include "workloads/cuda/cuda.h"

static int attribute(const struct cuda *cuda, cuda_device device, enum cuda_attribute what)
{
	int value = 0;
	return cuda->cuDeviceGetAttribute(&value, (int)what, device) == CUDA_SUCCESS ? value : 0;
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
	api_add_pci_address(members, (unsigned)attribute(cuda, device, CUDA_ATTRIBUTE_PCI_DOMAIN),
			    (unsigned)attribute(cuda, device, CUDA_ATTRIBUTE_PCI_BUS) & 0xFFu,
			    (unsigned)attribute(cuda, device, CUDA_ATTRIBUTE_PCI_DEVICE) & 0xFFu,
			    0);
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
	(void)cuda->cuDeviceTotalMem(&memory, device);
	member_number(&members, "index", index);
	member_optional(&members, "name", name);
	member_string(&members, "type",
		      attribute(cuda, device, CUDA_ATTRIBUTE_INTEGRATED) != 0 ? "integrated-gpu"
									      : "discrete-gpu");
	member_bool(&members, "software", false);
	add_identity(&members, cuda, device);
	member_optional(&members, "apiVersion", report->version);
	member_format(&members, "computeCapability", "%d.%d",
		      attribute(cuda, device, CUDA_ATTRIBUTE_CAPABILITY_MAJOR),
		      attribute(cuda, device, CUDA_ATTRIBUTE_CAPABILITY_MINOR));
	api_add_driver(&members, NULL);
	member_number(&members, "computeUnits",
		      attribute(cuda, device, CUDA_ATTRIBUTE_MULTIPROCESSORS));
	member_number(&members, "memoryBytes", (double)memory);
	member_item(&members, "peers", peers_of(cuda, index));
	return members_take(&members);
}
