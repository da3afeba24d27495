/* SPDX-License-Identifier: MIT */
#pragma once

/* Environment variables that steer loaders and drivers: with them a device can be hidden. */

#include "base/error.h"

#include <stdbool.h>

/* Removes them from the environment of this process; those that name caches stay. *steered: there
 * were some. ERROR_MEMORY. */
int steering_remove(bool *steered, struct error *err);
