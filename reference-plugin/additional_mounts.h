/* SPDX-License-Identifier: MIT */
#ifndef REFERENCE_PLUGIN_ADDITIONAL_MOUNTS_H
#define REFERENCE_PLUGIN_ADDITIONAL_MOUNTS_H

/* Files that the configuration adds to the answer for every device of a vendor. */

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct additional_mount {
	char *vendor;	   /* as discovery names it, compared without case: "NVIDIA" */
	char *source;	   /* absolute path on the node */
	char *destination; /* absolute path in the container */
};

struct additional_mounts {
	struct additional_mount *items;
	size_t count;
};

/* Copies. A NULL destination means the source's path. ERROR_FORMAT: a path that is not absolute or
 * not normalised, or a destination that would hide a part of the container that is not the device's
 * ("/", "/etc", "/usr/lib", ...). ERROR_LIMIT: more than 256 in all. */
int additional_mounts_add(struct additional_mounts *mounts, const char *vendor, const char *source,
			  const char *destination, struct error *err);

bool additional_mount_is_for(const struct additional_mount *mount, const char *vendor);

void additional_mounts_free(struct additional_mounts *mounts);

#endif
