/* SPDX-License-Identifier: MIT */
#include "workloads/opencl/opencl.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static const struct code_advice codes[] = {
#include "workloads/opencl/codes.h" /* generated from the specification's headers */
};

typedef void *(CL_API_CALL *find_extension)(const char *name);
typedef cl_int(CL_API_CALL *get_loader_info)(cl_uint what, size_t size, void *value, size_t *got);

enum { STRING_MAX = 64 * 1024 };

/* Vendors' queries from before cl_khr_pci_bus_info. */
#define NV_PCI_BUS    0x4008u
#define NV_PCI_SLOT   0x4009u
#define NV_PCI_DOMAIN 0x400Au

struct amd_topology {
	cl_uint type; /* 1: PCIe */
	cl_uchar unused[17];
	cl_uchar bus, device, function;
};

#define AMD_TOPOLOGY	  0x4037u
#define AMD_TOPOLOGY_PCIE 1u

static bool read_value(const struct opencl *cl, cl_device_id device, cl_device_info what,
		       void *value, size_t size)
{
	size_t got = 0;
	return cl->clGetDeviceInfo(device, what, size, value, &got) == CL_SUCCESS && got == size;
}

/* The caller frees; NULL when the query fails or the string is absurdly long. */
static char *read_string(const struct opencl *cl, cl_device_id device, cl_device_info what)
{
	char *string CLEANUP_FREE = memory_allocate(1, STRING_MAX + 1);
	if (cl->clGetDeviceInfo(device, what, STRING_MAX, string, NULL) != CL_SUCCESS)
		return NULL;
	return STEAL(string);
}

static void add_info(struct members *members, const char *key, const struct opencl *cl,
		     cl_device_id device, cl_device_info what)
{
	char *string CLEANUP_FREE = read_string(cl, device, what);
	member_string(members, key, string);
}

static void add_platform_info(struct members *members, const char *key, const struct opencl *cl,
			      cl_platform_id platform, cl_platform_info what)
{
	char string[4096] = "";
	cl_int code = cl->clGetPlatformInfo(platform, what, sizeof(string) - 1, string, NULL);
	member_string(members, key, code == CL_SUCCESS ? string : NULL);
}

static void add_uuid(struct members *members, const char *key, const struct opencl *cl,
		     cl_device_id device, cl_device_info what)
{
	uint8_t uuid[CL_UUID_SIZE_KHR] = {0};
	bool known = read_value(cl, device, what, uuid, sizeof(uuid));
	member_bytes(members, key, known ? uuid : NULL, sizeof(uuid));
}

static void add_pci(struct members *members, const struct opencl *cl, cl_device_id device)
{
	cl_device_pci_bus_info_khr khr = {0};
	struct amd_topology amd = {0};
	cl_uint domain = (cl_uint)API_PCI_UNKNOWN;
	cl_uint bus = 0;
	cl_uint slot = 0; /* device << 3 | function */
	if (read_value(cl, device, CL_DEVICE_PCI_BUS_INFO_KHR, &khr, sizeof(khr))) {
		api_add_pci_address(members, khr.pci_domain, khr.pci_bus, khr.pci_device,
				    khr.pci_function);
	} else if (read_value(cl, device, NV_PCI_BUS, &bus, sizeof(bus)) &&
		   read_value(cl, device, NV_PCI_SLOT, &slot, sizeof(slot))) {
		(void)read_value(cl, device, NV_PCI_DOMAIN, &domain, sizeof(domain));
		api_add_pci_address(members, domain, bus, slot >> 3, slot & 7u);
	} else if (read_value(cl, device, AMD_TOPOLOGY, &amd, sizeof(amd)) &&
		   amd.type == AMD_TOPOLOGY_PCIE) {
		/* Without a domain. A GPU is function 0 of its slot; kernels before 6.9 put the number
		 * of a partition there (kfd_topology.c). */
		api_add_pci_address(members, (unsigned)API_PCI_UNKNOWN, amd.bus, amd.device, 0);
	}
}

