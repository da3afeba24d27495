/* SPDX-License-Identifier: MIT */

/* The library of a CUDA driver for tests, found by its name through LD_LIBRARY_PATH. */

#include "workloads/cuda/cuda.h"
#include "workloads/doubles/settings.h"

#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT cuda_result cuInit(unsigned flags);
EXPORT cuda_result cuDriverGetVersion(int *version);
EXPORT cuda_result cuGetErrorName(cuda_result result, const char **name);
EXPORT cuda_result cuDeviceGetCount(int *count);
EXPORT cuda_result cuDeviceGet(cuda_device *device, int ordinal);
EXPORT cuda_result cuDeviceGetName(char *name, int size, cuda_device device);
EXPORT cuda_result cuDeviceGetUuid(struct cuda_uuid *uuid, cuda_device device);
EXPORT cuda_result cuDeviceTotalMem_v2(size_t *bytes, cuda_device device);
EXPORT cuda_result cuDeviceGetAttribute(int *value, int attribute, cuda_device device);

cuda_result cuInit(unsigned flags)
{
	(void)flags;
	return setting_enter("cuInit");
}

cuda_result cuDriverGetVersion(int *version)
{
	*version = 12040;
	return CUDA_SUCCESS;
}

cuda_result cuGetErrorName(cuda_result result, const char **name)
{
	*name = result == 803 ? "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" : NULL;
	return *name != NULL ? CUDA_SUCCESS : 1;
}

cuda_result cuDeviceGetCount(int *count)
{
	*count = (int)setting_number("devices", 1);
	return setting_enter("cuDeviceGetCount");
}

cuda_result cuDeviceGet(cuda_device *device, int ordinal)
{
	*device = ordinal;
	return setting_enter("cuDeviceGet");
}

cuda_result cuDeviceGetName(char *name, int size, cuda_device device)
{
	(void)snprintf(name, (size_t)size, "Double %d", device);
	return CUDA_SUCCESS;
}

cuda_result cuDeviceGetUuid(struct cuda_uuid *uuid, cuda_device device)
{
	memset(uuid->bytes, device + 1, sizeof(uuid->bytes));
	return CUDA_SUCCESS;
}

cuda_result cuDeviceTotalMem_v2(size_t *bytes, cuda_device device)
{
	(void)device;
	*bytes = 64u << 20;
	return CUDA_SUCCESS;
}

cuda_result cuDeviceGetAttribute(int *value, int attribute, cuda_device device)
{
	switch (attribute) {
	case CUDA_ATTRIBUTE_MULTIPROCESSORS:
		*value = 40;
		return CUDA_SUCCESS;
	case CUDA_ATTRIBUTE_PCI_BUS:
		*value = 0x40 + device;
		return CUDA_SUCCESS;
	case CUDA_ATTRIBUTE_CAPABILITY_MAJOR:
		*value = 7;
		return CUDA_SUCCESS;
	case CUDA_ATTRIBUTE_CAPABILITY_MINOR:
		*value = 5;
		return CUDA_SUCCESS;
	default:
		*value = 0;
		return CUDA_SUCCESS;
	}
}
