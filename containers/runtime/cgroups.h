/* SPDX-License-Identifier: MIT */
#pragma once

/* The control groups that a run's containers lived in: the same name in every hierarchy, version 1
 * or 2. */

#include "base/error.h"

#include <stddef.h>

/* Kills every process in the group `parent` ("/gpucert-XXXXXX") and below it, in every hierarchy,
 * and waits until they have ended. `killed` is counted up; may be NULL. */
int cgroups_kill(const char *parent, size_t *killed, struct error *err);

/* Removes the groups. Missing ones are success; ERROR_IO (busy) when something still lives in one.
 */
int cgroups_remove(const char *parent, struct error *err);
