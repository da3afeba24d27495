/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The controller "dmem" of control groups version 2 (Linux 6.14, Documentation/admin-guide/
 * cgroup-v2.rst, "DMEM"; kernel/cgroup/dmem.c): memory of devices, by region. Which regions there are
 * is the drivers' matter: "drm/0000:03:00.0/vram0" of xe and amdgpu, none of NVIDIA's.
 */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DMEM_REGIONS_MAX = 64, DMEM_NAME_SIZE = 128, DMEM_FILE_MAX = 64 * 1024 };

#define DMEM_NO_LIMIT UINT64_MAX /* "max" */

/* A line of dmem.capacity (of the root alone), dmem.max, dmem.low, dmem.min or dmem.current. */
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

/* The first region of the device at a PCI address; NULL: its driver tells none. */
const struct dmem_region *dmem_find_device(const struct dmem *dmem, const char *pci_address);

/* Of a region in a file ("dmem.current") of a group, which is a directory. A region that the file does
 * not name is ERROR_NOT_FOUND. Errors of file_read(). */
int dmem_read(const char *group, const char *file, const char *region, uint64_t *bytes,
	      struct error *err);
/* Sets dmem.max. ERROR_IO, ERROR_PERMISSION. */
int dmem_limit(const char *group, const char *region, uint64_t bytes, struct error *err);

/* Where this machine has its control groups of version 2, and the controllers there ("cpu dmem memory").
 * Both stay NULL where it has none; caller frees. */
int dmem_find_root(char **root, char **controllers, struct error *err);

/* Makes the group `path` ("/gpucert-XXXXXX") below the root, with the files of the controller; *group
 * is its directory, which the caller frees. Where groups below the root lacked the controller, they have it
 * from now on, until dmem_withdraw(). ERROR_IO, ERROR_PERMISSION. */
int dmem_make_group(const char *root, const char *path, bool *was_there, char **group,
		    struct error *err);
void dmem_withdraw(const char *root);
