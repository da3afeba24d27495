/* SPDX-License-Identifier: MIT */
#include "workloads/cuda/cuda.h"

#include "base/cleanup.h"

#include <stdio.h>

/* Source: CUDA Driver API reference, CUresult. */
static const struct code_advice codes[] = {
	{1, "CUDA_ERROR_INVALID_VALUE", NULL},
	{2, "CUDA_ERROR_OUT_OF_MEMORY",
	 "something else on the device holds the memory, or the container's share is smaller than the work"},
	{3, "CUDA_ERROR_NOT_INITIALIZED", "an earlier cuInit failed"},
	{4, "CUDA_ERROR_DEINITIALIZED", NULL},
	{34, "CUDA_ERROR_STUB_LIBRARY",
	 "this libcuda is the toolkit's stub: mount the driver's own and take stubs out of the library path"},
	{46, "CUDA_ERROR_DEVICE_UNAVAILABLE",
	 "the device is in exclusive mode and in use, or its compute mode is prohibited: see nvidia-smi -q -d COMPUTE"},
	{100, "CUDA_ERROR_NO_DEVICE",
	 "no device of NVIDIA is in the container: compare its device nodes and NVIDIA_VISIBLE_DEVICES, CUDA_VISIBLE_DEVICES "
	 "with the answer"},
	{101, "CUDA_ERROR_INVALID_DEVICE", NULL},
	{200, "CUDA_ERROR_INVALID_IMAGE", NULL},
	{201, "CUDA_ERROR_INVALID_CONTEXT", NULL},
	{205, "CUDA_ERROR_MAP_FAILED", NULL},
	{209, "CUDA_ERROR_NO_BINARY_FOR_GPU",
	 "the driver has no compiler for this architecture: the kernels need sm_50 or newer"},
	{214, "CUDA_ERROR_ECC_UNCORRECTABLE",
	 "the device's memory is damaged: see nvidia-smi -q -d ECC and take it out of service"},
	{217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", NULL},
	{218, "CUDA_ERROR_INVALID_PTX", "read buildLog: the driver does not take these kernels"},
	{220, "CUDA_ERROR_NVLINK_UNCORRECTABLE",
	 "a link between devices is broken: reset the device"},
	{221, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
	 "mount libnvidia-ptxjitcompiler.so.1 of the same driver as libcuda.so.1"},
	{222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
	 "the driver is older than the kernels, which need CUDA 7 or newer"},
	{301, "CUDA_ERROR_FILE_NOT_FOUND", NULL},
	{303, "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
	 "a library of the driver is missing in the container: mount all of one driver version"},
	{304, "CUDA_ERROR_OPERATING_SYSTEM",
	 "the system refused a call of the driver: look at the device cgroup and the permissions of /dev/nvidia*"},
	{400, "CUDA_ERROR_INVALID_HANDLE", NULL},
	{401, "CUDA_ERROR_ILLEGAL_STATE", NULL},
	{500, "CUDA_ERROR_NOT_FOUND", NULL},
	{600, "CUDA_ERROR_NOT_READY", NULL},
	{700, "CUDA_ERROR_ILLEGAL_ADDRESS",
	 "a kernel touched memory that is not its own; read the host's kernel log for an Xid"},
	{701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", NULL},
	{702, "CUDA_ERROR_LAUNCH_TIMEOUT",
	 "the display's watchdog ended a kernel: the device is too slow or shared with a display"},
	{709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", NULL},
	{715, "CUDA_ERROR_ILLEGAL_INSTRUCTION", NULL},
	{716, "CUDA_ERROR_MISALIGNED_ADDRESS", NULL},
	{718, "CUDA_ERROR_INVALID_PC", NULL},
	{719, "CUDA_ERROR_LAUNCH_FAILED",
	 "a kernel ended the context; read the host's kernel log for an Xid"},
	{800, "CUDA_ERROR_NOT_PERMITTED", NULL},
	{801, "CUDA_ERROR_NOT_SUPPORTED", NULL},
	{802, "CUDA_ERROR_SYSTEM_NOT_READY",
	 "start nvidia-fabricmanager of the driver's version on the host: NVSwitch needs it"},
	{803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
	 "libcuda and the host's kernel module are of different versions: mount the host's libcuda, and take out the one "
	 "that the image brings"},
	{804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
	 "the image's forward-compatibility libcuda (cuda-compat) only works on data-center devices: take it out of the library "
	 "path"},
	{805, "CUDA_ERROR_MPS_CONNECTION_FAILED",
	 "the container cannot reach the MPS daemon: mount its pipe directory and share its IPC namespace"},
	{999, "CUDA_ERROR_UNKNOWN",
	 "often /dev/nvidia-uvm or its kernel module is missing; read the host's kernel log"},
};

/* -1: unknown. */
static int attribute(const struct cuda *cuda, cuda_device device, enum cuda_attribute which)
{
	int value = 0;
	return cuda->cuDeviceGetAttribute(&value, (int)which, device) == CUDA_SUCCESS ? value : -1;
}

static cJSON *describe(const struct cuda *cuda, const struct api_report *report, int index)
{
	struct members members CLEANUP_MEMBERS = api_device_new((size_t)index);
	const cuda_device device = cuda->devices[index];
	char name[256] = "";

	(void)cuda->cuDeviceGetName(name, sizeof(name) - 1, device);
	member_optional(&members, "name", name);
	member_bool(&members, "software", false);

	struct cuda_uuid uuid = {{0}};
	const bool has_uuid = cuda->cuDeviceGetUuid != NULL &&
			      cuda->cuDeviceGetUuid(&uuid, device) == CUDA_SUCCESS;
	member_bytes(&members, "deviceUuid", has_uuid ? uuid.bytes : NULL, sizeof(uuid.bytes));
	char luid[8] = "";
	unsigned nodes = 0;
	if (cuda->cuDeviceGetLuid != NULL &&
	    cuda->cuDeviceGetLuid(luid, &nodes, device) == CUDA_SUCCESS)
		member_bytes(&members, "deviceLuid", (const uint8_t *)luid, sizeof(luid));

	const int domain = attribute(cuda, device, CUDA_ATTRIBUTE_PCI_DOMAIN);
	const int bus = attribute(cuda, device, CUDA_ATTRIBUTE_PCI_BUS);
	const int slot = attribute(cuda, device, CUDA_ATTRIBUTE_PCI_DEVICE);
	if (domain >= 0 && bus >= 0 && slot >= 0)
		api_add_pci_address(&members, (unsigned)domain, (unsigned)bus & 0xFFu,
				    (unsigned)slot & 0xFFu, 0);
	member_optional(&members, "apiVersion", report->version);

	const int integrated = attribute(cuda, device, CUDA_ATTRIBUTE_INTEGRATED);
	const int major = attribute(cuda, device, CUDA_ATTRIBUTE_CAPABILITY_MAJOR);
	const int minor = attribute(cuda, device, CUDA_ATTRIBUTE_CAPABILITY_MINOR);
	const int units = attribute(cuda, device, CUDA_ATTRIBUTE_MULTIPROCESSORS);
	if (integrated < 0 || major < 0 || minor < 0 || units < 0) {
		member_null(&members, "computeCapability");
	} else {
		member_string(&members, "type",
			      integrated != 0 ? "integrated-gpu" : "discrete-gpu");
		member_format(&members, "computeCapability", "%d.%d", major, minor);
		member_number(&members, "computeUnits", units);
	}

	size_t memory = 0;
	if (cuda->cuDeviceTotalMem(&memory, device) == CUDA_SUCCESS)
		member_number(&members, "memoryBytes", (double)memory);

	/* The other visible devices whose memory this one reaches directly. */
	struct members peers = member_array(&members, "peers");
	for (int i = 0; i < cuda->device_count; i++) {
		int can = 0;
		if (i != index &&
		    cuda->cuDeviceCanAccessPeer(&can, device, cuda->devices[i]) == CUDA_SUCCESS &&
		    can != 0)
			member_number(&peers, NULL, i);
	}
	return members_take(&members);
}

static int cuda_open(struct api_report *report, void *session, struct error *err)
{
	struct cuda *cuda = session;
#define FUNCTION(member, name, parameters) {name, &cuda->member},
	const struct api_function functions[] = {CUDA_FUNCTIONS(FUNCTION){NULL, NULL}};
#undef FUNCTION
	int version = 0;
	int count = 0;

	cuda->calls = (struct calls){.codes = codes, .code_count = ARRAY_SIZE(codes)};
	int rc = api_load(report, CUDA_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	/* The second version reports the UUID of a part of a device (MIG) instead of the whole
	 * device's. */
	if (!api_find(CUDA_LIBRARY, "cuDeviceGetUuid_v2", &cuda->cuDeviceGetUuid))
		(void)api_find(CUDA_LIBRARY, "cuDeviceGetUuid", &cuda->cuDeviceGetUuid);
	(void)api_find(CUDA_LIBRARY, "cuDeviceGetLuid", &cuda->cuDeviceGetLuid);
	if (cuda->cuDriverGetVersion(&version) == CUDA_SUCCESS)
		(void)snprintf(report->version, sizeof(report->version), "%d.%d", version / 1000,
			       version % 1000 / 10);

	/* A driver without any device is a driver that works. */
	const cuda_result result = cuda->cuInit(0);
	if (result == CUDA_ERROR_NO_DEVICE) {
		(void)call_check(&cuda->calls, result, "cuInit", err);
		api_report_message(report, err->text);
		return 0;
	}
	rc = call_check(&cuda->calls, result, "cuInit", err);
	if (rc == 0)
		rc = API_CALL(cuda, err, cuDeviceGetCount, &count);
	for (int i = 0; rc == 0 && i < count && i < API_DEVICES_MAX; i++) {
		rc = API_CALL(cuda, err, cuDeviceGet, &cuda->devices[i], i);
		if (rc == 0)
			cuda->device_count++;
	}
	for (int i = 0; rc == 0 && i < cuda->device_count; i++)
		api_report_device(report, describe(cuda, report, i));
	return rc;
}

const struct api_driver cuda_api = {
	.name = "cuda",
	.library = CUDA_LIBRARY,
	.summary = "Run verified work on a CUDA device and report what happened",
	.description =
		"Opens the library of NVIDIA's driver, enumerates the devices, has the driver compile kernels for one of "
		"them, runs them and verifies every element of the results on the CPU. An estimate of pi by random points "
		"is judged by its statistical error. How fast data went to the device and back is recorded.",
	.session_size = sizeof(struct cuda),
	.open = cuda_open,
	.work = cuda_work,
};
