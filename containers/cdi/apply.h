/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Replaces the names of CDI devices by their container edits, as a runtime does (pkg/cdi/cache.go
 * InjectDevices and container-edits.go of cncf-tags/container-device-interface): the edits of each
 * device, and before the first device of a Spec the Spec's own. A later edit replaces the entry
 * that an earlier edit or the rest of the request has at its key.
 */

#include "containers/cdi/registry.h"
#include "containers/grant/grant.h"

/* The file whose device a runtime uses for the qualified name. NULL: no file has it, or a conflict
 * makes it unusable. */
const struct cdi_file *cdi_registry_find(const struct cdi_registry *registry, const char *name);

/* Why cdi_registry_find() returns NULL: "in no Spec", with the defects of files of the name's kind, or
 * a conflict. Caller frees. */
char *cdi_registry_explain(const struct cdi_registry *registry, const char *name);

/* Was the file, which is not a Spec, probably meant for the kind? Decided by its member "kind" or, if
 * that is unreadable, by the file name VENDOR-CLASS. */
bool cdi_file_is_of_kind(const struct cdi_file *file, const char *kind);

/*
 * Copies the grant with the edits in place of its CDI devices, whether these are fields or
 * annotations. A CDI device stays in the grant when no file has it, or its edits have parts that a
 * grant cannot express: hooks, network devices, a class of service. A device node with numbers gets
 * the host path "/dev/char/MAJOR:MINOR" or "/dev/block/...", because the runtime ignores the node at
 * the path that the Spec names. Edits that do not expose the host are left out: mounts of other file
 * systems, pipes, nodes that may not be opened. Replaced entries become conflicts of `out`. The
 * resource of an edit is the CDI name, or the file's path for the Spec's own edits; the resources of
 * other entries are borrowed.
 *
 * `out` is zeroed; free it with grant_free(). Never fails.
 */
void cdi_apply(const struct cdi_registry *registry, const struct grant *grant, struct grant *out);
