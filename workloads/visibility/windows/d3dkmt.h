/* SPDX-License-Identifier: MIT */
#pragma once

/* The adapters that the kernel's graphics interface tells (D3DKMTEnumAdapters2 of gdi32.dll): what
 * DXGI and DXCore stand on. */

#include "workloads/common/program.h"

extern const struct api_driver d3dkmt_api;
