/* SPDX-License-Identifier: MIT */
#pragma once

/* The OpenCL API as probes use it: loader, platforms, devices. opencl_api is what programs need;
 * the rest is shared by the files of this folder. */

#include "base/error.h"
#include "workloads/common/api.h"
#include "workloads/common/work.h"

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <CL/cl_icd.h>

#include <stddef.h>

#define OPENCL_LIBRARY API_LIBRARY("OpenCL.dll", "libOpenCL.so.1")

enum { OPENCL_PLATFORMS_MAX = 64 };

struct opencl_device {
	cl_device_id id;
	cl_platform_id platform;
	size_t platform_index;
};

struct opencl {
#define X(name) cl_api_##name name;
#include "workloads/opencl/functions.h" /* those that this folder calls */
#undef X
	size_t device_count;
	struct opencl_device devices[API_DEVICES_MAX];
	struct calls calls;
};

/* compute.c: the work on one device that exists. Errors as for the `work` of an api_driver. */
int opencl_work(void *session, const struct work_request *request, struct work_report *report,
		struct error *err);
