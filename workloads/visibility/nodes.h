/* SPDX-License-Identifier: MIT */
#pragma once

/* Device nodes of GPUs. */

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The `nodes` of a document: what is below `root` (normally "/dev"), told as below /dev, in a
 * fixed order: by directory, then by name. With `try_open` each device node is opened and closed
 * again; otherwise the results are null. ERROR_MEMORY; ERROR_IO: a directory cannot be read. */
int nodes_list(const char *root, bool try_open, cJSON **out, struct error *err);
