/* SPDX-License-Identifier: MIT */
#include "workloads/nvml/nvml.h"

#include "base/cleanup.h"

/* Source: NVML API reference, nvmlReturn_t. */
static const struct code_advice codes[] = {
	{1, "NVML_ERROR_UNINITIALIZED", "an earlier nvmlInit failed"},
	{2, "NVML_ERROR_INVALID_ARGUMENT", NULL},
	{3, "NVML_ERROR_NOT_SUPPORTED", NULL},
	{4, "NVML_ERROR_NO_PERMISSION",
	 "the device cgroup or the permissions of its node in /dev refuse the device"},
	{6, "NVML_ERROR_NOT_FOUND", NULL},
	{7, "NVML_ERROR_INSUFFICIENT_SIZE", NULL},
	{9, "NVML_ERROR_DRIVER_NOT_LOADED",
	 "the host has no kernel module of NVIDIA, or /dev/nvidiactl is not in the container"},
	{10, "NVML_ERROR_TIMEOUT", NULL},
	{11, "NVML_ERROR_IRQ_ISSUE",
	 "interrupts of the device do not arrive; read the host's kernel log"},
	{12, "NVML_ERROR_LIBRARY_NOT_FOUND",
	 "a library that NVML needs is not in the container: mount all of one driver version"},
	{13, "NVML_ERROR_FUNCTION_NOT_FOUND",
	 "the libraries of the driver are of different versions: mount all of one"},
	{15, "NVML_ERROR_GPU_IS_LOST",
	 "the device fell off the bus; read the host's kernel log for Xid 79, and reset or reboot"},
	{16, "NVML_ERROR_RESET_REQUIRED", "reset the device: nvidia-smi --gpu-reset"},
	{17, "NVML_ERROR_OPERATING_SYSTEM",
	 "the system refused a call of the driver: look at the device cgroup and the permissions of /dev/nvidia*"},
	{18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
	 "libnvidia-ml and the host's kernel module are of different versions: mount the host's library, and reboot a host whose "
	 "driver was just updated"},
	{19, "NVML_ERROR_IN_USE", NULL},
	{20, "NVML_ERROR_MEMORY", NULL},
	{999, "NVML_ERROR_UNKNOWN", "read the host's kernel log"},
};

int nvml_check(struct nvml *nvml, nvml_result result, const char *call, struct error *err)
{
	if (result == NVML_SUCCESS)
		return 0;
	return call_failed_advised(&nvml->failure, call, result, codes, ARRAY_SIZE(codes), err);
}
