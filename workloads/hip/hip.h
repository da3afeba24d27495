/* SPDX-License-Identifier: MIT */
#pragma once

/* HIP as probes use it. hip_api is what programs need; the rest is shared by the files of this folder.
 * The prototypes are declared here: the binary interface is stable, and the headers come with a
 * development package of hundreds of megabytes.
 * Source: HIP runtime API reference, modules Initialization, Device, Memory, Stream, Module and the
 * runtime compiler. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#include <stddef.h>

#define HIP_LIBRARY API_LIBRARY("amdhip64.dll", "libamdhip64.so")

typedef int hip_result;
typedef struct hip_stream *hip_stream;
typedef struct hip_module *hip_module;
typedef struct hip_function *hip_function;
typedef struct hip_program *hip_program;

#define HIP_SUCCESS	   0
#define HIP_NO_DEVICE	   100
#define HIP_INVALID_DEVICE 101
#define HIP_NOT_READY	   600

enum hip_copy { HIP_TO_DEVICE = 1, HIP_FROM_DEVICE = 2 };

/* The output of hipGetDeviceProperties(): ROCm 6 has more members, in other places, under another name.
 * Source: hipDeviceProp_t of hip/hip_runtime_api.h 5.2, hipDeviceProp_tR0600 of 6.0 and later. */
enum {
	HIP_PROPERTIES_SIZE = 4096, /* twice the size of any version */
	HIP_ARCH_NAME_SIZE = 256,
};

struct hip_properties_layout {
	size_t arch_name;	/* text */
	size_t multiprocessors; /* int */
	size_t integrated;	/* int */
};

#define HIP_FUNCTIONS(X)                                                                           \
	X(hipInit, (unsigned flags))                                                               \
	X(hipDriverGetVersion, (int *version))                                                     \
	X(hipGetDeviceCount, (int *count))                                                         \
	X(hipSetDevice, (int device))                                                              \
	X(hipDeviceGetName, (char *name, int size, int device))                                    \
	X(hipDeviceGetPCIBusId, (char *address, int size, int device))                             \
	X(hipDeviceTotalMem, (size_t * bytes, int device))                                         \
	X(hipMemGetInfo, (size_t * free_bytes, size_t * total))                                    \
	X(hipMalloc, (void **memory, size_t size))                                                 \
	X(hipFree, (void *memory))                                                                 \
	X(hipHostMalloc, (void **memory, size_t size, unsigned flags))                             \
	X(hipHostFree, (void *memory))                                                             \
	X(hipStreamCreate, (hip_stream * stream))                                                  \
	X(hipStreamQuery, (hip_stream stream))                                                     \
	X(hipStreamDestroy, (hip_stream stream))                                                   \
	X(hipMemcpyAsync, (void *to, const void *from, size_t size, int kind, hip_stream stream))  \
	X(hipMemsetD32Async, (void *memory, int value, size_t count, hip_stream stream))           \
	X(hipModuleLoadData, (hip_module * module, const void *image))                             \
	X(hipModuleUnload, (hip_module module))                                                    \
	X(hipModuleGetFunction, (hip_function * function, hip_module module, const char *name))    \
	X(hipModuleLaunchKernel,                                                                   \
	  (hip_function function, unsigned blocks_x, unsigned blocks_y, unsigned blocks_z,         \
	   unsigned threads_x, unsigned threads_y, unsigned threads_z, unsigned shared,            \
	   hip_stream stream, void **arguments, void **extra))

/* The compiler, which need not be there. */
#define HIP_COMPILER_FUNCTIONS(X)                                                                  \
	X(hiprtcCreateProgram, (hip_program * program, const char *source, const char *name,       \
				int headers, const char **texts, const char **names))              \
	X(hiprtcCompileProgram, (hip_program program, int count, const char **options))            \
	X(hiprtcGetProgramLogSize, (hip_program program, size_t * size))                           \
	X(hiprtcGetProgramLog, (hip_program program, char *log))                                   \
	X(hiprtcGetCodeSize, (hip_program program, size_t * size))                                 \
	X(hiprtcGetCode, (hip_program program, char *code))                                        \
	X(hiprtcDestroyProgram, (hip_program * program))

#define HIP_DECLARE(name, parameters) hip_result(*name) parameters;

struct hip_device {
	int ordinal;
	char arch[HIP_ARCH_NAME_SIZE]; /* "gfx90a", without features; "" is unknown */
};

struct hip {
	HIP_FUNCTIONS(HIP_DECLARE)
	HIP_COMPILER_FUNCTIONS(HIP_DECLARE) /* the first is NULL: there is none */
	const char *(*hipGetErrorName)(hip_result result);
	hip_result (*hipGetDeviceProperties)(void *properties, int device);
	const struct hip_properties_layout *layout; /* of its output */
	size_t device_count;
	struct hip_device devices[API_DEVICES_MAX];
	struct calls calls;
};

/* compute.c: the work on one device that exists. Errors as for the `work` of an api_driver. */
int hip_work(void *session, const struct work_request *request, struct work_report *report,
	     struct error *err);
