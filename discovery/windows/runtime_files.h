/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of a driver that a container needs: what its CopyToVm keys name, in its folder of the
 * driver store. */

#include "discovery/builder.h"
#include "discovery/windows/adapter.h"

/* Sets the driver store path of the device, adds its files and the APIs that they enable. A value
 * that is malformed, and one whose destination an earlier one claimed (whatever the case), costs
 * that value alone and is a diagnostic. In a container there are no files to add. */
void runtime_files_add(struct builder *builder, struct discovery_device *device,
		       const struct pnp_device *source, const char *windows);
