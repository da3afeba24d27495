/* SPDX-License-Identifier: MIT */
#pragma once

/* A device's driver key in the registry: HKLM\SYSTEM\CurrentControlSet\Control\Class\{...}\NNNN. */

#include "discovery/builder.h"
#include "discovery/windows/adapter.h"

/* Fills in driver_version and the values of the CopyToVm keys, sorted by name within each key, and
 * leaves the store path empty. A key that is missing has no values; one that cannot be read, and a
 * value that is larger than any can be, are diagnostics. */
void class_key_read(struct builder *builder, struct pnp_device *device);

/* A string value of the driver key: "oem4.inf" of "InfPath". "" when there is none. */
const char *class_key_string(struct builder *builder, const struct pnp_device *device,
			     const char *name);
