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
	char *gpu CLEANUP_FREE = text_format("nvidia%lld", (long long)minor);

	if (gpu == NULL)
		return;
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
	char *path CLEANUP_FREE = path_join(directory, "access");
	char *text CLEANUP_FREE = NULL;
	struct error err = {0};

	int rc = path != NULL ? file_read(path, PROC_FILE_MAX, &text, NULL, &err) : ERROR_MEMORY;
	int64_t minor = rc == 0 ? nvidia_capability_minor(text) : DISCOVERY_UNKNOWN;
	char *name CLEANUP_FREE = text_format("nvidia-caps/nvidia-cap%lld", (long long)minor);
	if (name != NULL && minor != DISCOVERY_UNKNOWN) {
		node_add_device_node(node, device, name, NODE_REQUIRED);
	} else if (device->health == DISCOVERY_HEALTHY) {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason = "the driver does not report the minor number of a MIG "
					"capability";
		builder_diagnose(node->builder, path != NULL ? path : directory, "%s",
				 rc < 0 ? err.text : device->health_reason);
	}
}

/* Adds a device for each compute instance ("ci0") of a GPU instance ("gi1") below `mig`. */
static void add_partitions(struct node *node, const struct discovery_device *gpu, int64_t minor,
			   const char *mig, const char *instance)
{
	char *directory CLEANUP_FREE = path_join(mig, instance);
	struct text_list names CLEANUP_TEXT_LIST = {0};

	if (directory == NULL || file_list(directory, &names, NULL) < 0)
		return;
	text_each (name, &names) {
		char *id CLEANUP_FREE = text_format("%s-%s-%s", gpu->id, instance, name);
		char *part CLEANUP_FREE = path_join(directory, name);
		struct discovery_device *device = NULL;

		if (id != NULL && part != NULL && node_number(name, "ci") >= 0)
			device = builder_add_partition(node->builder, gpu, id);
		if (device == NULL)
			continue;
		device->description = arena_format(&node->builder->arena, "%s MIG %s %s",
						   gpu->description, instance, name);
		node_add_apis(node, device, NODE_COMPUTE_ONLY);
		add_nodes(node, device, minor, PARTITION);
		add_capability(node, device, directory);
		add_capability(node, device, part);
	}
}

static void add(struct node *node, const char *address, const char *text, const char *version)
{
	struct builder *builder = node->builder;
	struct nvidia_information information = {.minor = DISCOVERY_UNKNOWN};
	static const char *const no_apis[] = {NULL};
	char *directory CLEANUP_FREE =
		text_format("%s/bus/pci/devices/%s", node->places->sysfs, address);

	/* The device that was found by its DRM node, or a new one. */
	struct discovery_device *device = builder_find_pci(builder, address);
	if (device == NULL) {
		const char *id = builder_new_id(builder, address);
		device = directory != NULL ? builder_add(builder) : NULL;
		if (device == NULL)
			return;
		device->id = id;
		pci_describe(builder, directory, address, node_pci_names(node), node->kernel,
			     device);
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

	char *mig CLEANUP_FREE = text_format("%s/driver/nvidia/capabilities/gpu%lld/mig",
					     node->places->proc, (long long)information.minor);
	struct text_list names CLEANUP_TEXT_LIST = {0};
	bool divided = false;
	if (mig != NULL)
		(void)file_list(mig, &names, NULL);
	text_each (name, &names) {
		if (node_number(name, "gi") < 0)
			continue;
		add_partitions(node, device, information.minor, mig, name);
		divided = true;
	}
	if (divided) { /* only its parts can be used */
		device->apis = no_apis;
		device->allocatable = false;
		device->not_allocatable_reason =
			"MIG is enabled: only its compute instances can be used";
	}
	add_nodes(node, device, information.minor, WHOLE_GPU);
}

void nvidia_discover(struct node *node)
{
	char *gpus CLEANUP_FREE = path_join(node->places->proc, "driver/nvidia/gpus");
	struct text_list names CLEANUP_TEXT_LIST = {0};

	if (gpus == NULL || file_list(gpus, &names, NULL) < 0)
		return;

	/* The version of the kernel module. */
	char *version_path CLEANUP_FREE = path_join(node->places->proc, "driver/nvidia/version");
	char *version_text CLEANUP_FREE = NULL;
	char *version CLEANUP_FREE = NULL;
	if (version_path != NULL &&
	    file_read(version_path, PROC_FILE_MAX, &version_text, NULL, NULL) == 0) {
		version = nvidia_version_find(version_text);
		if (version == NULL)
			builder_diagnose(node->builder, version_path, "holds no module version");
	}

	text_each (address, &names) {
		char *path CLEANUP_FREE = text_format("%s/%s/information", gpus, address);
		char *text CLEANUP_FREE = NULL;
		struct error err = {0};

		if (path == NULL || !pci_address_is_valid(address))
			continue;
		if (file_read(path, PROC_FILE_MAX, &text, NULL, &err) < 0)
			builder_diagnose(node->builder, path, "%s", err.text);
		else
			add(node, address, text, version != NULL ? version : "");
	}
}
