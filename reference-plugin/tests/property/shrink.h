/* SPDX-License-Identifier: MIT */
#pragma once

/* Delta debugging: the events that a failure needs. */

#include <stdbool.h>
#include <stddef.h>

typedef bool shrink_fails(const size_t *events, size_t count, void *user);

/* Removes events from the sequence, which fails, as long as it still does: first all but the last ones, then
 * chunks, then single ones. Returns how many are left. */
size_t shrink(size_t *events, size_t count, shrink_fails *fails, void *user);
