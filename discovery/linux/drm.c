/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/path.h"
#include "discovery/linux/kfd.h"
#include "discovery/linux/node.h"
#include "discovery/linux/pci.h"
#include "discovery/linux/sysfs.h"
#include "discovery/linux/virtio.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* Kernel drivers for tests, whose render nodes belong to no GPU. */
static const char *const drm_not_gpus[] = {"vgem", "vkms", NULL};

static void describe_pci(struct node *node, const char *directory, const char *driver_directory,
			 struct discovery_device *device)
{
	enum { METRICS_MAX = 64 * 1024, REVISION_AT = 2, FIRST_INTEGRATED = 2 };
	struct builder *builder = node->builder;

	pci_describe(builder, directory, path_base(directory), node_pci_names(node), node->kernel,
		     device);
	if (text_equal(device->driver_name, "amdgpu")) {
		const char *product = sysfs_text(builder, directory, "product_name");
		const char *path = builder_path(builder, directory, "gpu_metrics");
		char *metrics CLEANUP_FREE = NULL;
		size_t size = 0;

		device->dedicated_memory =
			sysfs_number(builder, directory, "mem_info_vram_total", INT64_MAX);
		device->shared_memory =
			sysfs_number(builder, directory, "mem_info_gtt_total", INT64_MAX);
		if (product[0] != '\0')
			device->description = product;
		/*
		 * The metrics table begins with its size (two bytes) and the revision of its format:
		 * 1 on discrete GPUs, 2 and above on processors with a GPU (kgd_pp_interface.h of the
		 * Linux kernel). Reading it would wake a sleeping device; those are discrete, since
		 * the GPU of a running processor does not sleep on its own bus.
		 */
		if (!text_equal(sysfs_text(builder, directory, "power/runtime_status"),
				"suspended"))
			device->integrated =
				file_read(path, METRICS_MAX, &metrics, &size, NULL) == 0 &&
				size > REVISION_AT && metrics[REVISION_AT] >= FIRST_INTEGRATED;
	} else if (text_equal(device->vendor, "Intel")) {
		/* The integrated GPU is device 2 of the root bus; discrete ones are behind a port. */
		device->integrated = text_ends_with(device->pci_address, ":00:02.0");
	}
	/* The driver of a virtio device is found on its own bus, below its PCI transport. */
	if (!text_equal(directory, driver_directory)) {
		device->driver_name = sysfs_driver(builder, driver_directory);
		device->driver_version = node->kernel;
	}
}

/* GPUs of systems on a chip: part of the processor, named by the device tree ("arm,mali-bifrost").
 */
static void describe_platform(struct node *node, const char *directory,
			      struct discovery_device *device)
{
	struct builder *builder = node->builder;
	char *compatible CLEANUP_FREE =
		memory_copy(sysfs_text(builder, directory, "of_node/compatible"));

	device->kind = DISCOVERY_DISPLAY;
	device->display = true;
	device->integrated = true;
	device->driver_name = sysfs_driver(builder, directory);
	device->driver_version = node->kernel;
	device->description = path_base(directory);
	if (compatible != NULL && strchr(compatible, ',') != NULL) {
		device->description = builder_string(builder, compatible);
		*strchr(compatible, ',') = '\0';
		device->vendor = builder_string(builder, compatible);
	}
	device->description = builder_string(builder, device->description);
}

/* A device whose engines are unknown counts as having all. */
static enum node_engines find_engines(struct node *node, const char *directory, const char *render,
				      struct discovery_device *device)
{
	int64_t class = sysfs_number(node->builder, directory, "class", 0xffffff);
	const struct kfd_node *kfd = node_find_kfd(node, render);
	bool compute_only = class != DISCOVERY_UNKNOWN && class >> 16 != PCI_BASE_DISPLAY;

	if (text_equal(device->driver_name, "amdgpu")) {
		compute_only = compute_only || (kfd != NULL && kfd_is_compute_only(kfd));
	} else if (text_equal(device->vendor, "Intel")) {
		/* Data Center GPU Max has no render engine (pvc_info of i915_pci.c). The engines are
		 * listed by i915 (drm/card0/engine/rcs0) or by xe (tile0/gt0/engines/rcs). */
		const char *drm = builder_path(node->builder, directory, "drm");
		struct text_list names CLEANUP_TEXT_LIST = {0};
		struct text_list engines CLEANUP_TEXT_LIST = {0};
		bool renders = false;
		(void)file_list(builder_path(node->builder, directory, "tile0/gt0/engines"),
				&engines, NULL);
		(void)file_list(drm, &names, NULL);
		text_each (name, &names)
			(void)file_list(
				arena_format(&node->builder->arena, "%s/%s/engine", drm, name),
				&engines, NULL);
		text_each (engine, &engines)
			renders = renders || text_starts_with(engine, "rcs");
		compute_only = compute_only || (engines.count != 0 && !renders);
	}
	if (!compute_only)
		return NODE_ALL_ENGINES;
	device->kind = DISCOVERY_COMPUTE;
	device->display = false;
	return NODE_COMPUTE_ONLY;
}

