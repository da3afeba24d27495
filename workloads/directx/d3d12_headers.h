/* SPDX-License-Identifier: MIT */
#pragma once

/* Direct3D 12 for C: of the Windows SDK, or of vkd3d. Methods that return structures take a pointer
 * to the result as their first argument, as their callers in C++ do. */

#ifndef COBJMACROS
#define COBJMACROS
#endif
#ifndef WIDL_EXPLICIT_AGGREGATE_RETURNS
#define WIDL_EXPLICIT_AGGREGATE_RETURNS
#endif
#ifdef _WIN32
#include <d3d12.h>
#else
#include <vkd3d.h>
#endif

#include "workloads/directx/com.h"
