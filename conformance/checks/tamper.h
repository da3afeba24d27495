/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_TAMPER_H
#define CONFORMANCE_CHECKS_TAMPER_H

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
#include "containers/inspect/manifest.h"
#include "containers/launch/launch.h"

/* Adds one sentence for each mount, device node and variable that does. ERROR_MEMORY; errors of
 * reading a source that is there. */
int tamper_find(const struct launch_spec *spec, const struct image_manifest *image,
		struct text_list *found, struct error *err);

/* The same of an answer for Windows containers, by path alone: mounts over, above or below the
 * image's programs and the system's base libraries. ERROR_MEMORY. */
int tamper_find_windows(const struct launch_spec *spec, struct text_list *found, struct error *err);

/* Of a variable alone, "NAME=value": why it is one, or NULL. For those that the runtime adds. */
const char *tamper_variable(const char *variable);

#endif
