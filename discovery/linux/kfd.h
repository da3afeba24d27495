/* SPDX-License-Identifier: MIT */
#pragma once

/* AMD's compute driver (amdkfd) reports each GPU, and each partition of one, as a node of its topology:
 * /sys/class/kfd/kfd/topology/nodes/N/properties, lines of a name and a number. */

#include <stdbool.h>
#include <stdint.h>

struct kfd_node {
	int64_t render; /* N of renderDN; partitions that are not in use have no node */
	int64_t gfx;	/* gfx_target_version: 90402 is gfx942 */
	int64_t domain,
		location; /* of PCI: bus << 8 | device << 3; the other bits may hold the partition */
};

/* False: it is a processor's node, or incomplete. */
bool kfd_node_parse(const char *text, struct kfd_node *out);

/* Does it lack a graphics engine, as the accelerators of the CDNA family: gfx908 (MI100), gfx90a (MI200),
 * gfx94x (MI300) and gfx95x (MI350)? */
bool kfd_is_compute_only(const struct kfd_node *kfd);

/* Is it the GPU at this PCI address ("0000:05:00.0"), or a partition of it? */
bool kfd_is_at(const struct kfd_node *kfd, const char *pci_address);
