/* SPDX-License-Identifier: MIT */
#ifndef CONFORMANCE_CHECKS_LIST_AND_WATCH_H
#define CONFORMANCE_CHECKS_LIST_AND_WATCH_H

/* The lists beside an independent enumeration of the node (list_devices.c). */

#include "conformance/runner/check.h"

check_body list_devices_present;

#endif
