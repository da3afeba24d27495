/* SPDX-License-Identifier: MIT */
#pragma once

/* Level Zero as probes use it: loader, drivers, devices. levelzero_api is what programs need; the
 * rest is shared by the files of this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#include <level_zero/ze_api.h>

#include <stddef.h>

#define LEVELZERO_LIBRARY API_LIBRARY("ze_loader.dll", "libze_loader.so.1")

/* zeInitDrivers() is of version 1.10, and headers may be older.
 * Source: Level Zero specification 1.10, ze_init_driver_type_desc_t. */
struct levelzero_driver_types {
	uint32_t type; /* LEVELZERO_DRIVER_TYPES */
	const void *next;
	uint32_t flags; /* bit 0: GPUs, bit 1: NPUs */
};

#define LEVELZERO_DRIVER_TYPES 0x00020021u
enum { LEVELZERO_EVERY_TYPE = 3 };

typedef ze_result_t(ZE_APICALL *levelzero_init_drivers)(uint32_t *count,
							ze_driver_handle_t *drivers,
							struct levelzero_driver_types *types);

enum { LEVELZERO_DRIVERS_MAX = 16 };

struct levelzero_device {
	ze_driver_handle_t driver;
	ze_device_handle_t id;
	uint64_t largest; /* bytes of one allocation; 0: unknown */
};

struct levelzero {
#define X(name) __typeof__(name) *name;
#include "workloads/levelzero/functions.h" /* those that this folder calls */
#undef X
	struct {
		levelzero_init_drivers zeInitDrivers; /* NULL: a loader before 1.10 */
		__typeof__(zeDevicePciGetPropertiesExt) *zeDevicePciGetPropertiesExt; /* 1.3 */
	} newer;
	size_t device_count;
	struct levelzero_device devices[API_DEVICES_MAX];
	struct calls calls;
};

/* compute.c: the work on one device that exists. Errors as for the `work` of an api_driver. */
int levelzero_work(void *session, const struct work_request *request, struct work_report *report,
		   struct error *err);
