/* SPDX-License-Identifier: MIT */

/* The library of a CUDA driver for tests, found by its name through LD_LIBRARY_PATH. Its devices run
 * the source of the probe's kernels on the processor. */

#include "workloads/cuda/cuda.h"
#include "workloads/doubles/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT	     __attribute__((visibility("default")))
#define BUILD_LOG    "double: ptxas fatal: these kernels do not please"
#define MEMORY_BYTES (64u << 20)
#define MODULE	     ((cuda_module)(uintptr_t)0x3000)
#define WORK	     ((cuda_function)(uintptr_t)0x4001)
#define MONTE_CARLO  ((cuda_function)(uintptr_t)0x4002)
/* Results that the probe does not distinguish. */
enum {
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_NOT_INITIALIZED = 3,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_INVALID_PTX = 218,
	CUDA_ERROR_INVALID_HANDLE = 400,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_SUPPORTED = 801,
};

#define DECLARE(m, n, p) EXPORT cuda_result m##_double p __asm__(n);

/* Named as in the library; the probe's names differ in part. */
CUDA_FUNCTIONS(DECLARE)
EXPORT cuda_result cuDeviceGetUuid(struct cuda_uuid *uuid, cuda_device device);
EXPORT cuda_result cuDeviceGetLuid(char luid[8], unsigned *nodes, cuda_device device);

