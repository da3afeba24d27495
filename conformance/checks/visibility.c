/* SPDX-License-Identifier: MIT */
#include "conformance/checks/visibility.h"

#include "base/json.h"
#include "base/text.h"

#include <string.h>

const char *const visibility_apis[] = {"vulkan", "opencl", "cuda", NULL};

/* The entry of one API in `apis`; NULL when the probe does not know it. */
static const cJSON *visibility_entry(const cJSON *document, const char *api)
{
	const cJSON *entry = NULL;

	cJSON_ArrayForEach (entry, json_pointer(document, "/apis")) {
		const char *name = cJSON_GetStringValue(json_pointer(entry, "/api/name"));

		if (text_equal(name, api))
			return entry;
	}
	return NULL;
}

static bool visibility_is_granted_address(const struct grant *grant, const char *api,
					  const char *address)
{
	for (size_t i = 0; i < grant->count; i++) {
		if (grant_device_offers(grant->devices[i], api) &&
		    text_equal(grant->devices[i]->pci_address, address))
			return true;
	}
	return false;
}

static bool visibility_expect_told(struct check_run *run, const char *what, const cJSON *entry)
{
	const char *status = cJSON_GetStringValue(json_pointer(entry, "/api/status"));
	const char *reason = cJSON_GetStringValue(json_pointer(entry, "/api/reason"));
	bool told = text_equal(status, "ok") || text_equal(status, "unsupported");

	return check_expect(run, told, what, "told", "%s (%s)", status != NULL ? status : "nothing",
			    reason != NULL ? reason : "no reason");
}

void visibility_expect_api(struct check_run *run, const char *label, const cJSON *document,
			   const char *api, const struct grant *grant)
{
	const cJSON *entry = visibility_entry(document, api);
	const cJSON *devices = json_pointer(entry, "/devices");
	const cJSON *device = NULL;
	char *what CLEANUP_FREE = text_format("%s: devices through %s", label, api);

	if (what == NULL) {
		check_broken(run, "out of memory");
		return;
	}
	if (!visibility_expect_told(run, what, entry))
		return;
	(void)check_expect_int(run, what, cJSON_GetArraySize(devices),
			       (long long)grant_count(grant, api));
	cJSON_ArrayForEach (device, devices) {
		const char *address = cJSON_GetStringValue(json_pointer(device, "/pciAddress"));

		if (address != NULL)
			(void)check_expect(run, visibility_is_granted_address(grant, api, address),
					   what, "at the PCI address of a granted device", "%s",
					   address);
	}
}

/* WARP: 1414:008c. */
static bool visibility_is_basic_render_driver(const cJSON *device)
{
	return text_equal(cJSON_GetStringValue(json_pointer(device, "/vendorId")), "0x1414") &&
	       text_equal(cJSON_GetStringValue(json_pointer(device, "/deviceId")), "0x008c");
}

void visibility_expect_dxgi(struct check_run *run, const char *label, const cJSON *document,
			    const struct grant *grant)
{
	const cJSON *entry = visibility_entry(document, "dxgi");
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
	(void)check_expect_int(run, what, seen, (long long)grant_count(grant, "directx"));
}

static bool visibility_is_granted(const struct grant *grant, const char *path)
{
	for (size_t i = 0; i < grant->count; i++) {
		for (size_t j = 0; j < grant->devices[i]->node_count; j++) {
			if (strcmp(grant->devices[i]->nodes[j].container_path, path) == 0)
				return true;
		}
	}
	return false;
}

static bool visibility_has_node(const cJSON *document, const char *path)
{
	const cJSON *node = NULL;

	cJSON_ArrayForEach (node, json_pointer(document, "/nodes")) {
		if (text_equal(cJSON_GetStringValue(json_pointer(node, "/path")), path))
			return true;
	}
	return false;
}

void visibility_expect_nodes(struct check_run *run, const char *label, const cJSON *document,
			     const struct grant *grant)
{
	const cJSON *nodes = json_pointer(document, "/nodes");
	const cJSON *node = NULL;

	(void)check_expect(run, cJSON_IsArray(nodes), "/nodes", "told", "%d GPU device nodes in %s",
			   cJSON_GetArraySize(nodes), label);
	cJSON_ArrayForEach (node, nodes) {
		const char *path = cJSON_GetStringValue(json_pointer(node, "/path"));

		(void)check_expect(run, path != NULL && visibility_is_granted(grant, path),
				   "GPU device node in /dev", "granted to this container", "%s",
				   path != NULL ? path : "(no path)");
	}
	for (size_t i = 0; i < grant->count; i++) {
		for (size_t j = 0; j < grant->devices[i]->node_count; j++) {
			const char *path = grant->devices[i]->nodes[j].container_path;

			(void)check_expect(run, visibility_has_node(document, path), path,
					   "there in the container", "%s",
					   visibility_has_node(document, path) ? "there"
									       : "missing");
		}
	}
}

void visibility_expect_same_devices(struct check_run *run, const cJSON *first, const cJSON *second)
{
	for (size_t i = 0; visibility_apis[i] != NULL; i++) {
		const cJSON *devices[2] = {
			json_pointer(visibility_entry(first, visibility_apis[i]), "/devices"),
			json_pointer(visibility_entry(second, visibility_apis[i]), "/devices"),
		};

		for (int j = 0; j < cJSON_GetArraySize(devices[0]); j++) {
			const cJSON *one = cJSON_GetArrayItem(devices[0], j);
			const cJSON *other = cJSON_GetArrayItem(devices[1], j);

			(void)check_expect_text(run, "name",
						cJSON_GetStringValue(json_pointer(other, "/name")),
						cJSON_GetStringValue(json_pointer(one, "/name")));
			(void)check_expect_text(
				run, "deviceUuid",
				cJSON_GetStringValue(json_pointer(other, "/deviceUuid")),
				cJSON_GetStringValue(json_pointer(one, "/deviceUuid")));
		}
	}
}
