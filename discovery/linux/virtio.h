/* SPDX-License-Identifier: MIT */
#pragma once

/* GPUs that a hypervisor emulates (virtio-gpu): their abilities depend on the host. */

#include "discovery/linux/node.h"

/* The directory of the virtio device that virtio_gpu drives: `directory` itself, or one below that PCI
 * device, in the builder's arena. NULL: none. */
const char *virtio_gpu_directory(struct node *node, const char *directory);

/*
 * Adds the APIs that work through the render node: OpenGL by virgl, Vulkan by Venus. The kernel reports
 * for the render node which of them the host offers (DRM_IOCTL_VIRTGPU_GETPARAM). Otherwise the features
 * of the virtio device decide: 3D commands are those of virgl unless contexts of several kinds exist. A
 * card without 3D offers nothing.
 */
void virtio_add_apis(struct node *node, const char *virtio, const char *render,
		     struct discovery_device *device);

/* The APIs that a card offers. `capsets`: bit N for the capability set N (virtio specification, 5.7.6.8),
 * -1 where the kernel does not report them; `features`: the bits in order, as characters. */
struct virtio_offer {
	bool opengl, vulkan;
};
struct virtio_offer virtio_offer(int64_t capsets, const char *features);
