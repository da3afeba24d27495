/* SPDX-License-Identifier: MIT */
#pragma once

/* Where snapshots come from. Each adds to a builder; a device that cannot be read becomes a
 * diagnostic. */

#include "discovery/builder.h"

/* The machine that this program runs on, or the tree below `options->root`. `options` is not NULL.
 */
int node_discover(const struct discovery_options *options, struct builder *builder,
		  struct error *err);

/* A recorded node. Errors as json_read_file() and recorded_parse(), naming the path. */
int recorded_read(const char *path, struct builder *builder, struct error *err);

/* A recorded node in memory. ERROR_FORMAT names the place: "devices[2].luid: expected integer". */
int recorded_parse(const char *data, size_t size, struct builder *builder, struct error *err);
