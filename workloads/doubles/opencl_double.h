/* SPDX-License-Identifier: MIT */
#pragma once

/* An OpenCL driver for tests, loaded by the real loader. Its devices work on the processor and know
 * one kernel, that of the probes. Every object is the same small structure: it begins with the
 * dispatch table, as the loader requires, and is one allocation. */

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

enum { DOUBLE_ARGUMENTS = 6 };

struct double_argument {
	cl_mem buffer;
	cl_uint number;
	cl_float scale;
};

struct double_object {
	const cl_icd_dispatch *dispatch;
	size_t index;					    /* of a device */
	struct double_argument arguments[DOUBLE_ARGUMENTS]; /* of a kernel */
	unsigned char *bytes;				    /* of a buffer */
	size_t size;
};

extern cl_icd_dispatch double_dispatch;

struct double_object *double_object_new(void); /* ends the process when out of memory */

/* opencl_double_work.c: fills the entries of contexts, programs, queues and buffers. */
void double_add_work(cl_icd_dispatch *dispatch);

/* Returns the configured failure. */
#define ENTER(name)                                                                                \
	do {                                                                                       \
		const cl_int result_ = setting_enter(#name);                                       \
		if (result_ != CL_SUCCESS)                                                         \
			return result_;                                                            \
	} while (0)

/* The same for functions that return an object. */
#define ENTER_CREATE(name, result)                                                                 \
	do {                                                                                       \
		*(result) = setting_enter(#name);                                                  \
		if (*(result) != CL_SUCCESS)                                                       \
			return NULL;                                                               \
	} while (0)
