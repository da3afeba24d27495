/* SPDX-License-Identifier: MIT */
#pragma once

/* A program in place of this one: with its input, output and terminal, and its exit code. */

#include "base/error.h"

/*
 * Runs argv[0], found in PATH, to its end. *code is its exit code, or 128 and the number of the
 * signal that killed it. What a terminal sends with Ctrl-C reaches it by itself; SIGTERM is handed
 * on.
 *
 * ERROR_NOT_FOUND, ERROR_PERMISSION and others: it cannot be started.
 */
int launch_wait(const char *const *argv, int *code, struct error *err);
