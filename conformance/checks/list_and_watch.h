/* SPDX-License-Identifier: MIT */
#pragma once

/* The lists beside an independent enumeration of the node (list_devices.c). */

#include "conformance/runner/check.h"

check_body list_devices_present;
