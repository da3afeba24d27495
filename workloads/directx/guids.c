/* SPDX-License-Identifier: MIT */
/* The identifiers of the interfaces, which their headers only declare. */
#define INITGUID
#include "workloads/directx/d3d12_headers.h"

#ifdef _WIN32
#include <d3d11.h>
#include <dxgi1_4.h>
#endif