/* Returns the configured failure, or that the driver was not initialized. */
#define ENTER(name)                                                                                \
	do {                                                                                       \
		const cuda_result result_ = setting_enter(#name);                                  \
		if (result_ != CUDA_SUCCESS || !initialized)                                       \
			return result_ != CUDA_SUCCESS ? result_ : CUDA_ERROR_NOT_INITIALIZED;     \
	} while (0)

static bool initialized;
static size_t allocated; /* bytes on the device */
static uint32_t running, launched;

static uint32_t invocation(void)
{
	return running;
}

static uint32_t invocations(void)
{
	return launched;
}

#define KERNEL static void
/* NOLINTNEXTLINE(bugprone-suspicious-include): the device's code, run by the processor */
#include "workloads/cuda/kernels.c"

cuda_result cuInit_double(unsigned flags)
{
	const cuda_result result = setting_enter("cuInit");
	initialized = result == CUDA_SUCCESS;
	return flags == 0 ? result : CUDA_ERROR_INVALID_VALUE;
}

cuda_result cuDriverGetVersion_double(int *version)
{
	*version = 12040;
	return CUDA_SUCCESS;
}

cuda_result cuDeviceGetCount_double(int *count)
{
	ENTER(cuDeviceGetCount);
	*count = (int)setting_number("devices", 1);
	return CUDA_SUCCESS;
}

cuda_result cuDeviceGet_double(cuda_device *device, int ordinal)
{
	ENTER(cuDeviceGet);
	*device = ordinal;
	return CUDA_SUCCESS;
}

cuda_result cuDeviceGetName_double(char *name, int size, cuda_device device)
{
	ENTER(cuDeviceGetName);
	(void)snprintf(name, (size_t)size, "Double %d", device);
	return CUDA_SUCCESS;
}

cuda_result cuDeviceGetUuid(struct cuda_uuid *uuid, cuda_device device)
{
	ENTER(cuDeviceGetUuid);
	memset(uuid->bytes, device + 1, sizeof(uuid->bytes));
	return CUDA_SUCCESS;
}

/* Only on Windows, as in the real library. */
cuda_result cuDeviceGetLuid(char luid[8], unsigned *nodes, cuda_device device)
{
	ENTER(cuDeviceGetLuid);
	if (!setting_has("luid"))
		return CUDA_ERROR_NOT_SUPPORTED;
	memset(luid, device + 0x10, 8);
	*nodes = 1;
	return CUDA_SUCCESS;
}

cuda_result cuDeviceTotalMem_double(size_t *bytes, cuda_device device)
{
	ENTER(cuDeviceTotalMem);
	(void)device;
	*bytes = MEMORY_BYTES;
	return CUDA_SUCCESS;
}

cuda_result cuDeviceGetAttribute_double(int *value, int attribute, cuda_device device)
{
	static const struct {
		int attribute, value;
	} supported[] = {
		{CUDA_ATTRIBUTE_MULTIPROCESSORS, 40},
		{CUDA_ATTRIBUTE_PCI_BUS, 0x40},
		{CUDA_ATTRIBUTE_CAPABILITY_MAJOR, 7},
		{CUDA_ATTRIBUTE_CAPABILITY_MINOR, 5},
	};
	ENTER(cuDeviceGetAttribute);
	*value = 0;
	for (size_t i = 0; i < sizeof(supported) / sizeof(supported[0]); i++)
		if (supported[i].attribute == attribute)
			*value = supported[i].value;
	if (attribute == CUDA_ATTRIBUTE_PCI_BUS)
		*value = (int)setting_number("pci-bus", (size_t)*value) + device;
	if (attribute == CUDA_ATTRIBUTE_PCI_DOMAIN)
		*value = (int)setting_number("pci-domain", 0);
	return CUDA_SUCCESS;
}

/* Each device reaches the one before it. */
cuda_result cuDeviceCanAccessPeer_double(int *can, cuda_device device, cuda_device peer)
{
	ENTER(cuDeviceCanAccessPeer);
	*can = peer + 1 == device;
	return CUDA_SUCCESS;
}

/* Objects without content are one byte each, so that the leak sanitizer finds those that are not
 * freed. */
static cuda_result create(void *handle)
{
	void *object = malloc(1);
	memcpy(handle, &object, sizeof(object));
	return CUDA_SUCCESS;
}

cuda_result cuCtxCreate_double(cuda_context *context, unsigned flags, cuda_device device)
{
	ENTER(cuCtxCreate);
	(void)flags;
	launched = 0;
	allocated = 0;
	return device < (int)setting_number("devices", 1) ? create(context)
							  : CUDA_ERROR_INVALID_DEVICE;
}

cuda_result cuCtxDestroy_double(cuda_context context)
{
	ENTER(cuCtxDestroy);
	free(context);
	return CUDA_SUCCESS;
}

cuda_result cuStreamCreate_double(cuda_stream *stream, unsigned flags)
{
	ENTER(cuStreamCreate);
	(void)flags;
	return create(stream);
}

/* Everything runs at the call itself; failures of a device are reported here. */
cuda_result cuStreamQuery_double(cuda_stream stream)
{
	ENTER(cuStreamQuery);
	(void)stream;
	if (launched == 0)
		return CUDA_SUCCESS;
	return setting_has("hang") ? CUDA_ERROR_NOT_READY : setting_enter("execution");
}

cuda_result cuStreamDestroy_double(cuda_stream stream)
{
	ENTER(cuStreamDestroy);
	free(stream);
	return CUDA_SUCCESS;
}

cuda_result cuEventCreate_double(cuda_event *event, unsigned flags)
{
	ENTER(cuEventCreate);
	(void)flags;
	return create(event);
}

cuda_result cuEventRecord_double(cuda_event event, cuda_stream stream)
{
	ENTER(cuEventRecord);
	(void)event;
	(void)stream;
	return CUDA_SUCCESS;
}

cuda_result cuEventElapsedTime_double(float *milliseconds, cuda_event from, cuda_event to)
{
	ENTER(cuEventElapsedTime);
	(void)from;
	(void)to;
	*milliseconds = setting_has("timeless") ? 0.0f : 0.5f;
	return CUDA_SUCCESS;
}

cuda_result cuEventDestroy_double(cuda_event event)
{
	ENTER(cuEventDestroy);
	free(event);
	return CUDA_SUCCESS;
}

cuda_result cuModuleLoadDataEx_double(cuda_module *module, const void *image, unsigned count,
				      enum cuda_jit_option *options, void **values)
{
	const cuda_result failure = setting_enter("cuModuleLoadDataEx");
	for (unsigned i = 0; failure != CUDA_SUCCESS && i < count; i++)
		if (options[i] == CUDA_JIT_ERROR_LOG_BUFFER)
			memcpy(values[i], BUILD_LOG, sizeof(BUILD_LOG));
	ENTER(cuModuleLoadDataEx);
	if (strstr(image, ".target sm_50\n") == NULL)
		return CUDA_ERROR_INVALID_PTX;
	*module = MODULE;
	return CUDA_SUCCESS;
}

cuda_result cuModuleGetFunction_double(cuda_function *function, cuda_module module,
				       const char *name)
{
	ENTER(cuModuleGetFunction);
	if (module != MODULE)
		return CUDA_ERROR_INVALID_HANDLE;
	*function = strcmp(name, "work") == 0 ? WORK : MONTE_CARLO;
	return strcmp(name, "work") == 0 || strcmp(name, "monte_carlo") == 0 ? CUDA_SUCCESS
									     : CUDA_ERROR_NOT_FOUND;
}

cuda_result cuModuleUnload_double(cuda_module module)
{
	ENTER(cuModuleUnload);
	return module == MODULE ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

cuda_result cuMemAllocHost_double(void **memory, size_t size)
{
	ENTER(cuMemAllocHost);
	*memory = malloc(size);
	return *memory != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

cuda_result cuMemFreeHost_double(void *memory)
{
	ENTER(cuMemFreeHost);
	free(memory);
	return CUDA_SUCCESS;
}

cuda_result cuMemAlloc_double(cuda_pointer *memory, size_t size)
{
	ENTER(cuMemAlloc);
	void *bytes = allocated + size <= MEMORY_BYTES ? malloc(size) : NULL;
	if (bytes == NULL)
		return CUDA_ERROR_OUT_OF_MEMORY;
	allocated += size;
	*memory = bytes;
	return CUDA_SUCCESS;
}

cuda_result cuMemGetInfo_double(size_t *free_bytes, size_t *total)
{
	ENTER(cuMemGetInfo);
	*total = MEMORY_BYTES;
	*free_bytes = MEMORY_BYTES - allocated;
	return CUDA_SUCCESS;
}

cuda_result cuMemFree_double(cuda_pointer memory)
{
	ENTER(cuMemFree);
	free(memory);
	return CUDA_SUCCESS;
}

cuda_result cuMemcpyHtoDAsync_double(cuda_pointer to, const void *from, size_t size,
				     cuda_stream stream)
{
	ENTER(cuMemcpyHtoDAsync);
	(void)stream;
	memcpy(to, from, size);
	return CUDA_SUCCESS;
}

cuda_result cuMemcpyDtoHAsync_double(void *to, cuda_pointer from, size_t size, cuda_stream stream)
{
	ENTER(cuMemcpyDtoHAsync);
	(void)stream;
	memcpy(to, from, size);
	return CUDA_SUCCESS;
}

static void *pointer_of(void *parameter)
{
	cuda_pointer pointer = NULL;
	memcpy(&pointer, parameter, sizeof(pointer));
	return pointer;
}

static uint32_t number_of(void *parameter)
{
	uint32_t number = 0;
	memcpy(&number, parameter, sizeof(number));
	return number;
}

static void run_work(void **arguments)
{
	const uint32_t elements = number_of(arguments[3]) + (setting_has("overrun") ? 1 : 0);
	float scale = 0;
	memcpy(&scale, arguments[5], sizeof(scale));
	for (running = 0; running < launched; running++)
		work(pointer_of(arguments[0]), pointer_of(arguments[1]), pointer_of(arguments[2]),
		     elements, number_of(arguments[4]), scale);
}

static void run_monte_carlo(void **arguments)
{
	uint32_t *hits = pointer_of(arguments[0]);
	for (running = 0; running < launched; running++)
		monte_carlo(hits, number_of(arguments[1]), number_of(arguments[2]));
	if (setting_has("biased")) /* a device that counts a little less everywhere */
		for (uint32_t i = 0; i < number_of(arguments[1]); i++)
			hits[i] -= 1;
}

cuda_result cuLaunchKernel_double(cuda_function function, unsigned grid_x, unsigned grid_y,
				  unsigned grid_z, unsigned block_x, unsigned block_y,
				  unsigned block_z, unsigned shared, cuda_stream stream,
				  void **parameters, void **extra)
{
	ENTER(cuLaunchKernel);
	(void)shared;
	(void)stream;
	if (grid_y != 1 || grid_z != 1 || block_y != 1 || block_z != 1 || extra != NULL)
		return CUDA_ERROR_INVALID_VALUE;
	launched = grid_x * block_x;
	if (setting_has("idle"))
		return CUDA_SUCCESS;
	if (function == MONTE_CARLO)
		run_monte_carlo(parameters);
	else
		run_work(parameters);
	if (function == WORK && setting_has("twice"))
		run_work(parameters);
	if (function == WORK && setting_number("wrong", SIZE_MAX) < number_of(parameters[3]))
		((uint32_t *)pointer_of(parameters[0]))[setting_number("wrong", 0)] ^= 1u;
	return CUDA_SUCCESS;
}
