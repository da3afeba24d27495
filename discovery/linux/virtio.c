/* SPDX-License-Identifier: MIT */
#include "discovery/linux/virtio.h"

#include "base/cleanup.h"
#include "base/file.h"
#include "discovery/linux/sysfs.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>

/* include/uapi/drm/virtgpu_drm.h of the Linux kernel. */
struct drm_virtgpu_getparam {
	uint64_t param, value; /* the latter an address */
};
#define DRM_IOCTL_VIRTGPU_GETPARAM _IOWR('d', 0x43, struct drm_virtgpu_getparam)
enum { VIRTGPU_PARAM_SUPPORTED_CAPSET_IDS = 7 };

enum { FEATURE_VIRGL = 0, FEATURE_CONTEXT_INIT = 4 };
enum { CAPSET_VIRGL = 1 << 1, CAPSET_VIRGL2 = 1 << 2, CAPSET_VENUS = 1 << 4 };

const char *virtio_gpu_directory(struct node *node, const char *directory)
{
	const char *driver = sysfs_driver(node->builder, directory);
	struct text_list names CLEANUP_TEXT_LIST = {0};

	if (text_equal(driver, "virtio_gpu"))
		return directory;
	if (text_equal(driver, "virtio-pci"))
		(void)file_list(directory, &names, NULL);
	text_each (name, &names) {
		const char *child = builder_path(node->builder, directory, name);
		if (node_number(name, "virtio") >= 0 &&
		    text_equal(sysfs_driver(node->builder, child), "virtio_gpu"))
			return child;
	}
	return NULL;
}

static bool has_feature(const char *features, size_t bit)
{
	return strlen(features) > bit && features[bit] == '1';
}

struct virtio_offer virtio_offer(int64_t capsets, const char *features)
{
	if (!has_feature(features, FEATURE_VIRGL))
		return (struct virtio_offer){0};
	if (capsets < 0)
		return (struct virtio_offer){.opengl =
						     !has_feature(features, FEATURE_CONTEXT_INIT)};
	return (struct virtio_offer){
		.opengl = (capsets & (CAPSET_VIRGL | CAPSET_VIRGL2)) != 0,
		.vulkan = (capsets & CAPSET_VENUS) != 0,
	};
}

void virtio_add_apis(struct node *node, const char *virtio, const char *render,
		     struct discovery_device *device)
{
	const char *features = sysfs_text(node->builder, virtio, "features");
	char *path CLEANUP_FREE = text_format("%s/dri/%s", node->places->dev, render);
	int fd CLEANUP_FD = path != NULL ? open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK) : -1;
	uint64_t value = 0;
	struct drm_virtgpu_getparam parameter = {
		.param = VIRTGPU_PARAM_SUPPORTED_CAPSET_IDS,
		.value = (uint64_t)(uintptr_t)&value,
	};
	int64_t capsets = -1;

	if (fd >= 0 && ioctl(fd, DRM_IOCTL_VIRTGPU_GETPARAM, &parameter) == 0)
		capsets = (int64_t)(value & INT64_MAX);
	struct virtio_offer offer = virtio_offer(capsets, features);
	if (capsets < 0 && has_feature(features, FEATURE_CONTEXT_INIT))
		builder_diagnose(
			node->builder, device->id,
			"the kernel does not report what the virtual GPU can do: no API is "
			"offered");
	if (offer.vulkan)
		builder_add_name(node->builder, &device->apis, "vulkan");
	if (offer.opengl)
		builder_add_name(node->builder, &device->apis, "opengl");
}
