/* SPDX-License-Identifier: MIT */
/* A probe's document, whose writer ran in a container with a stranger's driver, as checks of visibility and agreement read it. */
#include "conformance/checks/visibility.h"

#include "base/cleanup.h"
#include "base/gpu_apis.h"
#include "base/json.h"
#include "reference-plugin/tests/sample_node.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void compare(const struct discovery_snapshot *node, const char *api, const cJSON *shown)
{
	const cJSON *seen = NULL;
	cJSON_ArrayForEach (seen, shown) {
		int address = visibility_same_address(&node->devices[0], seen);
		int model = visibility_same_model(&node->devices[0], seen);
		if (address < -1 || address > 1 || model < -1 || model > 1)
			abort();
		(void)visibility_device(node, api, seen);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct discovery_device devices[1];
	const struct discovery_snapshot node = sample_snapshot(devices, 1);
	devices[0] = sample_device("0000:03:00.0");
	devices[0].pci_address = "0000:03:00.0";
	devices[0].pci_vendor = 0x10de;
	devices[0].pci_device = 0x1eb8;
	cJSON *document CLEANUP_JSON = NULL;
	struct error err = {0};
	if (json_parse((const char *)data, size, &document, &err) < 0)
		return 0;
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		const cJSON *entry = visibility_entry(document, "/apis", api->name);
		compare(&node, api->name, agreement_shown(document, api->name));
		compare(&node, api->name, json_pointer(entry, "/devices"));
	}
	return 0;
}
