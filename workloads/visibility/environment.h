/* SPDX-License-Identifier: MIT */
#pragma once

/* Environment variables that steer loaders and drivers. */

#include "base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The `environment` of a document: those of `variables` ("NAME=value", NULL-ended, normally
 * environ) that a loader or a driver reads, sorted by name; values are cut at 4096 bytes.
 * ERROR_MEMORY. */
int environment_list(const char *const *variables, cJSON **out, struct error *err);

/* Takes the variables that steer loaders and drivers out of the environment of this process and of
 * the programs that it starts from now on; folders for caches stay. `steered`: there was one.
 * ERROR_MEMORY. */
int environment_clean(bool *steered, struct error *err);
