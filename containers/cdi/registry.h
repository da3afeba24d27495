/* SPDX-License-Identifier: MIT */
#pragma once

/* The Specs of a node: reads its folders of CDI files as a container runtime does. */

#include "base/arena.h"
#include "containers/cdi/spec.h"

enum {
	CDI_FILES_MAX = 1024,
	CDI_BYTES_MAX = 64 * 1024 * 1024, /* of all files together */
};

struct cdi_file {
	const char *path;
	size_t priority; /* the position of its folder */
	struct cdi_spec spec;
	const char *why; /* why it is not a Spec; NULL: it is one */
};

struct cdi_registry {
	struct arena arena;	/* owns the files and their strings */
	struct cdi_file *files; /* by folder, then by name */
	size_t count;
	struct text_list conflicts; /* devices that two files of one folder have, which makes them
				       unusable: "vendor/class=name: in FILE and FILE" */
};

/*
 * Reads files, and folders with the files *.json and *.yaml directly in them, as a runtime reads
 * /etc/cdi and /var/run/cdi: a device of a later place replaces one of an earlier place, but does
 * not resolve a conflict there (pkg/cdi/cache.go).
 *
 * A file that is not a Spec, or cannot be read, is in `out` with its defect and is not an error.
 * `out` is zeroed; free it with cdi_registry_free(), also after an error. ERROR_LIMIT: more than
 * CDI_FILES_MAX files or CDI_BYTES_MAX bytes; ERROR_IO: a folder that cannot be listed.
 */
int cdi_registry_read(const struct text_list *places, struct cdi_registry *out, struct error *err);

void cdi_registry_free(struct cdi_registry *registry);
