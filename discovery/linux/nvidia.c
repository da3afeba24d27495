/* SPDX-License-Identifier: MIT */
/*
 * The NVIDIA driver's own view: /proc/driver/nvidia/gpus/ADDRESS/information ("Model: Tesla T4",
 * "Device Minor: 0", "GPU Excluded: No") and /proc/driver/nvidia/version. The nodes of MIG
 * administration
 * (/dev/nvidia-caps) are not handed to containers: they configure and watch the whole GPU.
 */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/path.h"
#include "discovery/linux/node.h"
#include "discovery/linux/nvidia_text.h"
#include "discovery/linux/pci.h"

enum { PROC_FILE_MAX = 64 * 1024 };

/* The version of the kernel module; "" when the file is not there. */
static const char *module_version(struct node *node)
{
	char *path CLEANUP_FREE = path_join(node->places->proc, "driver/nvidia/version");
	char *text CLEANUP_FREE = NULL;
	if (path == NULL || file_read(path, PROC_FILE_MAX, &text, NULL, NULL) < 0)
		return "";
	char *version CLEANUP_FREE = nvidia_version_find(text);
	if (version == NULL)
		builder_diagnose(node->builder, path, "holds no module version");
	return builder_string(node->builder, version);
}

/* The device at a PCI address: the one that its DRM node made, or a new one. NULL: out of memory.
 */
static struct discovery_device *nvidia_device(struct node *node, const char *address)
{
	struct builder *builder = node->builder;
	struct discovery_device *device = builder_find_pci(builder, address);
	char *directory CLEANUP_FREE =
		text_format("%s/bus/pci/devices/%s", node->places->sysfs, address);
	if (device != NULL || directory == NULL)
		return device;
	const char *id = builder_new_id(builder, address);
	device = builder_add(builder);
	if (device == NULL)
		return NULL;
	device->id = id;
	pci_describe(builder, directory, address, node_pci_names(node), node->kernel, device);
	return device;
}

static void add_nodes(struct node *node, struct discovery_device *device, long long minor)
{
	char *gpu CLEANUP_FREE = text_format("nvidia%lld", minor);
	if (gpu == NULL)
		return;
	node_add_device_node(node, device, gpu, NODE_REQUIRED);
	node_add_device_node(node, device, "nvidiactl", NODE_REQUIRED);
	node_add_device_node(node, device, "nvidia-modeset", NODE_OPTIONAL);
	size_t before = device->node_count;
	node_add_device_node(node, device, "nvidia-uvm", NODE_OPTIONAL);
	if (device->node_count == before)
		builder_diagnose(node->builder, device->id,
				 "/dev/nvidia-uvm does not exist: CUDA will not start");
	node_add_device_node(node, device, "nvidia-uvm-tools", NODE_OPTIONAL);
}

static void add(struct node *node, const char *address, const char *text, const char *version)
{
	struct builder *builder = node->builder;
	struct discovery_device *device = nvidia_device(node, address);
	struct nvidia_information information = {.minor = DISCOVERY_UNKNOWN};
	if (device == NULL)
		return;
	nvidia_information_parse(text, &information);
	device->vendor = "NVIDIA";
	device->driver_name = "nvidia";
	if (version[0] != '\0')
		device->driver_version = version;
	device->compute = true;
	if (information.model[0] != '\0')
		device->description = builder_string(builder, information.model);
	node_add_apis(node, device);
	if (information.excluded) {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason = "the driver was told to leave this GPU alone";
	}
	if (information.minor != DISCOVERY_UNKNOWN) {
		add_nodes(node, device, information.minor);
	} else {
		device->health = DISCOVERY_UNHEALTHY;
		device->health_reason = "the driver names no device minor";
	}
}

void nvidia_discover(struct node *node)
{
	char *gpus CLEANUP_FREE = path_join(node->places->proc, "driver/nvidia/gpus");
	struct text_list names CLEANUP_TEXT_LIST = {0};
	if (gpus == NULL || file_list(gpus, &names, NULL) < 0)
		return;
	const char *version = module_version(node);
	for (size_t i = 0; i < names.count; i++) {
		char *path CLEANUP_FREE = text_format("%s/%s/information", gpus, names.items[i]);
		char *text CLEANUP_FREE = NULL;
		struct error err = {0};
		if (path == NULL || !pci_address_is_valid(names.items[i]))
			continue;
		if (file_read(path, PROC_FILE_MAX, &text, NULL, &err) < 0)
			builder_diagnose(node->builder, path, "%s", err.text);
		else
			add(node, names.items[i], text, version);
	}
}
