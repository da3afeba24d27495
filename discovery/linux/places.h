/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Where this node's facts are. A "host path" is a path as the node itself sees it, as in a snapshot; a
 * "local path" is the same place as this process reaches it, below `root`.
 */

#include "base/text.h"
#include "discovery/include/gpucert/discovery.h"

struct places {
	char *root; /* "" for "/", otherwise without a '/' at its end */
	char *sysfs, *proc, *dev, *opencl_vendors; /* local paths */
	/* Local paths, in the order of the loaders. */
	struct text_list vulkan_icd_directories, egl_vendor_directories;
};

/* ERROR_MEMORY. Free with places_close(), also after an error; `out` is zeroed before. */
int places_open(const struct discovery_options *options, struct places *out, struct error *err);
void places_close(struct places *places);

#define CLEANUP_PLACES __attribute__((cleanup(places_close)))

/* The local path of a host path. NULL: out of memory. Caller frees. */
char *places_local(const struct places *places, const char *host_path);

/* Does a host path exist? */
bool places_exist(const struct places *places, const char *host_path);

/* The host path of a local path, within `local_path`. */
const char *places_host(const struct places *places, const char *local_path);
