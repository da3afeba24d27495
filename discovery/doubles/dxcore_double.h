/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A dxcore.dll for tests, whose adapters are the devices of a recorded node. Besides
 * DXCoreCreateAdapterFactory() it exports the functions below. It ends the process where DXCore
 * does: when an object is released while a notification is registered for it.
 */

#include <stdbool.h>

#define DXCORE_DOUBLE_API __declspec(dllexport)

/* From now on the adapters are those of this file; registered callbacks are notified of the
 * changes. Returns 0 or -1. */
DXCORE_DOUBLE_API int dxcore_double_load(const char *recorded_node);

/* Behaves as before Windows had the newer form of hardware ids. */
DXCORE_DOUBLE_API void dxcore_double_set_old(bool old);

/* The number of unreleased objects. */
DXCORE_DOUBLE_API int dxcore_double_objects(void);

typedef int dxcore_double_load_function(const char *recorded_node);
typedef void dxcore_double_set_old_function(bool old);
typedef int dxcore_double_objects_function(void);
