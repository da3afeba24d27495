/* SPDX-License-Identifier: MIT */
#pragma once

/* The display adapters and compute accelerators that the plug and play manager tells (SetupAPI). As
 * sysfs on Linux it may show a container what belongs to its host: this says nothing about access.
 */

#include "workloads/common/program.h"

extern const struct api_driver setupapi_api;
