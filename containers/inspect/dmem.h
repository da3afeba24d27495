/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The controller "dmem" of control groups version 2 (Linux 6.14, Documentation/admin-guide/
 * cgroup-v2.rst, "DMEM"; kernel/cgroup/dmem.c): memory of devices, by region. Drivers define the
 * regions: "drm/0000:03:00.0/vram0" for xe and amdgpu; NVIDIA's driver has none.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DMEM_REGIONS_MAX = 64, DMEM_NAME_SIZE = 128, DMEM_FILE_MAX = 64 * 1024 };

#define DMEM_NO_LIMIT UINT64_MAX /* "max" */

/* A line of dmem.capacity (only in the root), dmem.max, dmem.low, dmem.min or dmem.current. */
struct dmem_region {
	char name[DMEM_NAME_SIZE];
	uint64_t bytes;
};

struct dmem {
	struct dmem_region regions[DMEM_REGIONS_MAX];
	size_t count;
};

/* Lines "REGION BYTES", or "REGION max". ERROR_FORMAT names the line; ERROR_LIMIT: more regions than
 * DMEM_REGIONS_MAX. */
int dmem_parse(const char *text, struct dmem *out, struct error *err);

/* The first region of the device at a PCI address; NULL: its driver reports none. */
const struct dmem_region *dmem_find_device(const struct dmem *dmem, const char *pci_address);

/* Reads the bytes of a region from a file ("dmem.current") of a group, which is a directory.
 * ERROR_NOT_FOUND: the file does not name the region. Errors of file_read(). */
int dmem_read(const char *group, const char *file, const char *region, uint64_t *bytes,
	      struct error *err);
/* Sets dmem.max. ERROR_IO, ERROR_PERMISSION. */
int dmem_limit(const char *group, const char *region, uint64_t bytes, struct error *err);

/* The root of this machine's control groups of version 2, and its controllers ("cpu dmem memory").
 * Both stay NULL where the machine has none; caller frees. */
int dmem_find_root(char **root, char **controllers, struct error *err);

/* Creates the group `path` ("/gpucert-XXXXXX") below the root, with the files of the controller; *group is
 * its directory, which the caller frees. *was_there is false when groups below the root lacked the
 * controller; they then have it until dmem_withdraw(). ERROR_IO, ERROR_PERMISSION. */
int dmem_make_group(const char *root, const char *path, bool *was_there, char **group,
		    struct error *err);
void dmem_withdraw(const char *root);
