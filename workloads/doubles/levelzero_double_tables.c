/* SPDX-License-Identifier: MIT */

/* How the real loader finds a driver's functions: by tables, which it asks for one by one. It ignores
 * a driver that lacks one of them, whatever they contain. It passes its own version, which may be
 * newer than the driver's. */

#include "workloads/doubles/levelzero_double.h"

#include <level_zero/ze_ddi.h>

#define FUNCTION(group, name) table->pfn##name = ze##group##name

/* A table with functions, and an empty one. */
#define TABLE(function, type, ...)                                                                 \
	ZE_APIEXPORT ze_result_t ZE_APICALL function(ze_api_version_t version, type *table)        \
	{                                                                                          \
		(void)version;                                                                     \
		__VA_ARGS__;                                                                       \
		return ZE_RESULT_SUCCESS;                                                          \
	}
#define EMPTY(function, type) TABLE(function, type, (void)table)
#define UNKNOWN(function)                                                                          \
	ZE_APIEXPORT ze_result_t ZE_APICALL function(ze_api_version_t version, void *table);       \
	EMPTY(function, void)

TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t, FUNCTION(, Init))
TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t, FUNCTION(Driver, Get),
      FUNCTION(Driver, GetApiVersion), FUNCTION(Driver, GetProperties))
TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t, FUNCTION(Device, Get),
      FUNCTION(Device, GetProperties), FUNCTION(Device, GetMemoryProperties),
      FUNCTION(Device, GetCommandQueueGroupProperties), FUNCTION(Device, PciGetPropertiesExt))
TABLE(zeGetContextProcAddrTable, ze_context_dditable_t, FUNCTION(Context, Create),
      FUNCTION(Context, Destroy))
TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t, FUNCTION(CommandQueue, Create),
      FUNCTION(CommandQueue, Destroy), FUNCTION(CommandQueue, ExecuteCommandLists))
TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t, FUNCTION(CommandList, Create),
      FUNCTION(CommandList, Destroy), FUNCTION(CommandList, Close), FUNCTION(CommandList, Reset),
      FUNCTION(CommandList, AppendBarrier), FUNCTION(CommandList, AppendMemoryCopy),
      FUNCTION(CommandList, AppendMemoryFill), FUNCTION(CommandList, AppendLaunchKernel))
TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t, FUNCTION(Fence, Create),
      FUNCTION(Fence, Destroy), FUNCTION(Fence, HostSynchronize), FUNCTION(Fence, Reset))
TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t, FUNCTION(Module, Create),
      FUNCTION(Module, Destroy))
TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t,
      FUNCTION(ModuleBuildLog, GetString), FUNCTION(ModuleBuildLog, Destroy))
TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t, FUNCTION(Kernel, Create),
      FUNCTION(Kernel, Destroy), FUNCTION(Kernel, SetGroupSize), FUNCTION(Kernel, SetArgumentValue))
TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t, FUNCTION(Mem, AllocDevice),
      FUNCTION(Mem, AllocHost), FUNCTION(Mem, Free))
EMPTY(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t)
EMPTY(zeGetImageProcAddrTable, ze_image_dditable_t)
EMPTY(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t)
EMPTY(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t)
EMPTY(zeGetEventProcAddrTable, ze_event_dditable_t)
EMPTY(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t)
EMPTY(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t)
EMPTY(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
EMPTY(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t)
EMPTY(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t)
UNKNOWN(zesGetDriverProcAddrTable)
UNKNOWN(zesGetDeviceProcAddrTable)
UNKNOWN(zesGetSchedulerProcAddrTable)
UNKNOWN(zesGetPerformanceFactorProcAddrTable)
UNKNOWN(zesGetPowerProcAddrTable)
UNKNOWN(zesGetFrequencyProcAddrTable)
UNKNOWN(zesGetEngineProcAddrTable)
UNKNOWN(zesGetStandbyProcAddrTable)
UNKNOWN(zesGetFirmwareProcAddrTable)
UNKNOWN(zesGetMemoryProcAddrTable)
UNKNOWN(zesGetFabricPortProcAddrTable)
UNKNOWN(zesGetTemperatureProcAddrTable)
UNKNOWN(zesGetPsuProcAddrTable)
UNKNOWN(zesGetFanProcAddrTable)
UNKNOWN(zesGetLedProcAddrTable)
UNKNOWN(zesGetRasProcAddrTable)
UNKNOWN(zesGetDiagnosticsProcAddrTable)
UNKNOWN(zetGetDeviceProcAddrTable)
UNKNOWN(zetGetContextProcAddrTable)
UNKNOWN(zetGetCommandListProcAddrTable)
UNKNOWN(zetGetModuleProcAddrTable)
UNKNOWN(zetGetKernelProcAddrTable)
UNKNOWN(zetGetMetricGroupProcAddrTable)
UNKNOWN(zetGetMetricGroupExpProcAddrTable)
UNKNOWN(zetGetMetricProcAddrTable)
UNKNOWN(zetGetMetricStreamerProcAddrTable)
UNKNOWN(zetGetMetricQueryPoolProcAddrTable)
UNKNOWN(zetGetMetricQueryProcAddrTable)
UNKNOWN(zetGetTracerExpProcAddrTable)
UNKNOWN(zetGetDebugProcAddrTable)
