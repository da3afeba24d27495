/* SPDX-License-Identifier: MIT */
#pragma once

/* Which programs start a container: the one that serves the CRI, its shim and the low-level
 * runtime. Known from the runtime's own configuration and the process at the other end of its
 * socket, so it holds for a private runtime and for an existing one. */

#include "containers/runtime/runtime.h"

struct runtime_identity {
	char *file; /* the daemon's program, where this process can read it */
	char *shim; /* "containerd-shim-runc-v2 1.6.20~ds1" */
	char *shim_file;
	char *oci; /* "runc 1.1.5+ds1" */
	char *oci_file;
	char *unknown; /* why some of these are NULL; NULL when none is */
};

#define CLEANUP_RUNTIME_IDENTITY __attribute__((cleanup(runtime_identity_free)))
void runtime_identity_free(struct runtime_identity *identity);

/* For sandboxes of `handler` (NULL or "": the runtime's default). Unknown members are NULL. */
void runtime_identify(struct runtime *runtime, const char *handler, struct runtime_identity *out);

/* Adds the folders in which the runtime looks for CDI Specs, as in struct runtime_options: those that
 * its configuration names, otherwise CDI_STATIC_DIRECTORY and CDI_DYNAMIC_DIRECTORY.
 * `runtime` NULL: these. */
void runtime_cdi_directories(struct runtime *runtime, struct text_list *out);

/* Where containerd keeps its content, by its own configuration ("/var/lib/containerd"). NULL: unknown. Caller frees. */
char *runtime_root(struct runtime *runtime);

/* "runc 1.1.5+ds1" from the output of "runc --version", "containerd-shim-runc-v2 1.6.20~ds1" from that of
 * "containerd-shim-runc-v2 -v": `name` and the first word that begins with a digit after
 * "version", in any case. Only `name` when there is none. Caller frees. */
char *runtime_program_version(const char *name, const char *output);

/* The shim's program for a runtime type: "containerd-shim-runc-v2" for "io.containerd.runc.v2".
 * NULL when the type does not name one. */
char *runtime_shim_name(const char *type);
