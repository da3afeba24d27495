/* SPDX-License-Identifier: MIT */
#pragma once

/* The node's CDI Specs, and their edits of an answer. */

#include "conformance/runner/context.h"
#include "containers/cdi/apply.h"

/* Reads the Specs of the run's folders, which may be missing. Errors of cdi_registry_read(). */
int node_cdi_read(const struct context *context, struct cdi_registry *out, struct error *err);

/* The paths of the files in these folders. Errors of file_list(). */
int node_cdi_files(const struct context *context, struct text_list *paths, struct error *err);

/* cdi_apply() with them. */
int node_cdi_apply(const struct context *context, const struct grant *grant, struct grant *out,
		   struct error *err);
