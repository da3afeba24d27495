/* SPDX-License-Identifier: MIT */
#ifndef WORKLOADS_VISIBILITY_ENVIRONMENT_H
#define WORKLOADS_VISIBILITY_ENVIRONMENT_H

/* Environment variables that steer loaders and drivers. */

#include "base/error.h"

#include <cjson/cJSON.h>

/* The `environment` of a document: those of `variables` ("NAME=value", NULL-ended, normally
 * environ) that a loader or a driver reads, sorted by name; values are cut at 4096 bytes.
 * ERROR_MEMORY. */
int environment_list(const char *const *variables, cJSON **out, struct error *err);

#endif
