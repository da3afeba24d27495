/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What names of CDI devices become in a container (pkg/cdi/cache.go InjectDevices and
 * container-edits.go of cncf-tags/container-device-interface): the edits of each device, and before
 * the first device of a Spec the Spec's own. A later edit replaces what an earlier one or the rest
 * of the request has at its key.
 */

#include "containers/cdi/registry.h"
#include "containers/grant/grant.h"

/* The file whose device a runtime takes for the qualified name. NULL: none has it, or a conflict
 * makes it unusable. */
const struct cdi_file *cdi_registry_find(const struct cdi_registry *registry, const char *name);

/* Why there is none, "in no Spec": a conflict, or what is wrong with files of the name's kind. NULL:
 * out of memory. Caller frees. */
char *cdi_registry_explain(const struct cdi_registry *registry, const char *name);

/* May the file, which is not a Spec, have been meant for the kind? By its member "kind", or where it
 * cannot be read by its name, VENDOR-CLASS. */
bool cdi_file_is_of_kind(const struct cdi_file *file, const char *kind);

/*
 * The grant with the edits in the place of its CDI devices, named as such or in annotations. A CDI
 * device stays where edits cannot be told: its name has no file, or it has hooks, network devices or
 * a class of service. Of a device node with numbers of its own the host path is
 * "/dev/char/MAJOR:MINOR" or "/dev/block/...", which it is whatever lies at the path that the Spec
 * names. What is nothing of the host's is left out: a mount of another file system, a pipe, a node
 * that may not be opened. What was replaced is a conflict of `out`. The resource of an edit is the
 * CDI name, or the path of the file whose own it is; those of other entries are borrowed.
 *
 * `out` is zeroed; free it with grant_free(), also after an error. ERROR_MEMORY.
 */
int cdi_apply(const struct cdi_registry *registry, const struct grant *grant, struct grant *out,
	      struct error *err);
