/* SPDX-License-Identifier: MIT */
#pragma once

/* The node's CDI Specs, and their edits of an answer. */

#include "conformance/runner/context.h"
#include "containers/cdi/apply.h"

/* Reads the Specs of the run's folders, which may be missing. Errors of cdi_registry_read(). */
int node_cdi_read(const struct context *context, struct cdi_registry *out, struct error *err);

/* Lists the paths of the files in these folders. Errors of file_list(). */
int node_cdi_files(const struct context *context, struct text_list *paths, struct error *err);

/* cdi_apply() with them. */
int node_cdi_apply(const struct context *context, const struct grant *grant, struct grant *out,
		   struct error *err);

/* Does an entry of a grant that cdi_apply() made come from an edit of these CDI devices or of their Specs? */
bool node_cdi_is_edit(const struct grant_entry *entry, const struct text_list *names);

/* Adds the mounts, device nodes and variables that the CDI devices of an answer add to it. Adds none if the
 * Specs cannot be read: allocate.cdi-resolves judges that. */
void node_cdi_add_edits(const struct context *context, const struct grant *answer,
			struct grant *out);
