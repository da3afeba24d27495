/* SPDX-License-Identifier: MIT */
#include "discovery/linux/node.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "base/gpu_apis.h"
#include "base/path.h"

#include <string.h>

enum { PCI_IDS_MAX = 16 * 1024 * 1024 };

const char *node_local(const struct node *node, const char *host_path)
{
	char *path CLEANUP_FREE = places_local(node->places, host_path);

	return builder_string(node->builder, path);
}

const char *node_pci_names(struct node *node)
{
	static const char *const paths[] = {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids"};

	for (size_t i = 0; i < ARRAY_SIZE(paths) && !node->pci_names_read; i++) {
		/* Names are a convenience: a node without them is complete. */
		if (file_read(node_local(node, paths[i]), PCI_IDS_MAX, &node->pci_names, NULL,
			      NULL) == 0)
			break;
	}
	node->pci_names_read = true;
	return node->pci_names;
}

void node_add_device_node(struct node *node, struct discovery_device *device, const char *name,
			  enum node_need need)
{
	const char *path = builder_path(node->builder, node->places->dev, name);
	const char *host = places_host(node->places, path);
	bool exists = file_exists(path);
	if (!exists && need == NODE_OPTIONAL)
		return;
	if (!exists && device->health == DISCOVERY_HEALTHY) {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason =
			arena_format(&node->builder->arena, "%s does not exist", host);
	}
	builder_add_node(node->builder, device, host);
}

void node_add_apis(struct node *node, struct discovery_device *device, enum node_engines engines)
{
	for (const struct gpu_api *api = gpu_apis; api->name != NULL; api++) {
		for (const char *const *driver = api->kernel_drivers; *driver != NULL; driver++) {
			if (engines == NODE_COMPUTE_ONLY && !api->compute_only)
				continue;
			if (text_equal(*driver, device->driver_name))
				builder_add_name(node->builder, &device->apis, api->offered);
		}
	}
}

int64_t node_number(const char *name, const char *prefix)
{
	long long number = 0;

	if (!text_starts_with(name, prefix) ||
	    text_to_int64(name + strlen(prefix), "number", 0, INT32_MAX, &number, NULL) < 0)
		return -1;
	return number;
}

int node_discover(const struct discovery_options *options, struct builder *builder,
		  struct error *err)
{
	struct places places CLEANUP_PLACES = {0};
	struct node node = {.places = &places, .builder = builder, .kernel = ""};

	int rc = places_open(options, &places, err);
	if (rc < 0)
		return rc;
	if (!file_is_directory(places.root[0] != '\0' ? places.root : "/"))
		return error_set(err, ERROR_NOT_FOUND, "%s: no such directory", places.root);
	builder->place_prefix = places.root;
	system_describe(&node);
	drm_discover(&node);
	nvidia_discover(&node);
	user_mode_discover(&node);
	if (!options->filter.exclude_software)
		software_discover(&node);
	builder->place_prefix = NULL;
	free(node.pci_names);
	return 0;
}
