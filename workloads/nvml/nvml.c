/* SPDX-License-Identifier: MIT */
#include "workloads/nvml/nvml.h"

#include "base/cleanup.h"
#include "base/process.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

/* Source: NVML API reference, nvmlReturn_t. */
static const struct code_advice codes[] = {
	{1, "NVML_ERROR_UNINITIALIZED", "an earlier nvmlInit failed"},
	{2, "NVML_ERROR_INVALID_ARGUMENT", NULL},
	{3, "NVML_ERROR_NOT_SUPPORTED", NULL},
	{4, "NVML_ERROR_NO_PERMISSION",
	 "the device cgroup or the permissions of its node in /dev refuse the device"},
	{6, "NVML_ERROR_NOT_FOUND", NULL},
	{7, "NVML_ERROR_INSUFFICIENT_SIZE", NULL},
	{9, "NVML_ERROR_DRIVER_NOT_LOADED",
	 "the host has no kernel module of NVIDIA, or /dev/nvidiactl is not in the container"},
	{10, "NVML_ERROR_TIMEOUT", NULL},
	{11, "NVML_ERROR_IRQ_ISSUE",
	 "interrupts of the device do not arrive; read the host's kernel log"},
	{12, "NVML_ERROR_LIBRARY_NOT_FOUND",
	 "a library that NVML needs is not in the container: mount all of one driver version"},
	{13, "NVML_ERROR_FUNCTION_NOT_FOUND",
	 "the libraries of the driver are of different versions: mount all of one"},
	{15, "NVML_ERROR_GPU_IS_LOST",
	 "the device fell off the bus; read the host's kernel log for Xid 79, and reset or reboot"},
	{16, "NVML_ERROR_RESET_REQUIRED", "reset the device: nvidia-smi --gpu-reset"},
	{17, "NVML_ERROR_OPERATING_SYSTEM",
	 "the system refused a call of the driver: look at the device cgroup and the permissions of /dev/nvidia*"},
	{18, "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
	 "libnvidia-ml and the host's kernel module are of different versions: mount the host's library, and reboot a host whose "
	 "driver was just updated"},
	{19, "NVML_ERROR_IN_USE", NULL},
	{20, "NVML_ERROR_MEMORY", NULL},
	{999, "NVML_ERROR_UNKNOWN", "read the host's kernel log"},
};

bool nvml_parse_uuid(const char *text, uint8_t out[16])
{
	const char *end = NULL;
	size_t size = 0;
	if (strncmp(text, "GPU-", 4) != 0 && strncmp(text, "MIG-", 4) != 0)
		return false;
	return sodium_hex2bin(out, 16, text + 4, strlen(text + 4), "-", &size, &end) == 0 &&
	       size == 16 && *end == '\0';
}

static cJSON *describe(const struct nvml *nvml, unsigned index, nvml_device device)
{
	struct members members CLEANUP_MEMBERS = api_device_new(index);
	char name[NVML_TEXT_MAX + 1] = "";
	char text[NVML_TEXT_MAX + 1] = "";
	uint8_t uuid[16] = {0};
	struct nvml_pci pci = {.domain = 0};
	struct nvml_memory memory = {0};

	(void)nvml->nvmlDeviceGetName(device, name, NVML_TEXT_MAX);
	member_optional(&members, "name", name);
	member_bool(&members, "software", false);

	const bool known = nvml->nvmlDeviceGetUUID(device, text, NVML_TEXT_MAX) == NVML_SUCCESS &&
			   nvml_parse_uuid(text, uuid);
	member_bytes(&members, "deviceUuid", known ? uuid : NULL, sizeof(uuid));
	if (nvml->nvmlDeviceGetPciInfo(device, &pci) == NVML_SUCCESS) {
		api_add_pci_address(&members, pci.domain, pci.bus & 0xFFu, pci.device & 0xFFu, 0);
		api_add_ids(&members, pci.id & 0xFFFFu, pci.id >> 16);
		member_hex(&members, "subSystemId", pci.subsystem_id, 8);
	}

	member_optional(&members, "apiVersion", nvml->cuda_version);
	api_add_driver(&members, nvml->driver_version[0] != '\0' ? nvml->driver_version : NULL);
	if (nvml->nvmlDeviceGetMemoryInfo(device, &memory) == NVML_SUCCESS)
		member_number(&members, "memoryBytes", (double)memory.total);
	return members_take(&members);
}

static int nvml_open(struct api_report *report, void *session, struct error *err)
{
	struct nvml *nvml = session;
#define FUNCTION(member, name, parameters) {name, &nvml->member},
	const struct api_function functions[] = {NVML_FUNCTIONS(FUNCTION){NULL, NULL}};
#undef FUNCTION
	char *path CLEANUP_FREE = NULL;
	unsigned count = 0;
	int version = 0;

	nvml->calls = (struct calls){.codes = codes, .code_count = ARRAY_SIZE(codes)};
	/* The program that comes with the library; its presence proves nothing. */
	if (process_find_program("nvidia-smi", &path, NULL) == 0) {
		char *note CLEANUP_FREE = text_format("nvidia-smi is %s", path);
		api_report_message(report, note);
	}
	int rc = api_load(report, NVML_LIBRARY, functions, err);
	if (rc != 0)
		return rc;

	/* A library without its kernel module: no container on this host has a device. */
	nvml_result result = nvml->nvmlInit();
	rc = call_check(&nvml->calls, result, "nvmlInit", err);
	if (rc != 0) {
		report->missing = "NVIDIA driver";
		if (result == NVML_ERROR_DRIVER_NOT_LOADED)
			err->code = ERROR_UNSUPPORTED;
		return err->code;
	}
	nvml->started = true;

	(void)nvml->nvmlSystemGetNVMLVersion(report->version, sizeof(report->version) - 1);
	(void)nvml->nvmlSystemGetDriverVersion(nvml->driver_version,
					       sizeof(nvml->driver_version) - 1);
	if (nvml->nvmlSystemGetCudaDriverVersion(&version) == NVML_SUCCESS)
		(void)snprintf(nvml->cuda_version, sizeof(nvml->cuda_version), "%d.%d",
			       version / 1000, version % 1000 / 10);

	rc = API_CALL(nvml, err, nvmlDeviceGetCount, &count);
	for (unsigned i = 0; rc == 0 && i < count && i < API_DEVICES_MAX; i++) {
		nvml_device device = NULL;
		result = nvml->nvmlDeviceGetHandleByIndex(i, &device);
		rc = call_check(&nvml->calls, result, "nvmlDeviceGetHandleByIndex", err);
		if (rc == 0) {
			api_report_device(report, describe(nvml, i, device));
		} else if (result == NVML_ERROR_NO_PERMISSION) {
			/* NVML also counts devices that the container may not open. */
			api_report_message(report, err->text);
			rc = 0;
		}
	}
	return rc;
}

static void nvml_close(void *session)
{
	struct nvml *nvml = session;
	if (nvml->started)
		(void)nvml->nvmlShutdown();
}

const struct api_driver nvml_api = {
	.name = "nvml",
	.library = NVML_LIBRARY,
	.summary = "List the devices that NVIDIA's management library shows",
	.description =
		"Asks NVIDIA's management library for driver, devices, their identity and memory, as nvidia-smi does. It does no "
		"work on them. The library ignores the variables that hide devices from CUDA.",
	.session_size = sizeof(struct nvml),
	.open = nvml_open,
	.close = nvml_close,
};
