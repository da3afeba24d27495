/* SPDX-License-Identifier: MIT */
#include "workloads/doubles/opencl_double.h"

#include "workloads/doubles/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16 };

#define EXPORT __attribute__((visibility("default")))

EXPORT CL_API_ENTRY void *CL_API_CALL clGetExtensionFunctionAddress(const char *name);

cl_icd_dispatch double_dispatch;

static struct double_object platform = {.dispatch = &double_dispatch};
static struct double_object devices[DEVICES_MAX];

struct double_object *double_object_new(void)
{
	struct double_object *object = calloc(1, sizeof(*object));
	if (object == NULL)
		_Exit(99);
	object->dispatch = &double_dispatch;
	return object;
}

static cl_int answer(const void *value, size_t size, size_t room, void *out, size_t *needed)
{
	if (needed != NULL)
		*needed = size;
	if (out == NULL)
		return CL_SUCCESS;
	if (room < size)
		return CL_INVALID_VALUE;
	memcpy(out, value, size);
	return CL_SUCCESS;
}

static cl_int answer_string(const char *value, size_t room, void *out, size_t *needed)
{
	return answer(value, strlen(value) + 1, room, out, needed);
}

static cl_int CL_API_CALL get_platform_info(cl_platform_id id, cl_platform_info what, size_t room,
					    void *out, size_t *needed)
{
	(void)id;
	switch (what) {
	case CL_PLATFORM_NAME:
		return answer_string("Double", room, out, needed);
	case CL_PLATFORM_VENDOR:
		return answer_string("gpucert \x1b[31m", room, out, needed);
	case CL_PLATFORM_VERSION:
		return answer_string("OpenCL 3.0 Double", room, out, needed);
	case CL_PLATFORM_PROFILE:
		return answer_string("FULL_PROFILE", room, out, needed);
	case CL_PLATFORM_EXTENSIONS:
		return answer_string("cl_khr_icd", room, out, needed);
	case CL_PLATFORM_ICD_SUFFIX_KHR:
		return answer_string("DBL", room, out, needed);
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int CL_API_CALL get_device_ids(cl_platform_id id, cl_device_type type, cl_uint room,
					 cl_device_id *out, cl_uint *count_out)
{
	const size_t wanted = setting_number("devices", 1);
	const cl_uint count = wanted < DEVICES_MAX ? (cl_uint)wanted : DEVICES_MAX;
	(void)id;
	(void)type;
	ENTER(clGetDeviceIDs);
	if (count == 0)
		return CL_DEVICE_NOT_FOUND;
	for (cl_uint i = 0; i < DEVICES_MAX; i++)
		devices[i] = (struct double_object){.dispatch = &double_dispatch, .index = i};
	for (cl_uint i = 0; out != NULL && i < count && i < room; i++)
		out[i] = (cl_device_id)&devices[i];
	if (count_out != NULL)
		*count_out = count;
	return CL_SUCCESS;
}

static cl_int answer_identity(size_t index, cl_device_info what, size_t room, void *out,
			      size_t *needed)
{
	const cl_device_pci_bus_info_khr pci = {
		.pci_domain = (cl_uint)setting_number("pci-domain", 1),
		.pci_bus = (cl_uint)(setting_number("opencl-bus", setting_number("pci-bus", 0x40)) +
				     index),
	};
	const cl_bool yes = CL_TRUE;
	const unsigned char topology[24] = {
		1, [21] = (unsigned char)setting_number("pci-bus", 0x83),
		[23] = (unsigned char)index};
	unsigned char bytes[CL_UUID_SIZE_KHR];
	if (setting_has("old"))
		return CL_INVALID_VALUE;
	memset(bytes, (int)(setting_number("nvidia-uuid", 1) + index), sizeof(bytes));
	switch (what) {
	case CL_DEVICE_UUID_KHR:
	case CL_DRIVER_UUID_KHR:
		return answer(bytes, sizeof(bytes), room, out, needed);
	case CL_DEVICE_LUID_KHR:
		return answer(bytes, CL_LUID_SIZE_KHR, room, out, needed);
	case CL_DEVICE_LUID_VALID_KHR:
		return answer(&yes, sizeof(yes), room, out, needed);
	case 0x4037: /* CL_DEVICE_TOPOLOGY_AMD: type, bus, device and partition, no domain */
		return setting_has("topology")
			       ? answer(topology, sizeof(topology), room, out, needed)
			       : CL_INVALID_VALUE;
	case CL_DEVICE_PCI_BUS_INFO_KHR:
		if (setting_has("topology"))
			return CL_INVALID_VALUE;
		return answer(&pci, sizeof(pci), room, out, needed);
	default:
		return CL_INVALID_VALUE;
	}
}

static cl_int CL_API_CALL get_device_info(cl_device_id id, cl_device_info what, size_t room,
					  void *out, size_t *needed)
{
	static const cl_bool yes = CL_TRUE;
	const cl_uint vendor = (cl_uint)setting_number("vendor", 0x10DE);
	static const cl_uint units = 7;
	static const cl_ulong memory = 64u << 20;
	static const cl_ulong largest = 16u << 20;
	static const cl_device_type type = CL_DEVICE_TYPE_GPU;
	ENTER(clGetDeviceInfo);
	switch (what) {
	case CL_DEVICE_NAME:
		return answer_string("Double", room, out, needed);
	case CL_DEVICE_VENDOR:
		return answer_string(setting_number("nvidia-uuid", 0) != 0 ? "NVIDIA Corporation"
									   : "gpucert",
				     room, out, needed);
	case CL_DEVICE_VERSION:
		return answer_string("OpenCL 3.0 Double", room, out, needed);
	case CL_DRIVER_VERSION:
		return answer_string("1.2.3", room, out, needed);
	case CL_DEVICE_OPENCL_C_VERSION:
		return answer_string("OpenCL C 1.2", room, out, needed);
	case CL_DEVICE_TYPE:
		return answer(&type, sizeof(type), room, out, needed);
	case CL_DEVICE_VENDOR_ID:
		return answer(&vendor, sizeof(vendor), room, out, needed);
	case CL_DEVICE_MAX_COMPUTE_UNITS:
		return answer(&units, sizeof(units), room, out, needed);
	case CL_DEVICE_GLOBAL_MEM_SIZE:
		return answer(&memory, sizeof(memory), room, out, needed);
	case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
		return answer(&largest, sizeof(largest), room, out, needed);
	case CL_DEVICE_AVAILABLE:
		return answer(&yes, sizeof(yes), room, out, needed);
	default:
		return answer_identity(((struct double_object *)id)->index, what, room, out,
				       needed);
	}
}

static cl_int CL_API_CALL get_platform_ids(cl_uint room, cl_platform_id *out, cl_uint *count_out)
{
	ENTER(clIcdGetPlatformIDsKHR);
	if (setting_has("noise"))
		(void)printf("the driver says hello\n"), (void)fflush(stdout);
	double_dispatch.clGetPlatformInfo = get_platform_info;
	double_dispatch.clGetDeviceIDs = get_device_ids;
	double_dispatch.clGetDeviceInfo = get_device_info;
	double_add_work(&double_dispatch);
	if (out != NULL && room > 0)
		out[0] = (cl_platform_id)&platform;
	if (count_out != NULL)
		*count_out = 1;
	return CL_SUCCESS;
}

void *CL_API_CALL clGetExtensionFunctionAddress(const char *name)
{
	cl_int(CL_API_CALL * ids)(cl_uint, cl_platform_id *, cl_uint *) = get_platform_ids;
	cl_int(CL_API_CALL * info)(cl_platform_id, cl_platform_info, size_t, void *, size_t *) =
		get_platform_info;
	void *address = NULL;
	if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
		memcpy(&address, &ids, sizeof(address));
	else if (strcmp(name, "clGetPlatformInfo") == 0)
		memcpy(&address, &info, sizeof(address));
	return address;
}
