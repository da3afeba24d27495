/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Puts DirectX adapters and plug-and-play devices together, on the LUID, to the devices of a
 * snapshot. Nothing is dropped in silence: what has no partner, what is malformed, and which file
 * lost its destination to another becomes a diagnostic.
 */

#include "discovery/builder.h"
#include "discovery/windows/adapter.h"

struct windows_hardware {
	const struct adapter *adapters;
	size_t adapter_count;
	const struct pnp_device *devices;
	size_t device_count;
	bool adapters_are_complete; /* DXCore listed them: a device without adapter has none */
	const char *windows;	    /* the Windows folder: "C:\Windows" */
};

void windows_assemble(const struct windows_hardware *hardware, struct builder *builder);
