/* SPDX-License-Identifier: MIT */

/* NVIDIA's management library for tests, found by its name through LD_LIBRARY_PATH. Its devices are
 * those of the CUDA double, unless `nvml-devices` sets another number. */

#include "workloads/doubles/settings.h"
#include "workloads/nvml/nvml.h"

#include <stdio.h>
#include <string.h>

#define EXPORT		 __attribute__((visibility("default")))
#define DECLARE(m, n, p) EXPORT nvml_result m##_double p __asm__(n);
NVML_FUNCTIONS(DECLARE)

enum { NVML_ERROR_UNINITIALIZED = 1 };

#define ENTER(name)                                                                                \
	do {                                                                                       \
		const nvml_result result_ = setting_enter(#name);                                  \
		if (result_ != NVML_SUCCESS || !initialized)                                       \
			return result_ != NVML_SUCCESS ? result_ : NVML_ERROR_UNINITIALIZED;       \
	} while (0)

static bool initialized;

nvml_result nvmlInit_double(void)
{
	const nvml_result result = setting_enter("nvmlInit");
	initialized = result == NVML_SUCCESS;
	return result;
}

nvml_result nvmlShutdown_double(void)
{
	ENTER(nvmlShutdown);
	initialized = false;
	return NVML_SUCCESS;
}

static nvml_result say(char *text, unsigned size, const char *what)
{
	return snprintf(text, size, "%s", what) < (int)size ? NVML_SUCCESS : 7;
}

nvml_result nvmlSystemGetNVMLVersion_double(char *text, unsigned size)
{
	ENTER(nvmlSystemGetNVMLVersion);
	return say(text, size, "12.555.1.2");
}

nvml_result nvmlSystemGetDriverVersion_double(char *text, unsigned size)
{
	ENTER(nvmlSystemGetDriverVersion);
	return say(text, size, "555.1.2");
}

nvml_result nvmlSystemGetCudaDriverVersion_double(int *version)
{
	ENTER(nvmlSystemGetCudaDriverVersion);
	*version = 12040;
	return NVML_SUCCESS;
}

nvml_result nvmlDeviceGetCount_double(unsigned *count)
{
	ENTER(nvmlDeviceGetCount);
	*count = (unsigned)setting_number("nvml-devices", setting_number("devices", 1));
	return NVML_SUCCESS;
}

nvml_result nvmlDeviceGetHandleByIndex_double(unsigned index, nvml_device *device)
{
	ENTER(nvmlDeviceGetHandleByIndex);
	if (index == setting_number("forbidden", 999))
		return NVML_ERROR_NO_PERMISSION;
	*device = (nvml_device)(uintptr_t)(index + 1);
	return NVML_SUCCESS;
}

nvml_result nvmlDeviceGetName_double(nvml_device device, char *text, unsigned size)
{
	char name[32] = "";
	ENTER(nvmlDeviceGetName);
	(void)snprintf(name, sizeof(name), "Double %u", (unsigned)(uintptr_t)device - 1);
	return say(text, size, name);
}

nvml_result nvmlDeviceGetUUID_double(nvml_device device, char *text, unsigned size)
{
	char uuid[64] = "";
	const unsigned b = (unsigned)(uintptr_t)device & 0xFFu;
	ENTER(nvmlDeviceGetUUID);
	(void)snprintf(uuid, sizeof(uuid),
		       "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		       b, b, b, b, b, b, b, b, b, b, b, b, b, b, b, b);
	return say(text, size, setting_has("strange-uuid") ? "GPU-none" : uuid);
}

nvml_result nvmlDeviceGetPciInfo_double(nvml_device device, struct nvml_pci *pci)
{
	ENTER(nvmlDeviceGetPciInfo);
	*pci = (struct nvml_pci){
		.domain = (unsigned)setting_number("pci-domain", 0),
		.bus = (unsigned)setting_number("pci-bus", 0x40) + (unsigned)(uintptr_t)device - 1,
		.id = 0x1eb810deu,
		.subsystem_id = 0x12a210deu,
	};
	return NVML_SUCCESS;
}

nvml_result nvmlDeviceGetMemoryInfo_double(nvml_device device, struct nvml_memory *memory)
{
	ENTER(nvmlDeviceGetMemoryInfo);
	(void)device;
	*memory = (struct nvml_memory){.total = 64u << 20, .free = 64u << 20};
	return NVML_SUCCESS;
}