/* The render node itself, then the display node of the same device: programs that open the primary
 * node (media stacks, X servers) expect it, and both belong to one device. */
static void add_nodes(struct node *node, const char *directory, const char *render,
		      struct discovery_device *device)
{
	struct arena *arena = &node->builder->arena;
	struct text_list names CLEANUP_TEXT_LIST = {0};

	node_add_device_node(node, device, arena_format(arena, "dri/%s", render), NODE_REQUIRED);
	(void)file_list(builder_path(node->builder, directory, "drm"), &names, NULL);
	text_each (name, &names) {
		if (node_number(name, "card") >= 0)
			node_add_device_node(node, device, arena_format(arena, "dri/%s", name),
					     NODE_OPTIONAL);
	}
	if (text_equal(device->driver_name, "amdgpu"))
		node_add_device_node(node, device, "kfd", NODE_OPTIONAL);
}

/* A partition of an AMD GPU (CPX, DPX, ...) is a platform device. The kernel creates as many as the GPU
 * could have, and amdkfd reports those in use. */
static void add_partition(struct node *node, const char *directory, const char *render)
{
	struct builder *builder = node->builder;
	const struct kfd_node *kfd = node_find_kfd(node, render);
	struct discovery_device *gpu = NULL;

	for (size_t i = 0; kfd != NULL && gpu == NULL && i < builder->device_count; i++) {
		if (text_equal(builder->devices[i]->driver_name, "amdgpu") &&
		    kfd_is_at(kfd, builder->devices[i]->pci_address))
			gpu = builder->devices[i];
	}
	if (gpu == NULL)
		return;
	struct discovery_device *device = builder_add_partition(
		builder, gpu,
		arena_format(&builder->arena, "%s-%s", gpu->pci_address, path_base(directory)));
	if (device == NULL)
		return;
	/* The memory that the GPU reports is that of all partitions. */
	gpu->dedicated_memory = gpu->shared_memory = DISCOVERY_UNKNOWN;
	node_add_apis(node, device, NODE_COMPUTE_ONLY);
	add_nodes(node, directory, render, device);
}

static void add_device(struct node *node, const char *directory, const char *render)
{
	struct builder *builder = node->builder;

	/* The directory of the PCI device that is, or carries, this one; NULL: neither. */
	char *parent CLEANUP_FREE = path_directory(directory);
	const char *pci = NULL;
	if (pci_address_is_valid(path_base(directory)))
		pci = directory;
	else if (parent != NULL && text_starts_with(path_base(directory), "virtio") &&
		 pci_address_is_valid(path_base(parent)))
		pci = parent;

	/* A GPU with several render nodes is one device. */
	struct discovery_device *device =
		pci != NULL ? builder_find_pci(builder, path_base(pci)) : NULL;
	if (device != NULL) {
		node_add_device_node(node, device, arena_format(&builder->arena, "dri/%s", render),
				     NODE_REQUIRED);
		return;
	}

	const char *id = builder_new_id(builder, path_base(pci != NULL ? pci : directory));
	device = builder_add(builder);
	if (device == NULL)
		return;
	device->id = id;
	if (pci != NULL)
		describe_pci(node, pci, directory, device);
	else
		describe_platform(node, directory, device);
	const char *virtio = virtio_gpu_directory(node, directory);
	if (virtio != NULL) {
		device->kind = DISCOVERY_VIRTUAL;
		device->driver_name = "virtio_gpu";
		device->driver_version = node->kernel;
		virtio_add_apis(node, virtio, render, device);
	} else {
		node_add_apis(node, device,
			      find_engines(node, pci != NULL ? pci : directory, render, device));
	}
	device->compute = device->apis[0] != NULL;
	add_nodes(node, directory, render, device);
}

static void add_all(struct node *node, const char *class, const struct text_list *names,
		    bool partitions)
{
	text_each (name, names) {
		char directory[PATH_MAX] = "";

		if (node_number(name, "renderD") < 0)
			continue;
		const char *link = arena_format(&node->builder->arena, "%s/%s/device", class, name);
		if (realpath(link, directory) == NULL) {
			if (!partitions)
				builder_diagnose(node->builder, link, "%s", strerror(errno));
			continue;
		}
		if (partitions != text_starts_with(path_base(directory), "amdgpu_xcp"))
			continue;
		const char *driver = sysfs_driver(node->builder, directory);
		if (partitions)
			add_partition(node, directory, name);
		else if (drm_not_gpus[text_position(drm_not_gpus, driver)] == NULL &&
			 drm_not_gpus[text_position(drm_not_gpus, path_base(directory))] == NULL)
			add_device(node, directory, name);
	}
}

void drm_discover(struct node *node)
{
	const char *class = builder_path(node->builder, node->places->sysfs, "class/drm");
	struct text_list names CLEANUP_TEXT_LIST = {0};
	struct error err = {0};

	int rc = file_list(class, &names, &err);
	if (rc < 0 && rc != ERROR_NOT_FOUND)
		builder_diagnose(node->builder, class, "%s", err.text);
	/* A partition needs the GPU that it belongs to. */
	add_all(node, class, &names, false);
	add_all(node, class, &names, true);
}
