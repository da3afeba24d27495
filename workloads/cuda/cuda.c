/* SPDX-License-Identifier: MIT */
#include "workloads/cuda/cuda.h"

#include "workloads/common/api.h"

#include <stdio.h>

#define DRIVER_LIBRARY API_LIBRARY("nvcuda.dll", "libcuda.so.1")

struct cuda {
	cuda_result (*cuInit)(unsigned flags);
	cuda_result (*cuDriverGetVersion)(int *version);
	cuda_result (*cuGetErrorName)(cuda_result result, const char **name);
	cuda_result (*cuDeviceGetCount)(int *count);
	cuda_result (*cuDeviceGet)(cuda_device *device, int ordinal);
	cuda_result (*cuDeviceGetName)(char *name, int size, cuda_device device);
	cuda_result (*cuDeviceGetUuid)(struct cuda_uuid *uuid, cuda_device device);
	cuda_result (*cuDeviceTotalMem)(size_t *bytes, cuda_device device);
	cuda_result (*cuDeviceGetAttribute)(int *value, int attribute, cuda_device device);
};

static int load(struct cuda *cuda, struct api_report *report, struct error *err)
{
	const struct api_function functions[] = {
		{"cuInit", &cuda->cuInit},
		{"cuDriverGetVersion", &cuda->cuDriverGetVersion},
		{"cuGetErrorName", &cuda->cuGetErrorName},
		{"cuDeviceGetCount", &cuda->cuDeviceGetCount},
		{"cuDeviceGet", &cuda->cuDeviceGet},
		{"cuDeviceGetName", &cuda->cuDeviceGetName},
		{"cuDeviceTotalMem_v2", &cuda->cuDeviceTotalMem},
		{"cuDeviceGetAttribute", &cuda->cuDeviceGetAttribute},
		{NULL, NULL},
	};
	/* The second version tells the UUID of a part of a device (MIG) instead of the whole one's.
	 */
	const struct api_function uuid[] = {{"cuDeviceGetUuid_v2", &cuda->cuDeviceGetUuid},
					    {NULL, NULL}};
	const struct api_function old[] = {{"cuDeviceGetUuid", &cuda->cuDeviceGetUuid},
					   {NULL, NULL}};
	int rc = api_load(report, DRIVER_LIBRARY, functions, err);
	if (rc == 0 && api_load(NULL, DRIVER_LIBRARY, uuid, NULL) != 0)
		rc = api_load(NULL, DRIVER_LIBRARY, old, err);
	return rc;
}

static int check(const struct cuda *cuda, cuda_result result, const char *call, struct error *err)
{
	const char *name = NULL;
	if (result == CUDA_SUCCESS)
		return 0;
	if (cuda->cuGetErrorName(result, &name) != CUDA_SUCCESS || name == NULL)
		name = "unknown error";
	return error_set(err, ERROR_REMOTE, "%s: %s (%d)", call, name, result);
}

static int attribute(const struct cuda *cuda, cuda_device device, enum cuda_attribute what)
{
	int value = 0;
	return cuda->cuDeviceGetAttribute(&value, (int)what, device) == CUDA_SUCCESS ? value : 0;
}

static cJSON *describe(const struct cuda *cuda, const struct api_report *report, int ordinal,
		       cuda_device device)
{
	struct members members CLEANUP_MEMBERS = members_new();
	struct cuda_uuid uuid = {{0}};
	char name[256] = "";
	size_t memory = 0;
	(void)cuda->cuDeviceGetName(name, sizeof(name) - 1, device);
	(void)cuda->cuDeviceTotalMem(&memory, device);
	member_number(&members, "index", ordinal);
	member_optional(&members, "name", name);
	member_string(&members, "type",
		      attribute(cuda, device, CUDA_ATTRIBUTE_INTEGRATED) != 0 ? "integrated-gpu"
									      : "discrete-gpu");
	member_bool(&members, "software", false);
	member_bytes(&members, "deviceUuid",
		     cuda->cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS ? uuid.bytes : NULL,
		     sizeof(uuid.bytes));
	api_add_pci_address(&members, (unsigned)attribute(cuda, device, CUDA_ATTRIBUTE_PCI_DOMAIN),
			    (unsigned)attribute(cuda, device, CUDA_ATTRIBUTE_PCI_BUS) & 0xFFu,
			    (unsigned)attribute(cuda, device, CUDA_ATTRIBUTE_PCI_DEVICE) & 0xFFu,
			    0);
	member_string(&members, "apiVersion", report->version);
	member_format(&members, "computeCapability", "%d.%d",
		      attribute(cuda, device, CUDA_ATTRIBUTE_CAPABILITY_MAJOR),
		      attribute(cuda, device, CUDA_ATTRIBUTE_CAPABILITY_MINOR));
	api_add_driver(&members, NULL);
	member_number(&members, "computeUnits",
		      attribute(cuda, device, CUDA_ATTRIBUTE_MULTIPROCESSORS));
	member_number(&members, "memoryBytes", (double)memory);
	return members_take(&members);
}

/* A driver without any device is a driver that works. */
static int initialize(const struct cuda *cuda, struct api_report *report, int *count,
		      struct error *err)
{
	int version = 0;
	cuda_result result = CUDA_SUCCESS;
	if (cuda->cuDriverGetVersion(&version) == CUDA_SUCCESS)
		(void)snprintf(report->version, sizeof(report->version), "%d.%d", version / 1000,
			       version % 1000 / 10);
	result = cuda->cuInit(0);
	if (result == CUDA_ERROR_NO_DEVICE) {
		api_report_message(report, "cuInit: CUDA_ERROR_NO_DEVICE");
		*count = 0;
		return 0;
	}
	int rc = check(cuda, result, "cuInit", err);
	return rc == 0 ? check(cuda, cuda->cuDeviceGetCount(count), "cuDeviceGetCount", err) : rc;
}

static int enumerate(const struct cuda *cuda, struct api_report *report, struct error *err)
{
	int count = 0;
	int rc = initialize(cuda, report, &count, err);
	for (int i = 0; rc == 0 && i < count && i < API_DEVICES_MAX; i++) {
		cuda_device device = 0;
		rc = check(cuda, cuda->cuDeviceGet(&device, i), "cuDeviceGet", err);
		if (rc == 0)
			rc = api_report_device(report, describe(cuda, report, i, device), err);
	}
	return rc;
}

static int cuda_open(struct api_report *report, void **session, struct error *err)
{
	struct cuda cuda = {0};
	int rc = load(&cuda, report, err);
	(void)session; /* there is no work yet */
	return rc == 0 ? enumerate(&cuda, report, err) : rc;
}

const struct api_driver cuda_api = {
	.name = "cuda",
	.library = DRIVER_LIBRARY,
	.open = cuda_open,
};
