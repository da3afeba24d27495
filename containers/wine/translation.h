/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Translates the launch of a Windows container into that of a Linux container in which Wine runs the
 * program:
 *
 *   program probe-x              wine-run --inside-root ... /libexec/gpucert/probe-x.exe: a display,
 *                                then Wine
 *   mount target C:\a\b          the place of C:\a\b in the image's prefix; case does not matter
 *   mount source C:\a\b          that file of the node: planted over the prefix, or of the prefix
 *   mount source Z:\a\b          /a/b of the host; of the root where Wine's programs see the root
 *   vpci-location-path://...     the software drivers that the device stands for
 *                                (containers/wine/device.h), mounted read-only; no device node
 *   class/GUID, class://GUID     all devices, when the GUID is that of the display interface
 *   environment, annotations     as they are
 *
 * Nothing else makes a driver visible: the image has none. A part that cannot be translated is an error,
 * because Windows could not apply it either.
 */

#include "base/windows_path.h"
#include "containers/launch/launch.h"
#include "containers/wine/node.h"

struct wine_translation {
	struct launch_spec spec; /* for launch_start(); its grant is the translation's own */
	const char **command;
};

#define CLEANUP_WINE_TRANSLATION __attribute__((cleanup(wine_translation_free)))

/* `windows` must outlive the translation. ERROR_ARGUMENT: a path or device that Windows would
 * refuse, with the place; ERROR_NOT_FOUND: a mount source or device that the node does not have. */
int wine_translate(const struct wine_node *node, const struct launch_spec *windows,
		   struct wine_translation *out, struct error *err);

/* The host's place of a path of the node, as of a mount source. Caller frees *out. Errors as above.
 */
int wine_find_file(const struct wine_node *node, const char *text, char **out, struct error *err);
void wine_translation_free(struct wine_translation *translation);

/*
 * Finds a Windows path below a directory of the host, whose file system distinguishes case: a
 * name is the entry that equals it but for the case of ASCII letters (the exact one first), else its
 * lower-case form, so that two spellings of one Windows path are one path. Symbolic links are
 * followed as long as they stay below `directory`; one that leaves it is refused (ERROR_ARGUMENT).
 * *out is absolute; caller frees. *found: it exists. `directory` is absolute.
 */
int wine_place(const struct windows_path *path, const char *directory, char **out, bool *found,
	       struct error *err);
