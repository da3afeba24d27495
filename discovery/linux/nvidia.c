/* SPDX-License-Identifier: MIT */
/*
 * The NVIDIA driver's own view: /proc/driver/nvidia/gpus/ADDRESS/information ("Model: Tesla T4",
 * "Device Minor: 0", "GPU Excluded: No") and /proc/driver/nvidia/version.
 *
 * A GPU with MIG enabled is divided: each compute instance of a GPU instance is a device, which needs the GPU's node
 * and the `access` capabilities of both instances (/dev/nvidia-caps; MIG user guide, "Device Nodes and Capabilities").
 * The capabilities `config` and `monitor` administer the whole GPU, and are not handed to containers.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/node.h"
#include "discovery/linux/nvidia_text.h"
#include "discovery/linux/pci.h"

enum { PROC_FILE_MAX = 64 * 1024 };

enum extent { WHOLE_GPU, PARTITION };

static void add_nodes(struct node *node, struct discovery_device *device, int64_t minor,
		      enum extent extent)
{
	const char *gpu = arena_format(&node->builder->arena, "nvidia%lld", (long long)minor);

	node_add_device_node(node, device, gpu, NODE_REQUIRED);
	node_add_device_node(node, device, "nvidiactl", NODE_REQUIRED);
	if (extent == WHOLE_GPU)
		node_add_device_node(node, device, "nvidia-modeset", NODE_OPTIONAL);
	size_t before = device->node_count;
	node_add_device_node(node, device, "nvidia-uvm", NODE_OPTIONAL);
	if (device->node_count == before)
		builder_diagnose(node->builder, device->id,
				 "/dev/nvidia-uvm does not exist: CUDA will not start");
	node_add_device_node(node, device, "nvidia-uvm-tools", NODE_OPTIONAL);
}

/* Adds the node of the capability to use a GPU instance or compute instance. */
static void add_capability(struct node *node, struct discovery_device *device,
			   const char *directory)
{
	const char *path = builder_path(node->builder, directory, "access");
	char *text CLEANUP_FREE = NULL;
	struct error err = {0};

	int rc = file_read(path, PROC_FILE_MAX, &text, NULL, &err);
	int64_t minor = rc == 0 ? nvidia_capability_minor(text) : DISCOVERY_UNKNOWN;
	if (minor != DISCOVERY_UNKNOWN) {
		node_add_device_node(node, device,
				     arena_format(&node->builder->arena,
						  "nvidia-caps/nvidia-cap%lld", (long long)minor),
				     NODE_REQUIRED);
	} else if (device->health == DISCOVERY_HEALTHY) {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason = "the driver does not report the minor number of a MIG "
					"capability";
		builder_diagnose(node->builder, path, "%s",
				 rc < 0 ? err.text : device->health_reason);
	}
}

/* Adds a device for each compute instance ("ci0") of a GPU instance ("gi1") below `mig`. */
static void add_partitions(struct node *node, const struct discovery_device *gpu, int64_t minor,
			   const char *mig, const char *instance)
{
	struct arena *arena = &node->builder->arena;
	const char *directory = builder_path(node->builder, mig, instance);
	struct text_list names CLEANUP_TEXT_LIST = {0};

	(void)file_list(directory, &names, NULL);
	text_each (name, &names) {
		if (node_number(name, "ci") < 0)
			continue;
		struct discovery_device *device = builder_add_partition(
			node->builder, gpu,
			arena_format(arena, "%s-%s-%s", gpu->id, instance, name));
		if (device == NULL)
			continue;
		device->description =
			arena_format(arena, "%s MIG %s %s", gpu->description, instance, name);
		node_add_apis(node, device, NODE_COMPUTE_ONLY);
		add_nodes(node, device, minor, PARTITION);
		add_capability(node, device, directory);
		add_capability(node, device, builder_path(node->builder, directory, name));
	}
}

static void add(struct node *node, const char *address, const char *text, const char *version)
{
	struct builder *builder = node->builder;
	struct nvidia_information information = {.minor = DISCOVERY_UNKNOWN};
	static const char *const no_apis[] = {NULL};

	/* The device that was found by its DRM node, or a new one. */
	struct discovery_device *device = builder_find_pci(builder, address);
	if (device == NULL) {
		const char *id = builder_new_id(builder, address);
		device = builder_add(builder);
		if (device == NULL)
			return;
		device->id = id;
		pci_describe(builder,
			     arena_format(&builder->arena, "%s/bus/pci/devices/%s",
					  node->places->sysfs, address),
			     address, node_pci_names(node), node->kernel, device);
	}

	nvidia_information_parse(text, &information);
	device->vendor = "NVIDIA";
	device->driver_name = "nvidia";
	if (version[0] != '\0')
		device->driver_version = builder_string(builder, version);
	device->compute = true;
	if (information.model[0] != '\0')
		device->description = builder_string(builder, information.model);
	node_add_apis(node, device, NODE_ALL_ENGINES);
	if (information.uuid[0] != '\0')
		device->uuid = builder_string(builder, information.uuid);
	if (information.excluded) {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason = "the driver's configuration excludes this GPU";
	}
	if (information.minor == DISCOVERY_UNKNOWN) {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason = "the driver names no device minor";
		return;
	}

	const char *mig = arena_format(&builder->arena, "%s/driver/nvidia/capabilities/gpu%lld/mig",
				       node->places->proc, (long long)information.minor);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool divided = false;
	(void)file_list(mig, &names, NULL);
	text_each (name, &names) {
		if (node_number(name, "gi") < 0)
			continue;
		add_partitions(node, device, information.minor, mig, name);
		divided = true;
	}
	if (divided) { /* only its partitions can be used */
		device->apis = no_apis;
		device->allocatable = false;
		device->not_allocatable_reason =
			"MIG is enabled: only its compute instances can be used";
	}
	add_nodes(node, device, information.minor, WHOLE_GPU);
}

void nvidia_discover(struct node *node)
{
	struct builder *builder = node->builder;
	const char *gpus = builder_path(builder, node->places->proc, "driver/nvidia/gpus");
	struct text_list names CLEANUP_TEXT_LIST = {0};

	if (file_list(gpus, &names, NULL) < 0)
		return;

	/* The version of the kernel module. */
	const char *version_path =
		builder_path(builder, node->places->proc, "driver/nvidia/version");
	char *version_text CLEANUP_FREE = NULL;
	char *version CLEANUP_FREE = NULL;
	if (file_read(version_path, PROC_FILE_MAX, &version_text, NULL, NULL) == 0) {
		version = nvidia_version_find(version_text);
		if (version == NULL)
			builder_diagnose(builder, version_path, "holds no module version");
	}

	text_each (address, &names) {
		char *text CLEANUP_FREE = NULL;
		struct error err = {0};

		if (!pci_address_is_valid(address))
			continue;
		const char *path =
			arena_format(&builder->arena, "%s/%s/information", gpus, address);
		if (file_read(path, PROC_FILE_MAX, &text, NULL, &err) < 0)
			builder_diagnose(builder, path, "%s", err.text);
		else
			add(node, address, text, version != NULL ? version : "");
	}
}
