/* SPDX-License-Identifier: MIT */
#include "workloads/opencl/opencl.h"

#include "base/cleanup.h"
#include "base/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int opencl_check(struct opencl *cl, cl_int code, const char *call, struct error *err)
{
	const char *name = opencl_error_name(code);

	if (code == CL_SUCCESS)
		return 0;
	cl->failure = (struct call_failure){.call = call, .code = code, .code_name = name};
	return error_set(err, ERROR_REMOTE, "%s: %s (%d)", call,
			 name != NULL ? name : "unknown error", (int)code);
}

typedef void *(CL_API_CALL *find_extension)(const char *name);
typedef cl_int(CL_API_CALL *get_loader_info)(cl_uint what, size_t size, void *value, size_t *told);

/* cl_loader_info: a function of the common loaders, not of the specification. */
static void read_version(void *library, struct api_report *report)
{
	enum { LOADER_INFO_VERSION = 2 };
	find_extension find = NULL;
	get_loader_info get = NULL;
	void *address = NULL;
	char version[sizeof(report->version)] = "";

	if (library_function(library, "clGetExtensionFunctionAddress", &find, NULL) != 0)
		return;
	address = find("clGetICDLoaderInfoOCLICD");
	memcpy(&get, &address, sizeof(address)); /* as in library_function() */
	if (get != NULL &&
	    get(LOADER_INFO_VERSION, sizeof(version) - 1, version, NULL) == CL_SUCCESS)
		(void)snprintf(report->version, sizeof(report->version), "%s", version);
}

static int load(struct opencl *cl, struct api_report *report, struct error *err)
{
	void *library = NULL;
	int code = library_open(OPENCL_LIBRARY, &library, err);

	if (code != 0)
		return code;
	api_report_loaded(report, library);
#define LOAD(name)                                                                                 \
	if (library_function(library, #name, &cl->name, NULL) != 0)                                \
		return error_set(err, ERROR_UNAVAILABLE, OPENCL_LIBRARY " has no function " #name);
	OPENCL_FUNCTIONS(LOAD)
#undef LOAD
	read_version(library, report);
	return 0;
}

static int enumerate_platforms(struct opencl *cl, cl_platform_id *platforms, cl_uint *count,
			       struct error *err)
{
	cl_int code = cl->clGetPlatformIDs(OPENCL_PLATFORMS_MAX, platforms, count);

	if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && *count == 0))
		return error_set(
			err, ERROR_UNSUPPORTED,
			"the OpenCL loader found no driver that it can use (clGetPlatformIDs: "
			"%s)",
			code == CL_SUCCESS ? "no platform" : "CL_PLATFORM_NOT_FOUND_KHR");
	if (*count > OPENCL_PLATFORMS_MAX)
		*count = OPENCL_PLATFORMS_MAX;
	return opencl_check(cl, code, "clGetPlatformIDs", err);
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
		(void)opencl_check(cl, code, "clGetDeviceIDs", &failure);
	if (!array_add(report->platforms, opencl_describe_platform(cl, platform, index, &failure)))
		return error_memory(err);
	for (cl_uint i = 0; i < count && i < room; i++) {
		cl->devices[cl->device_count] = (struct opencl_device){
			.id = ids[i], .platform = platform, .platform_index = index};
		if (!array_add(report->devices, opencl_describe_device(cl, cl->device_count)))
			return error_memory(err);
		cl->device_count++;
	}
	return 0;
}

static int enumerate(struct opencl *cl, struct api_report *report, struct error *err)
{
	cl_platform_id platforms[OPENCL_PLATFORMS_MAX] = {0};
	cl_uint count = 0;
	int code = enumerate_platforms(cl, platforms, &count, err);

	for (cl_uint i = 0; code == 0 && i < count; i++)
		code = add_platform(cl, report, platforms[i], i, err);
	return code;
}

int opencl_open(struct api_report *report, struct opencl **out, struct error *err)
{
	struct error reason = {0};
	int code = api_report_begin(report, "opencl", OPENCL_LIBRARY, err);
	struct opencl *cl CLEANUP_FREE = code == 0 ? calloc(1, sizeof(*cl)) : NULL;

	if (cl == NULL)
		return error_memory(err);
	report->platforms = cJSON_CreateArray();
	if (report->platforms == NULL)
		return error_memory(err);
	code = load(cl, report, &reason);
	if (code == 0)
		code = enumerate(cl, report, &reason);
	if (code == 0)
		*out = STEAL(cl);
	else if (code == ERROR_MEMORY)
		return error_memory(err);
	else if (code == ERROR_NOT_FOUND)
		api_report_unsupported(report, OPENCL_LIBRARY, &reason);
	else if (code == ERROR_UNSUPPORTED)
		api_report_unsupported(report, "OpenCL driver", &reason);
	else
		api_report_failed(report, &reason);
	return 0;
}
