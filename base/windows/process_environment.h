/* SPDX-License-Identifier: MIT */
#pragma once

/* The environment block of a child process. */

#include "base/error.h"

#include <stdbool.h>
#include <wchar.h>

/* This process' variables, unless `clear`, with those of `env` (NULL-ended "NAME=value", may be
 * NULL) in their place; names are the same whatever their case. Sorted, as Windows wants it.
 * ERROR_MEMORY. Caller frees. */
int process_environment(const char *const *env, bool clear, wchar_t **out, struct error *err);
