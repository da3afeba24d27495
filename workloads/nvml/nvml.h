/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * NVIDIA's management library (NVML) as the probe uses it, and as its double offers it. It asks the
 * kernel module itself, which ignores the variables that hide devices from CUDA: it shows the devices
 * that the container reaches.
 *
 * The prototypes are declared here: the library has a stable binary interface, and its header is not
 * free to redistribute. Source: NVML API reference, versions of the functions in their names.
 */

#include "workloads/common/api.h"
#include "workloads/common/work.h"

#include <stdint.h>

#define NVML_LIBRARY API_LIBRARY("nvml.dll", "libnvidia-ml.so.1")

typedef int nvml_result;
typedef struct nvml_device *nvml_device;

/* Results that decide something; the table of codes names the others. */
enum { NVML_SUCCESS = 0, NVML_ERROR_NO_PERMISSION = 4, NVML_ERROR_DRIVER_NOT_LOADED = 9 };

enum { NVML_TEXT_MAX = 96 }; /* NVML_DEVICE_NAME_V2_BUFFER_SIZE, NVML_DEVICE_UUID_V2_BUFFER_SIZE */

struct nvml_pci { /* nvmlPciInfo_t, version 3 */
	char legacy_address[16];
	unsigned domain, bus, device;
	unsigned id;	       /* device << 16 | vendor */
	unsigned subsystem_id; /* the same */
	char address[32];
};

struct nvml_memory { /* nvmlMemory_t, version 1 */
	unsigned long long total, free, used;
};

#define NVML_FUNCTIONS(X)                                                                          \
	X(nvmlInit, "nvmlInit_v2", (void))                                                         \
	X(nvmlShutdown, "nvmlShutdown", (void))                                                    \
	X(nvmlSystemGetNVMLVersion, "nvmlSystemGetNVMLVersion", (char *text, unsigned size))       \
	X(nvmlSystemGetDriverVersion, "nvmlSystemGetDriverVersion", (char *text, unsigned size))   \
	X(nvmlSystemGetCudaDriverVersion, "nvmlSystemGetCudaDriverVersion_v2", (int *version))     \
	X(nvmlDeviceGetCount, "nvmlDeviceGetCount_v2", (unsigned *count))                          \
	X(nvmlDeviceGetHandleByIndex, "nvmlDeviceGetHandleByIndex_v2",                             \
	  (unsigned index, nvml_device *device))                                                   \
	X(nvmlDeviceGetName, "nvmlDeviceGetName", (nvml_device device, char *text, unsigned size)) \
	X(nvmlDeviceGetUUID, "nvmlDeviceGetUUID", (nvml_device device, char *text, unsigned size)) \
	X(nvmlDeviceGetPciInfo, "nvmlDeviceGetPciInfo_v3",                                         \
	  (nvml_device device, struct nvml_pci * pci))                                             \
	X(nvmlDeviceGetMemoryInfo, "nvmlDeviceGetMemoryInfo",                                      \
	  (nvml_device device, struct nvml_memory * memory))

#define NVML_MEMBER(member, name, parameters) nvml_result(*member) parameters;

struct nvml {
	NVML_FUNCTIONS(NVML_MEMBER)
	char driver_version[NVML_TEXT_MAX];
	char cuda_version[32];
	bool started;
	struct calls calls;
};

/* The 16 bytes of "GPU-01234567-89ab-cdef-0123-456789abcdef" (or "MIG-..."). False: not a UUID. */
bool nvml_parse_uuid(const char *text, uint8_t out[16]);
