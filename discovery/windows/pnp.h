/* SPDX-License-Identifier: MIT */
#pragma once

/* Present devices of the display class and the compute accelerator class, as the plug-and-play
 * manager knows them. */

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
