/* SPDX-License-Identifier: MIT */
#pragma once

/* A variable of the environment, in UTF-8 also on Windows, where getenv() has the ANSI code page.
 * *value is NULL when it is not set; caller frees. ERROR_MEMORY; ERROR_FORMAT: it cannot be read.
 */

#include "base/error.h"

int environment_get(const char *name, char **value, struct error *err);
