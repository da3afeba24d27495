/* SPDX-License-Identifier: MIT */
#pragma once

/* Mounts of this mount namespace. */

#include "containers/inspect/inspect.h"

/* Undoes every mount below `directory` (not at it), the latest first. A mount that is busy is
 * detached. `undone` is counted up; may be NULL. */
int mounts_undo_below(const char *directory, size_t *undone, struct error *err);
