/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Does a plugin's answer change the probe itself, and not only its environment? A document counts
 * only when no part of the answer covers, contains or takes precedence over the probe, its libraries,
 * the dynamic linker and its files, /proc, /sys and the path of the results.
 *
 * Not tampering: the same content at the same place, folders of drivers on LD_LIBRARY_PATH that hold
 * none of the image's libraries, sysfs at its own path, manifests and variables that lead to drivers.
 */

#include "base/text.h"
#include "containers/grant/grant.h"
#include "containers/inspect/inspect.h"

/* Adds one sentence for each mount, device node and variable that changes it. `digests` of the host's files; NULL:
 * none. */
void tamper_find(const struct grant *grant, const struct image_manifest *image,
		 struct digest_cache *digests, struct text_list *found);

/* The same for the places where the answer's mounts really are, and the files that loaders find: links
 * inside of mounts may lead elsewhere than the answer says. `view`: of the container with `grant`, in
 * whose text tamper_find() found nothing. Errors of container_observe(). */
int tamper_find_seen(const struct grant *grant, const struct image_manifest *image,
		     const struct container_view *view, struct text_list *found, struct error *err);

/* Adds the folders that the Vulkan loader reads layers from, and the dynamic linker's files: places
 * that exist in a container only by mounts. */
void tamper_add_loader_places(const struct grant *grant, struct text_list *places);

/* Folders of LD_LIBRARY_PATH that are searched. */
enum { TAMPER_LIBRARY_FOLDERS_MAX = 16 };

/* The same for an answer for Windows containers, by path only: mounts over, above or below the
 * image's programs and the system's base libraries. */
void tamper_find_windows(const struct grant *grant, struct text_list *found);

/* Why a variable of this name changes the probe, whatever its value; NULL: it does not. */
const char *tamper_variable(const char *variable);

/* The value of a variable; the last one wins. NULL: it is not set. */
const char *tamper_value(const struct grant *grant, const char *name);
