/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Runs a program in an empty root folder, in a mount namespace of its own. The folder gets what the
 * image of a container would hold: the program, a library that it opens by name, and their needs.
 * Then come the read-only mounts and variables of a device, as a runtime applies them; /proc, /sys,
 * /dev/null and /tmp are there too.
 */

#include "base/text.h"

#include <gpucert/discovery.h>

struct bare_root {
	const char *program;		       /* absolute path on this machine */
	const char *library;		       /* "libvulkan.so.1" */
	const struct discovery_device *device; /* NULL: nothing is mounted */
	const char *without_origin;	       /* leave out the files of this origin; NULL: none */
	const char *
		without_destination; /* leave out destinations that match (text_glob); NULL: none */
};

/* What the program wrote to stdout and stderr goes to `output`. Returns its exit code, 128 + its
 * signal, or a negative error code when the root could not be made; ERROR_PERMISSION without the
 * right to mount. */
int bare_root_run(const struct bare_root *root, struct text *output, struct error *err);
