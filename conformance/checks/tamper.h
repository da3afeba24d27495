/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Does a plugin's answer change what the probe is, and not only what it finds? A document counts
 * only when nothing of the answer lies over, above or in front of the probe, its libraries, the
 * dynamic linker and its files, /proc, /sys and the way of the results.
 *
 * What changes nothing is innocent: the same content at the same place, folders of drivers on
 * LD_LIBRARY_PATH that hold none of the image's libraries, sysfs at its own path, manifests and
 * variables that lead to drivers.
 */

#include "base/text.h"
#include "containers/grant/grant.h"
#include "containers/inspect/inspect.h"

/* Adds one sentence for each mount, device node and variable that does. ERROR_MEMORY; errors of
 * reading a source that is there. */
int tamper_find(const struct grant *grant, const struct image_manifest *image,
		struct text_list *found, struct error *err);

/* The same of where the answer's mounts came to lie, which links inside of them may lead elsewhere
 * than they say, and of what loaders find behind such links. `view`: of the container with `grant`,
 * whose text tamper_find() takes for innocent. Errors of container_see(). */
int tamper_find_seen(const struct grant *grant, const struct image_manifest *image,
		     const struct container_view *view, struct text_list *found, struct error *err);

/* Adds the folders that the Vulkan loader reads layers from, and the dynamic linker's files: places
 * of the image that a container has by mounts alone. ERROR_MEMORY. */
int tamper_add_loader_places(const struct grant *grant, struct text_list *places,
			     struct error *err);

/* Folders of LD_LIBRARY_PATH that are looked into. */
enum { TAMPER_LIBRARY_FOLDERS_MAX = 16 };

/* The same of an answer for Windows containers, by path alone: mounts over, above or below the
 * image's programs and the system's base libraries. ERROR_MEMORY. */
int tamper_find_windows(const struct grant *grant, struct text_list *found, struct error *err);

/* Of a variable alone, by its name: why it is one, or NULL. */
const char *tamper_variable(const char *variable);

/* The value of a variable, of which the last one counts; NULL: it is not set. */
const char *tamper_value(const struct grant *grant, const char *name);