static cJSON *describe_device(struct opencl *cl, size_t index)
{
	static const struct {
		cl_device_type bit;
		const char *name;
	} types[] = {{CL_DEVICE_TYPE_GPU, "gpu"},
		     {CL_DEVICE_TYPE_CPU, "cpu"},
		     {CL_DEVICE_TYPE_ACCELERATOR, "accelerator"},
		     {CL_DEVICE_TYPE_CUSTOM, "custom"}};
	struct members device CLEANUP_MEMBERS = api_device_new(index);
	const struct opencl_device *described = &cl->devices[index];
	cl_device_id id = described->id;
	char *version CLEANUP_FREE = read_string(cl, id, CL_DRIVER_VERSION);
	uint8_t luid[CL_LUID_SIZE_KHR] = {0};
	cl_bool luid_valid = CL_FALSE;
	cl_device_type type = 0;
	cl_ulong memory = 0;
	cl_uint vendor = 0;
	cl_uint units = 0;
	cl_bool available = CL_FALSE;

	(void)read_value(cl, id, CL_DEVICE_TYPE, &type, sizeof(type));
	(void)read_value(cl, id, CL_DEVICE_VENDOR_ID, &vendor, sizeof(vendor));
	(void)read_value(cl, id, CL_DEVICE_GLOBAL_MEM_SIZE, &memory, sizeof(memory));
	(void)read_value(cl, id, CL_DEVICE_MAX_COMPUTE_UNITS, &units, sizeof(units));
	(void)read_value(cl, id, CL_DEVICE_AVAILABLE, &available, sizeof(available));
	const char *type_name = NULL;
	for (size_t i = 0; type_name == NULL && i < ARRAY_SIZE(types); i++)
		type_name = (type & types[i].bit) != 0 ? types[i].name : NULL;
	const bool has_luid =
		read_value(cl, id, CL_DEVICE_LUID_VALID_KHR, &luid_valid, sizeof(luid_valid)) &&
		luid_valid != CL_FALSE &&
		read_value(cl, id, CL_DEVICE_LUID_KHR, luid, sizeof(luid));

	member_number(&device, "platform", (double)described->platform_index);
	add_info(&device, "name", cl, id, CL_DEVICE_NAME);
	member_string(&device, "type", type_name);
	member_bool(&device, "software", (type & CL_DEVICE_TYPE_CPU) != 0);
	add_info(&device, "vendor", cl, id, CL_DEVICE_VENDOR);
	member_hex(&device, "vendorId", vendor, 4);
	add_uuid(&device, "deviceUuid", cl, id, CL_DEVICE_UUID_KHR);
	add_uuid(&device, "driverUuid", cl, id, CL_DRIVER_UUID_KHR);
	member_bytes(&device, "deviceLuid", has_luid ? luid : NULL, sizeof(luid));
	add_pci(&device, cl, id);
	add_info(&device, "apiVersion", cl, id, CL_DEVICE_VERSION);
	add_info(&device, "languageVersion", cl, id, CL_DEVICE_OPENCL_C_VERSION);
	api_add_driver(&device, version);
	member_bool(&device, "available", available != CL_FALSE);
	member_number(&device, "computeUnits", units);
	member_number(&device, "memoryBytes", (double)memory);
	return members_take(&device);
}

/* A platform that fails does not hide the devices of the others. */
static void add_platform(struct opencl *cl, struct api_report *report, cl_platform_id platform,
			 size_t index)
{
	struct members members CLEANUP_MEMBERS = members_new();
	cl_device_id ids[API_DEVICES_MAX] = {0};
	const size_t room = API_DEVICES_MAX - cl->device_count;
	struct error failure = {0};
	cl_uint count = 0;
	cl_int code = CL_DEVICE_NOT_FOUND;

	if (room > 0)
		code = cl->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, (cl_uint)room, ids, &count);
	if (code != CL_SUCCESS)
		count = 0;
	if (code != CL_DEVICE_NOT_FOUND)
		(void)call_check(&cl->calls, code, "clGetDeviceIDs", &failure);

	member_number(&members, "index", (double)index);
	add_platform_info(&members, "name", cl, platform, CL_PLATFORM_NAME);
	add_platform_info(&members, "vendor", cl, platform, CL_PLATFORM_VENDOR);
	add_platform_info(&members, "version", cl, platform, CL_PLATFORM_VERSION);
	add_platform_info(&members, "profile", cl, platform, CL_PLATFORM_PROFILE);
	member_optional(&members, "reason", failure.text);
	array_add(report->platforms, members_take(&members));

	for (cl_uint i = 0; i < count && i < room; i++) {
		cl->devices[cl->device_count] = (struct opencl_device){
			.id = ids[i], .platform = platform, .platform_index = index};
		api_report_device(report, describe_device(cl, cl->device_count++));
	}
}

static int opencl_open(struct api_report *report, void *session, struct error *err)
{
	struct opencl *cl = session;
#define X(name) {#name, &cl->name},
	const struct api_function functions[] = {
#include "workloads/opencl/functions.h"
		{NULL, NULL}};
#undef X
	cl_platform_id platforms[OPENCL_PLATFORMS_MAX] = {0};
	cl_uint count = 0;

	cl->calls = (struct calls){.codes = codes, .code_count = ARRAY_SIZE(codes)};
	report->platforms = cJSON_CreateArray();
	int rc = api_load(report, OPENCL_LIBRARY, functions, err);
	report->missing = "OpenCL driver";
	if (rc != 0)
		return rc;

	/* The version, by a function of the common loaders that is not in the specification. */
	enum { LOADER_INFO_VERSION = 2 };
	find_extension find = NULL;
	get_loader_info get = NULL;
	if (api_find(OPENCL_LIBRARY, "clGetExtensionFunctionAddress", &find)) {
		void *address = find("clGetICDLoaderInfoOCLICD");
		memcpy(&get, &address, sizeof(address)); /* as in library_function() */
	}
	if (get != NULL && get(LOADER_INFO_VERSION, sizeof(report->version) - 1, report->version,
			       NULL) != CL_SUCCESS)
		report->version[0] = '\0';

	cl_int code = cl->clGetPlatformIDs(OPENCL_PLATFORMS_MAX, platforms, &count);
	if (code == CL_PLATFORM_NOT_FOUND_KHR || (code == CL_SUCCESS && count == 0))
		return error_set(
			err, ERROR_UNSUPPORTED,
			"the OpenCL loader found no driver that it can use (clGetPlatformIDs: %s)",
			code == CL_SUCCESS ? "no platform" : "CL_PLATFORM_NOT_FOUND_KHR");
	rc = call_check(&cl->calls, code, "clGetPlatformIDs", err);
	for (cl_uint i = 0; rc == 0 && i < count && i < OPENCL_PLATFORMS_MAX; i++)
		add_platform(cl, report, platforms[i], i);
	return rc;
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
};
