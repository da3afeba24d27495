/* SPDX-License-Identifier: MIT */
#pragma once

/* PCI devices in sysfs (Documentation/ABI/testing/sysfs-bus-pci of the Linux kernel). */

#include "discovery/builder.h"

/* Class codes of PCI devices: a base class, and a base class with its sub-class. */
enum { PCI_BASE_DISPLAY = 0x03, PCI_CLASS_3D = 0x0302 };

/* "0000:03:00.0" */
bool pci_address_is_valid(const char *text);

/*
 * Fills ids, address, vendor name, description, NUMA node, kind, display, detachable, driver name
 * and version from the directory of a PCI device; `address` is its name. `names` is the text of
 * pci.ids or NULL; `kernel` is the release of the kernel, which is the version of drivers that have
 * none of their own.
 */
void pci_describe(struct builder *builder, const char *directory, const char *address,
		  const char *names, const char *kernel, struct discovery_device *device);

/* The name of a device in the text of pci.ids; NULL when it is unknown. Caller frees. */
char *pci_ids_find(const char *text, unsigned vendor, unsigned device);
