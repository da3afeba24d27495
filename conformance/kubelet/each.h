/* SPDX-License-Identifier: MIT */
#pragma once

/* Loops over arrays and chains. */

#include "base/cleanup.h"

#include <stddef.h>

/* Goes through the first `count` items of an array, by a pointer to each. */
#define items_each(item, items, count)                                                             \
	for (__typeof__(*(items)) *item = (items); (size_t)((item) - (items)) < (count); (item)++)

/* The same for a whole array. */
#define array_each(item, array) items_each (item, array, ARRAY_SIZE(array))

/* Goes through a chain of structures, each of which points to the `next`. */
#define chain_each(item, first)                                                                    \
	for (__typeof__(*(first)) *item = (first); (item) != NULL; (item) = (item)->next)
