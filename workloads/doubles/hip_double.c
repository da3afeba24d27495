/* SPDX-License-Identifier: MIT */

/* The runtime of HIP for tests, found by its name through LD_LIBRARY_PATH. Its devices work on the
 * processor. It loads only an object for the device's architecture, whose kernel is the work.
 * DOUBLE_PLAIN: the runtime of ROCm 5, with another layout of properties and without a compiler. */

#include "workloads/doubles/settings.h"
#include "workloads/hip/hip.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum {
	OUT_OF_MEMORY = 2,
	NO_BINARY = 209,
	INVALID_KERNEL = 98,
	EF_AMDGPU_MACH = 48,
	E_MACHINE = 18
};

/* The contents of an architecture's object. Source: AMDGPU backend of LLVM, ELF header flags. */
static const struct architecture {
	const char *name;
	unsigned char machine;
} architectures[] = {
	{"gfx90a:sramecc+:xnack-", 0x3f},
	{"gfx900:xnack-", 0x2c},
	{"gfx906", 0x2f},
	{"gfx908", 0x30},
	{"gfx942", 0x4c},
	{"gfx1030", 0x36},
	{"gfx1100", 0x41},
	{"gfx1101", 0x46},
	{"gfx1102", 0x47},
	{"gfx1200", 0x48},
	{"gfx1201", 0x4e},
	{"gfx9999", 0xff},
	{"", 0xff},
};

struct hip_stream {
	char unused;
};

static struct hip_stream stream_of_all;
static unsigned char module_of_all;

static const struct architecture *architecture(void)
{
	const size_t count = sizeof(architectures) / sizeof(*architectures);
	return &architectures[setting_number("arch", 0) % count];
}

