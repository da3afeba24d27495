/* SPDX-License-Identifier: MIT */
#pragma once

/* Files that the configuration adds to the answer for every device of a vendor. */

#include "base/error.h"

#include <stddef.h>

enum additional_mount_kind {
	ADDITIONAL_MOUNT_LINUX,	   /* from anywhere on the node to anywhere in the container */
	ADDITIONAL_MOUNT_SYSTEM32, /* from the device's driver store into C:\Windows\System32 */
	ADDITIONAL_MOUNT_SYSWOW64, /* the same for 32-bit programs: into C:\Windows\SysWOW64 */
};

struct additional_mount {
	enum additional_mount_kind kind;
	char *vendor; /* as in discovery/filter.h */
	char *source; /* Linux: absolute path on the node; Windows: relative to the directory of
			 the device's driver in the driver store, with backslashes */
	char *destination; /* absolute path in the container */
};

enum { ADDITIONAL_MOUNTS_MAX = 256 };

struct additional_mounts {
	struct additional_mount items[ADDITIONAL_MOUNTS_MAX];
	size_t count;
};

/* Copies. A NULL destination means the source's path on Linux and its file name on Windows.
 * ERROR_FORMAT: on Linux a path that is not absolute or not normalised, or a destination that would
 * hide a part of the container that is not the device's ("/", "/etc", "/usr/lib", ...); on Windows
 * a source that does not stay in the driver's directory, or a destination that is more than a file
 * name. ERROR_LIMIT: more than ADDITIONAL_MOUNTS_MAX. */
int additional_mounts_add(struct additional_mounts *mounts, enum additional_mount_kind kind,
			  const char *vendor, const char *source, const char *destination,
			  struct error *err);

void additional_mounts_free(struct additional_mounts *mounts);
