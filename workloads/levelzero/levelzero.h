/* SPDX-License-Identifier: MIT */
#pragma once

/* Level Zero as probes use it: loader, drivers, devices. levelzero_api is what programs need; the
 * rest is shared by the files of this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#include <level_zero/ze_api.h>
#include <level_zero/ze_ddi.h>

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

#define LEVELZERO_FUNCTIONS(X)                                                                     \
	X(Init)                                                                                    \
	X(DriverGet)                                                                               \
	X(DriverGetApiVersion)                                                                     \
	X(DriverGetProperties)                                                                     \
	X(DeviceGet)                                                                               \
	X(DeviceGetProperties)                                                                     \
	X(DeviceGetMemoryProperties)                                                               \
	X(DeviceGetCommandQueueGroupProperties)                                                    \
	X(ContextCreate)                                                                           \
	X(ContextDestroy)                                                                          \
	X(CommandQueueCreate)                                                                      \
	X(CommandQueueDestroy)                                                                     \
	X(CommandQueueExecuteCommandLists)                                                         \
	X(FenceCreate)                                                                             \
	X(FenceDestroy)                                                                            \
	X(FenceHostSynchronize)                                                                    \
	X(FenceReset)                                                                              \
	X(CommandListCreate)                                                                       \
	X(CommandListDestroy)                                                                      \
	X(CommandListClose)                                                                        \
	X(CommandListReset)                                                                        \
	X(CommandListAppendBarrier)                                                                \
	X(CommandListAppendMemoryCopy)                                                             \
	X(CommandListAppendMemoryFill)                                                             \
	X(CommandListAppendLaunchKernel)                                                           \
	X(MemAllocDevice)                                                                          \
	X(MemAllocHost)                                                                            \
	X(MemFree)                                                                                 \
	X(ModuleCreate)                                                                            \
	X(ModuleDestroy)                                                                           \
	X(ModuleBuildLogGetString)                                                                 \
	X(ModuleBuildLogDestroy)                                                                   \
	X(KernelCreate)                                                                            \
	X(KernelDestroy)                                                                           \
	X(KernelSetGroupSize)                                                                      \
	X(KernelSetArgumentValue)

#define LEVELZERO_DECLARE(name) ze_pfn##name##_t ze##name;

enum { LEVELZERO_DRIVERS_MAX = 16 };

struct levelzero_device {
	ze_driver_handle_t driver;
	ze_device_handle_t id;
	uint64_t largest; /* bytes of one allocation; 0: not told */
};

struct levelzero {
	LEVELZERO_FUNCTIONS(LEVELZERO_DECLARE)
	levelzero_init_drivers zeInitDrivers; /* NULL: a loader before 1.10 */
	ze_pfnDevicePciGetPropertiesExt_t zeDevicePciGetPropertiesExt; /* NULL: before 1.3 */
	size_t device_count;
	struct levelzero_device devices[API_DEVICES_MAX];
	struct calls calls;
};

/* compute.c: the work on one device that exists. Errors as for the `work` of an api_driver. */
int levelzero_work(void *session, const struct work_request *request, struct work_report *report,
		   struct error *err);