#define ENTER(name)                                                                                \
	do {                                                                                       \
		const int result_ = setting_enter(#name);                                          \
		if (result_ != 0)                                                                  \
			return result_;                                                            \
	} while (0)

#define PROTOTYPE(name, parameters) EXPORT hip_result name parameters;
HIP_FUNCTIONS(PROTOTYPE)
#ifndef DOUBLE_PLAIN
HIP_COMPILER_FUNCTIONS(PROTOTYPE)
EXPORT hip_result hipGetDevicePropertiesR0600(void *properties, int device);
#else
EXPORT hip_result hipGetDeviceProperties(void *properties, int device);
#endif
EXPORT const char *hipGetErrorName(hip_result result);

const char *hipGetErrorName(hip_result result)
{
	switch (result) {
	case HIP_NO_DEVICE:
		return "hipErrorNoDevice";
	case HIP_INVALID_DEVICE:
		return "hipErrorInvalidDevice";
	case OUT_OF_MEMORY:
		return "hipErrorOutOfMemory";
	case NO_BINARY:
		return "hipErrorNoBinaryForGpu";
	case 719:
		return "hipErrorLaunchFailure";
	default:
		return NULL;
	}
}

hip_result hipInit(unsigned flags)
{
	(void)flags;
	if (setting_has("noise"))
		(void)printf("the runtime says hello\n"), (void)fflush(stdout);
	ENTER(hipInit);
	return setting_number("devices", 1) == 0 ? HIP_INVALID_DEVICE : HIP_SUCCESS;
}

hip_result hipDriverGetVersion(int *version)
{
	ENTER(hipDriverGetVersion);
	*version = 60342134;
	return HIP_SUCCESS;
}

hip_result hipGetDeviceCount(int *count)
{
	ENTER(hipGetDeviceCount);
	if (setting_number("devices", 1) == 0)
		return HIP_NO_DEVICE; /* and the count is unchanged */
	*count = (int)setting_number("devices", 1);
	return HIP_SUCCESS;
}

hip_result hipSetDevice(int device)
{
	(void)device;
	ENTER(hipSetDevice);
	return HIP_SUCCESS;
}

hip_result hipDeviceGetName(char *name, int size, int device)
{
	ENTER(hipDeviceGetName);
	(void)snprintf(name, (size_t)size, "Double %d \xff", device);
	return HIP_SUCCESS;
}

hip_result hipDeviceGetPCIBusId(char *address, int size, int device)
{
	ENTER(hipDeviceGetPCIBusId);
	(void)snprintf(address, (size_t)size, setting_has("old") ? "none" : "%04X:%02X:00.0",
		       (unsigned)setting_number("pci-domain", 0),
		       (unsigned)setting_number("pci-bus", 0x40) +
			       (setting_has("parts") ? 0 : (unsigned)device));
	return HIP_SUCCESS;
}

hip_result hipDeviceTotalMem(size_t *bytes, int device)
{
	(void)device;
	ENTER(hipDeviceTotalMem);
	*bytes = 64u << 20;
	return HIP_SUCCESS;
}

static hip_result fill(void *properties, size_t arch, size_t multiprocessors, size_t integrated)
{
	const int units = 60;
	const int yes = setting_has("integrated");
	char *bytes = properties;
	memcpy(bytes + arch, architecture()->name, strlen(architecture()->name) + 1);
	memcpy(bytes + multiprocessors, &units, sizeof(units));
	memcpy(bytes + integrated, &yes, sizeof(yes));
	return HIP_SUCCESS;
}

#ifndef DOUBLE_PLAIN
hip_result hipGetDevicePropertiesR0600(void *properties, int device)
{
	(void)device;
	ENTER(hipGetDeviceProperties);
	return fill(properties, 1160, 388, 396);
}
#else
hip_result hipGetDeviceProperties(void *properties, int device)
{
	(void)device;
	ENTER(hipGetDeviceProperties);
	return fill(properties, 396, 336, 652);
}
#endif

hip_result hipMalloc(void **memory, size_t size)
{
	ENTER(hipMalloc);
	if (size > 16u << 20)
		return OUT_OF_MEMORY;
	*memory = setting_has("no-address") ? NULL : malloc(size);
	return HIP_SUCCESS;
}

hip_result hipMemGetInfo(size_t *free_bytes, size_t *total)
{
	ENTER(hipMemGetInfo);
	*free_bytes = 12u << 20;
	*total = 16u << 20;
	return HIP_SUCCESS;
}

hip_result hipFree(void *memory)
{
	free(memory);
	return HIP_SUCCESS;
}

hip_result hipHostMalloc(void **memory, size_t size, unsigned flags)
{
	(void)flags;
	ENTER(hipHostMalloc);
	*memory = malloc(size);
	return *memory != NULL ? HIP_SUCCESS : OUT_OF_MEMORY;
}

hip_result hipHostFree(void *memory)
{
	free(memory);
	return HIP_SUCCESS;
}

hip_result hipStreamCreate(hip_stream *stream)
{
	ENTER(hipStreamCreate);
	*stream = &stream_of_all;
	return HIP_SUCCESS;
}

hip_result hipStreamQuery(hip_stream stream)
{
	(void)stream;
	ENTER(hipStreamQuery);
	return setting_has("hang") ? HIP_NOT_READY : HIP_SUCCESS;
}

hip_result hipStreamDestroy(hip_stream stream)
{
	(void)stream;
	return HIP_SUCCESS;
}

hip_result hipMemcpyAsync(void *to, const void *from, size_t size, int kind, hip_stream stream)
{
	(void)kind;
	(void)stream;
	ENTER(hipMemcpyAsync);
	if (!setting_has("null"))
		memcpy(to, from, size);
	return HIP_SUCCESS;
}

hip_result hipMemsetD32Async(void *memory, int value, size_t count, hip_stream stream)
{
	(void)stream;
	ENTER(hipMemsetD32Async);
	for (size_t i = 0; i < count && !setting_has("unfilled") && !setting_has("null"); i++)
		memcpy((char *)memory + i * sizeof(value), &value, sizeof(value));
	return HIP_SUCCESS;
}

hip_result hipModuleLoadData(hip_module *module, const void *image)
{
	const unsigned char *bytes = image;
	ENTER(hipModuleLoadData);
	if (memcmp(bytes, "\177ELF", 4) != 0 || bytes[E_MACHINE] != 0xe0 ||
	    bytes[EF_AMDGPU_MACH] != architecture()->machine)
		return NO_BINARY;
	*module = (hip_module)&module_of_all;
	return HIP_SUCCESS;
}

hip_result hipModuleUnload(hip_module module)
{
	(void)module;
	return HIP_SUCCESS;
}

hip_result hipModuleGetFunction(hip_function *function, hip_module module, const char *name)
{
	ENTER(hipModuleGetFunction);
	if (strcmp(name, "work") != 0)
		return INVALID_KERNEL;
	*function = (hip_function)module;
	return HIP_SUCCESS;
}

hip_result hipModuleLaunchKernel(hip_function function, unsigned blocks_x, unsigned blocks_y,
				 unsigned blocks_z, unsigned threads_x, unsigned threads_y,
				 unsigned threads_z, unsigned shared, hip_stream stream,
				 void **arguments, void **extra)
{
	uint32_t elements = *(uint32_t *)arguments[3];
	const uint32_t launched = blocks_x * blocks_y * blocks_z * threads_x;
	(void)function;
	(void)shared;
	(void)stream;
	(void)extra;
	ENTER(hipModuleLaunchKernel);
	if (threads_x != 64 || threads_y != 1 || threads_z != 1)
		return INVALID_KERNEL;
	if (elements > launched)
		elements = launched;
	if (!setting_has("null"))
		setting_work(*(void **)arguments[0], *(void **)arguments[1], *(void **)arguments[2],
			     elements, *(uint32_t *)arguments[4], *(float *)arguments[5]);
	return HIP_SUCCESS;
}

#ifndef DOUBLE_PLAIN
static unsigned char program_of_all;

hip_result hiprtcCreateProgram(hip_program *program, const char *source, const char *name,
			       int headers, const char **texts, const char **names)
{
	(void)name;
	(void)headers;
	(void)texts;
	(void)names;
	ENTER(hiprtcCreateProgram);
	if (strstr(source, "extern \"C\" __attribute__((global))") == NULL)
		return 3;
	*program = (hip_program)&program_of_all;
	return HIP_SUCCESS;
}

hip_result hiprtcCompileProgram(hip_program program, int count, const char **options)
{
	(void)program;
	(void)count;
	(void)options;
	ENTER(hiprtcCompileProgram);
	return HIP_SUCCESS;
}

#define BUILD_LOG "double: error: the kernel does not please"

hip_result hiprtcGetProgramLogSize(hip_program program, size_t *size)
{
	(void)program;
	*size = setting_has("boast") ? SIZE_MAX : sizeof(BUILD_LOG);
	return HIP_SUCCESS;
}

hip_result hiprtcGetProgramLog(hip_program program, char *log)
{
	(void)program;
	memcpy(log, BUILD_LOG, sizeof(BUILD_LOG));
	return HIP_SUCCESS;
}

hip_result hiprtcGetCodeSize(hip_program program, size_t *size)
{
	(void)program;
	ENTER(hiprtcGetCodeSize);
	*size = setting_has("boast") ? SIZE_MAX : 64;
	return HIP_SUCCESS;
}

hip_result hiprtcGetCode(hip_program program, char *code)
{
	(void)program;
	ENTER(hiprtcGetCode);
	memset(code, 0, 64);
	memcpy(code, "\177ELF", sizeof("\177ELF"));
	code[E_MACHINE] = (char)0xe0;
	code[EF_AMDGPU_MACH] = (char)architecture()->machine;
	return HIP_SUCCESS;
}

hip_result hiprtcDestroyProgram(hip_program *program)
{
	*program = NULL;
	return HIP_SUCCESS;
}
#endif
