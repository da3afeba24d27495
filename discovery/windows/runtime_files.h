/* SPDX-License-Identifier: MIT */
#pragma once

/* The files of a driver that a container needs: those that its CopyToVm keys name, in its folder of the
 * driver store. */

#include "discovery/builder.h"
#include "discovery/windows/adapter.h"

/* Sets the driver store path of the device, adds its files and the APIs that they enable. A
 * malformed value, and one whose destination an earlier one claimed (without case), is left out and
 * becomes a diagnostic. In a container there are no files to add. */
void runtime_files_add(struct builder *builder, struct discovery_device *device,
		       const struct pnp_device *source, const char *windows);

/* "\SystemRoot\System32\..." becomes "C:\Windows\System32\..." (`windows` is that folder), a
 * leading "\??\" is removed, slashes become backslashes, one at the end is removed. ERROR_FORMAT: not absolute,
 * or with "..", a stream or a share. Caller frees *out. */
int store_path_normalize(const char *path, const char *windows, char **out, struct error *err);

/* Is "HostDriverStore" one of its parts, without case? Then this is a container, into which the host's
 * driver store is mounted under that name (container-non-dx.md), and nothing can be passed on. */
bool store_path_is_in_container(const char *path);
