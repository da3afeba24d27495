/* SPDX-License-Identifier: MIT */
#pragma once

/* Present devices of the display class and the compute accelerator class, from the plug-and-play
 * manager. */

#include "discovery/builder.h"
#include "discovery/windows/adapter.h"

struct pnp_devices {
	struct builder *builder;
	struct pnp_device *items;
	size_t count;
};

/* A property of the wrong type, or a device that cannot be read, becomes a diagnostic. ERROR_IO:
 * the manager itself cannot be asked. */
int pnp_list(struct pnp_devices *devices, struct error *err);

/* Fills in driver version, date and INF and the values of the CopyToVm keys, sorted by name within each
 * key, from the device's driver key in the registry
 * (HKLM\SYSTEM\CurrentControlSet\Control\Class\{...}\NNNN), and leaves the store path empty. A missing
 * key has no values; an unreadable key and a value that is too large become diagnostics. */
void class_key_read(struct builder *builder, struct pnp_device *device);
