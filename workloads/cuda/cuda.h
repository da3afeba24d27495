/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The CUDA driver API as probes use it. cuda_api is what programs need; the rest is shared by the
 * files of this folder and by the driver's double.
 *
 * The prototypes are declared here: the driver's library has a stable binary interface, and its
 * header is not free to redistribute. Source: CUDA Driver API reference. On 64-bit Windows its
 * calling convention is the compiler's own.
 */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#include <stddef.h>
#include <stdint.h>

#define CUDA_LIBRARY API_LIBRARY("nvcuda.dll", "libcuda.so.1")

typedef int cuda_result;
typedef int cuda_device;
typedef void *cuda_pointer; /* into the memory of a device; 64 bits wide, as programs are */
typedef struct cuda_context *cuda_context;
typedef struct cuda_stream *cuda_stream;
typedef struct cuda_event *cuda_event;
typedef struct cuda_module *cuda_module;
typedef struct cuda_function *cuda_function;

struct cuda_uuid {
	uint8_t bytes[16];
};

enum cuda_attribute {
	CUDA_ATTRIBUTE_MULTIPROCESSORS = 16,
	CUDA_ATTRIBUTE_INTEGRATED = 18,
	CUDA_ATTRIBUTE_PCI_BUS = 33,
	CUDA_ATTRIBUTE_PCI_DEVICE = 34,
	CUDA_ATTRIBUTE_PCI_DOMAIN = 50,
	CUDA_ATTRIBUTE_CAPABILITY_MAJOR = 75,
	CUDA_ATTRIBUTE_CAPABILITY_MINOR = 76,
};

enum { CUDA_STREAM_NON_BLOCKING = 1 };

enum cuda_jit_option {
	CUDA_JIT_ERROR_LOG_BUFFER = 5,
	CUDA_JIT_ERROR_LOG_BUFFER_SIZE = 6,
};

/* Results that decide something; the table of codes names the others. */
enum { CUDA_SUCCESS = 0, CUDA_ERROR_NO_DEVICE = 100, CUDA_ERROR_NOT_READY = 600 };

/* X(member of struct cuda, name in the library, parameters): functions that the work requires. */
#define CUDA_FUNCTIONS(X)                                                                          \
	X(cuInit, "cuInit", (unsigned flags))                                                      \
	X(cuDriverGetVersion, "cuDriverGetVersion", (int *version))                                \
	X(cuDeviceGetCount, "cuDeviceGetCount", (int *count))                                      \
	X(cuDeviceGet, "cuDeviceGet", (cuda_device * device, int ordinal))                         \
	X(cuDeviceGetName, "cuDeviceGetName", (char *name, int size, cuda_device device))          \
	X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, cuda_device device))           \
	X(cuDeviceGetAttribute, "cuDeviceGetAttribute",                                            \
	  (int *value, int attribute, cuda_device device))                                         \
	X(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer",                                          \
	  (int *can, cuda_device device, cuda_device peer))                                        \
	X(cuCtxCreate, "cuCtxCreate_v2",                                                           \
	  (cuda_context * context, unsigned flags, cuda_device device))                            \
	X(cuCtxDestroy, "cuCtxDestroy_v2", (cuda_context context))                                 \
	X(cuStreamCreate, "cuStreamCreate", (cuda_stream * stream, unsigned flags))                \
	X(cuStreamQuery, "cuStreamQuery", (cuda_stream stream))                                    \
	X(cuStreamDestroy, "cuStreamDestroy_v2", (cuda_stream stream))                             \
	X(cuEventCreate, "cuEventCreate", (cuda_event * event, unsigned flags))                    \
	X(cuEventRecord, "cuEventRecord", (cuda_event event, cuda_stream stream))                  \
	X(cuEventElapsedTime, "cuEventElapsedTime",                                                \
	  (float *milliseconds, cuda_event from, cuda_event to))                                   \
	X(cuEventDestroy, "cuEventDestroy_v2", (cuda_event event))                                 \
	X(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                                \
	  (cuda_module * module, const void *image, unsigned count, enum cuda_jit_option *options, \
	   void **values))                                                                         \
	X(cuModuleGetFunction, "cuModuleGetFunction",                                              \
	  (cuda_function * function, cuda_module module, const char *name))                        \
	X(cuModuleUnload, "cuModuleUnload", (cuda_module module))                                  \
	X(cuMemAllocHost, "cuMemAllocHost_v2", (void **memory, size_t size))                       \
	X(cuMemFreeHost, "cuMemFreeHost", (void *memory))                                          \
	X(cuMemAlloc, "cuMemAlloc_v2", (cuda_pointer * memory, size_t size))                       \
	X(cuMemGetInfo, "cuMemGetInfo_v2", (size_t * free, size_t * total))                        \
	X(cuMemFree, "cuMemFree_v2", (cuda_pointer memory))                                        \
	X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                               \
	  (cuda_pointer to, const void *from, size_t size, cuda_stream stream))                    \
	X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                               \
	  (void *to, cuda_pointer from, size_t size, cuda_stream stream))                          \
	X(cuLaunchKernel, "cuLaunchKernel",                                                        \
	  (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,              \
	   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,                  \
	   cuda_stream stream, void **parameters, void **extra))

#define CUDA_MEMBER(member, name, parameters) cuda_result(*member) parameters;

struct cuda {
	CUDA_FUNCTIONS(CUDA_MEMBER)
	/* NULL where the driver or the system does not have it. */
	cuda_result (*cuDeviceGetUuid)(struct cuda_uuid *uuid, cuda_device device);
	cuda_result (*cuDeviceGetLuid)(char luid[8], unsigned *nodes, cuda_device device);
	int device_count;
	cuda_device devices[API_DEVICES_MAX];
	struct calls calls;
};

/* compute.c: the work on one device that exists. Errors as for the `work` of an api_driver. */
int cuda_work(void *session, const struct work_request *request, struct work_report *report,
	      struct error *err);

/* The estimate of pi by the hits of all streams of `monte_carlo`, and by how many of its standard
 * errors it is wrong: below 6 where the device computes right. */
struct monte_carlo_estimate {
	uint64_t samples;
	uint64_t hits;
	double pi;
	double standard_errors; /* 0 or more */
};

#define MONTE_CARLO_ERRORS_MAX 6.0 /* by chance in one run of 500 million */

struct monte_carlo_estimate monte_carlo_estimate(const uint32_t *hits);
