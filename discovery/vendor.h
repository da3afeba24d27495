/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* The name that devices of this PCI vendor are shown with, the same on every system: "NVIDIA". NULL
 * for one that is not known. */
const char *vendor_name(int64_t id);
