/* SPDX-License-Identifier: MIT */
#include "workloads/opencl/opencl.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct code_advice codes[] = {
#include "workloads/opencl/codes.h" /* generated from the specification's headers */
};

typedef void *(CL_API_CALL *find_extension)(const char *name);
typedef cl_int(CL_API_CALL *get_loader_info)(cl_uint what, size_t size, void *value, size_t *told);

/* cl_loader_info: a function of the common loaders, not of the specification. */
static void read_version(struct api_report *report)
{
	enum { LOADER_INFO_VERSION = 2 };
	find_extension find = NULL;
	get_loader_info get = NULL;
	void *address = NULL;
	char version[sizeof(report->version)] = "";
	if (!api_find(OPENCL_LIBRARY, "clGetExtensionFunctionAddress", &find))
		return;
	address = find("clGetICDLoaderInfoOCLICD");
	memcpy(&get, &address, sizeof(address)); /* as in library_function() */
	if (get != NULL &&
	    get(LOADER_INFO_VERSION, sizeof(version) - 1, version, NULL) == CL_SUCCESS)
		(void)snprintf(report->version, sizeof(report->version), "%s", version);
}

static int load(struct opencl *cl, struct api_report *report, struct error *err)
{
#define FUNCTION(name) {#name, &cl->name},
	const struct api_function functions[] = {OPENCL_FUNCTIONS(FUNCTION){NULL, NULL}};
#undef FUNCTION
	int rc = api_load(report, OPENCL_LIBRARY, functions, err);
	if (rc == 0)
		read_version(report);
	return rc;
}

static int enumerate_platforms(struct opencl *cl, cl_platform_id *platforms, cl_uint *count,
			       struct error *err)
{
	cl_int code = cl->clGetPlatformIDs(OPENCL_PLATFORMS_MAX, platforms, count);
	if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && *count == 0))
		return error_set(
			err, ERROR_UNSUPPORTED,
			"the OpenCL loader found no driver that it can use (clGetPlatformIDs: %s)",
			code == CL_SUCCESS ? "no platform" : "CL_PLATFORM_NOT_FOUND_KHR");
	if (*count > OPENCL_PLATFORMS_MAX)
		*count = OPENCL_PLATFORMS_MAX;
	return call_check(&cl->calls, code, "clGetPlatformIDs", err);
}

/* A platform that fails does not hide the devices of the others. */
static int add_platform(struct opencl *cl, struct api_report *report, cl_platform_id platform,
			size_t index, struct error *err)
{
	cl_device_id ids[API_DEVICES_MAX] = {0};
	const size_t room = API_DEVICES_MAX - cl->device_count;
	struct error failure = {0};
	cl_uint count = 0;
	cl_int code = room > 0 ? cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, (cl_uint)room,
						    ids, &count)
			       : CL_DEVICE_NOT_FOUND;
	if (code != CL_SUCCESS)
		count = 0;
	if (code != CL_DEVICE_NOT_FOUND)
		(void)call_check(&cl->calls, code, "clGetDeviceIDs", &failure);
	int rc = members_append(report->platforms,
				opencl_describe_platform(cl, platform, index, &failure), err);
	for (cl_uint i = 0; rc == 0 && i < count && i < room; i++) {
		cl->devices[cl->device_count] = (struct opencl_device){
			.id = ids[i], .platform = platform, .platform_index = index};
		rc = api_report_device(report, opencl_describe_device(cl, cl->device_count++), err);
	}
	return rc;
}

static int enumerate(struct opencl *cl, struct api_report *report, struct error *err)
{
	cl_platform_id platforms[OPENCL_PLATFORMS_MAX] = {0};
	cl_uint count = 0;
	int rc = enumerate_platforms(cl, platforms, &count, err);
	for (cl_uint i = 0; rc == 0 && i < count; i++)
		rc = add_platform(cl, report, platforms[i], i, err);
	return rc;
}

static int opencl_open(struct api_report *report, void **session, struct error *err)
{
	struct opencl *cl = *session;
	cl->calls = (struct calls){.codes = codes, .code_count = ARRAY_SIZE(codes)};
	report->platforms = cJSON_CreateArray();
	if (report->platforms == NULL)
		return error_memory(err);
	int rc = load(cl, report, err);
	report->missing = "OpenCL driver";
	return rc == 0 ? enumerate(cl, report, err) : rc;
}

const struct api_driver opencl_api = {
	.name = "opencl",
	.library = OPENCL_LIBRARY,
	.summary = "Run verified work on an OpenCL device and report what happened",
	.description =
		"Opens the OpenCL loader, enumerates platforms and devices, builds a kernel from source, runs it on one device and "
		"verifies every element of the result on the CPU. The log of a kernel that does not build is reported.",
	.session_size = sizeof(struct opencl),
	.open = opencl_open,
	.work = opencl_work,
	.close = free,
};
