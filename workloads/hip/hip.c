/* SPDX-License-Identifier: MIT */
#include "workloads/hip/hip.h"

#include "base/cleanup.h"
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each major version of ROCm has its own library; the newest installed one is used. Old drivers for
 * Windows bring the last. */
static const struct runtime {
	const char *library;
	int major;
} runtimes[] = {
	{API_LIBRARY("amdhip64_7.dll", "libamdhip64.so.7"), 7},
	{API_LIBRARY("amdhip64_6.dll", "libamdhip64.so.6"), 6},
	{API_LIBRARY("amdhip64.dll", "libamdhip64.so.5"), 5},
};
/* Since version 7 the compiler is a separate library, on Windows with the minor version in its name:
 * hiprtc0602.dll, hiprtc0701.dll. */
enum { COMPILER_MINORS = API_LIBRARY(100, 1) };

static const struct hip_properties_layout layout_5 = {396, 336, 652};
static const struct hip_properties_layout layout_6 = {1160, 388, 396};

static int number_at(const uint8_t *properties, size_t place)
{
	int number = 0;
	memcpy(&number, properties + place, sizeof(number));
	return number;
}

/* Without a UUID: the runtime's own differs from those of other APIs. */
static cJSON *describe(const struct hip *hip, const struct api_report *report,
		       struct hip_device *device)
{
	struct members members CLEANUP_MEMBERS = api_device_new((size_t)device->ordinal);
	uint8_t *properties CLEANUP_FREE = memory_allocate(1, HIP_PROPERTIES_SIZE);
	const bool known = hip->hipGetDeviceProperties(properties, device->ordinal) == HIP_SUCCESS;

	/* "gfx90a:sramecc+:xnack-": code objects are for the part before the features. */
	memcpy(device->arch, properties + hip->layout->arch_name, sizeof(device->arch) - 1);
	device->arch[strcspn(device->arch, ":")] = '\0';

	char name[256] = "";
	(void)hip->hipDeviceGetName(name, sizeof(name) - 1, device->ordinal);
	member_optional(&members, "name", name);
	const char *type = "discrete-gpu";
	if (!known)
		type = NULL;
	else if (number_at(properties, hip->layout->integrated) != 0)
		type = "integrated-gpu";
	member_string(&members, "type", type);
	member_bool(&members, "software", false);

	/* "0000:3b:00.0", with digits of either case. */
	char address[64] = "";
	unsigned domain = 0, bus = 0, slot = 0, function = 0;
	if (hip->hipDeviceGetPCIBusId(address, sizeof(address) - 1, device->ordinal) ==
		    HIP_SUCCESS &&
	    sscanf(address, "%8x:%2x:%2x.%1x", &domain, &bus, &slot, &function) >= 3)
		api_add_pci_address(&members, domain, bus, slot, function);

	member_optional(&members, "apiVersion", report->version);
	member_optional(&members, "architecture", device->arch);
	if (known)
		member_number(&members, "computeUnits",
			      number_at(properties, hip->layout->multiprocessors));
	size_t memory = 0;
	if (hip->hipDeviceTotalMem(&memory, device->ordinal) == HIP_SUCCESS)
		member_number(&members, "memoryBytes", (double)memory);
	return members_take(&members);
}

/* Loads the newest runtime, and the newest compiler of its major version. */
static int load(struct hip *hip, struct api_report *report, struct error *err)
{
#define LOAD(name, parameters) {#name, &hip->name},
	const struct api_function functions[] = {
		HIP_FUNCTIONS(LOAD){"hipGetErrorName", &hip->hipGetErrorName}, {NULL, NULL}};
	const struct api_function compiler[] = {HIP_COMPILER_FUNCTIONS(LOAD){NULL, NULL}};
#undef LOAD
	const struct runtime *runtime = NULL;

	int rc = ERROR_NOT_FOUND;
	for (size_t i = 0; rc == ERROR_NOT_FOUND && i < ARRAY_SIZE(runtimes); i++) {
		runtime = &runtimes[i];
		rc = api_load(report, runtime->library, functions, err);
	}
	if (rc == ERROR_NOT_FOUND)
		return error_set(err, rc, "neither %s nor an older one is installed",
				 runtimes[0].library);
	if (rc != 0)
		return rc;
	hip->calls.code_name = hip->hipGetErrorName;
	hip->layout = &layout_6;
	if (!api_find(runtime->library, "hipGetDevicePropertiesR0600",
		      &hip->hipGetDeviceProperties)) {
		hip->layout = &layout_5;
		rc = api_load_one(NULL, runtime->library, "hipGetDeviceProperties",
				  &hip->hipGetDeviceProperties, err);
	}

	bool found = api_load(NULL, runtime->library, compiler, NULL) == 0;
	for (int minor = COMPILER_MINORS - 1; !found && minor >= 0; minor--) {
		char name[32] = "";
		(void)snprintf(name, sizeof(name), API_LIBRARY("hiprtc%04d.dll", "libhiprtc.so.%d"),
			       API_LIBRARY(100, 1) * runtime->major + minor);
		found = api_load(NULL, name, compiler, NULL) == 0;
	}
	if (!found)
		hip->hiprtcCreateProgram = NULL;
	return rc;
}

/* A runtime without any device is one that works. Each call reports that in its own way. */
static bool has_no_device(struct hip *hip, struct api_report *report, hip_result result,
			  const char *call)
{
	struct error reason = {0};
	if (result != HIP_NO_DEVICE && result != HIP_INVALID_DEVICE)
		return false;
	(void)call_check(&hip->calls, result, call, &reason);
	api_report_message(report, reason.text);
	return true;
}

static int hip_open(struct api_report *report, void *session, struct error *err)
{
	struct hip *hip = session;
	int version = 0;
	int count = 0;
	int rc = load(hip, report, err);
	if (rc != 0)
		return rc;

	if (hip->hipDriverGetVersion(&version) == HIP_SUCCESS && version > 0)
		(void)snprintf(report->version, sizeof(report->version), "%d.%d.%d",
			       version / 10000000, version / 100000 % 100, version % 100000);

	hip_result result = hip->hipInit(0);
	if (!has_no_device(hip, report, result, "hipInit")) {
		rc = call_check(&hip->calls, result, "hipInit", err);
		if (rc != 0)
			return rc;
	}
	result = hip->hipGetDeviceCount(&count);
	if (has_no_device(hip, report, result, "hipGetDeviceCount"))
		return 0;
	rc = call_check(&hip->calls, result, "hipGetDeviceCount", err);
	if (rc != 0)
		return rc;

	for (int i = 0; i < count && i < API_DEVICES_MAX; i++) {
		struct hip_device *device = &hip->devices[hip->device_count++];
		device->ordinal = i;
		api_report_device(report, describe(hip, report, device));
	}
	return 0;
}

const struct api_driver hip_api = {
	.name = "hip",
	.library = HIP_LIBRARY,
	.summary = "Run verified work on a HIP device and report what happened",
	.description =
		"Opens the runtime of HIP, enumerates devices, fills and copies memory on one device, runs a code "
		"object for its architecture there, or the output of the runtime's compiler, and verifies every element "
		"of the results on the CPU.",
	.session_size = sizeof(struct hip),
	.open = hip_open,
	.work = hip_work,
};
