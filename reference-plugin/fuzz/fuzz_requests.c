/* SPDX-License-Identifier: MIT */
/* Any bytes as an AllocateRequest or a PreferredAllocationRequest (the first byte selects which) to
 * a node with three devices. */
#include "base/cleanup.h"
#include "reference-plugin/answer/calls.h"
#include "reference-plugin/tests/sample_node.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_event(const char *event, const struct inventory_device *device, void *user)
{
	(void)event;
	(void)device;
	(void)user;
}

static void fill(struct inventory *inventory)
{
	static const struct discovery_node nodes[] = {{"/dev/a", "/dev/a", "rw"},
						      {"/dev/b", "/dev/b", "rw"}};
	static const struct discovery_variable paths[] = {{"VK_DRIVER_FILES", "/a:/b"},
							  {"VK_DRIVER_FILES", "/b:/c"}};
	static struct discovery_device devices[3];
	struct discovery_snapshot snapshot = sample_snapshot(devices, 3);
	devices[0] = sample_device("a");
	devices[1] = sample_device("b");
	devices[2] = sample_device("0000:03:00.0");
	for (size_t i = 0; i < 2; i++) {
		devices[i].nodes = &nodes[i];
		devices[i].node_count = 1;
		devices[i].environment = &paths[i];
		devices[i].variable_count = 1;
	}
	devices[2].health = DISCOVERY_UNHEALTHY;
	devices[1].numa_node = 1;
	snapshot.recorded = true;
	if (inventory_update(inventory, &snapshot, 0, ignore_event, NULL, NULL) != 0)
		abort();
}

static void try_allocate(const struct inventory *inventory, const uint8_t *data, size_t size)
{
	static const struct answer_rules none;
	struct allocation allocation CLEANUP(allocation_free) = {0};
	struct error err = {0};
	V1beta1__AllocateRequest *request = v1beta1__allocate_request__unpack(NULL, size, data);
	if (request == NULL)
		return;
	if (allocate(inventory, INVENTORY_DISPLAY, &none, request, &allocation, &err) == 0) {
		if (allocation.message.n_container_responses != request->n_container_requests)
			abort();
		(void)v1beta1__allocate_response__get_packed_size(&allocation.message);
	} else if (err.text[0] == '\0') {
		abort();
	}
	v1beta1__allocate_request__free_unpacked(request, NULL);
}

static void try_prefer(const struct inventory *inventory, const uint8_t *data, size_t size)
{
	V1beta1__PreferredAllocationResponse *response = NULL;
	struct error err = {0};
	V1beta1__PreferredAllocationRequest *request =
		v1beta1__preferred_allocation_request__unpack(NULL, size, data);
	if (request == NULL)
		return;
	if (prefer(inventory, INVENTORY_DISPLAY, PREFER_PACK, request, &response, &err) == 0) {
		for (size_t i = 0; i < request->n_container_requests; i++) {
			if (response->container_responses[i]->n_deviceids >
			    (size_t)request->container_requests[i]->allocation_size)
				abort();
		}
	} else if (err.text[0] == '\0') {
		abort();
	}
	v1beta1__preferred_allocation_response__free_unpacked(response, NULL);
	v1beta1__preferred_allocation_request__free_unpacked(request, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct inventory inventory CLEANUP(inventory_free) = {.replicas = 4};
	if (size == 0)
		return 0;
	fill(&inventory);
	if (data[0] % 2 == 0)
		try_allocate(&inventory, data + 1, size - 1);
	else
		try_prefer(&inventory, data + 1, size - 1);
	return 0;
}
