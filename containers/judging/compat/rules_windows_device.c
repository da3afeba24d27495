/* SPDX-License-Identifier: MIT */
/* A device plugin's string for a Windows container: which runtimes accept it, in which isolation. */
#include "base/cleanup.h"
#include "base/windows_device.h"
#include "containers/judging/compat/case.h"

#include <string.h>

static const struct device_type {
	const char *name;
	bool process, hyperv;	/* isolations that accept it */
	enum hcs_device device; /* of process isolation */
} types[] = {
	{"class", true, false, HCS_DEVICE_CLASS},
	{"vpci-class-guid", true, false, HCS_DEVICE_CLASS},
	{"vpci-location-path", true, false, HCS_DEVICE_LOCATION_PATH},
	{"vpci-instance-id", false, true, HCS_DEVICE_CLASS},
	{"vpci", false, true, HCS_DEVICE_CLASS},
	{"gpu", false, true, HCS_DEVICE_CLASS},
};

/* "class/GUID", which runtimes rewrite, or "TYPE://ID"; its id, and the type and its length. NULL: no device, or
 * neither form. *type is NULL unless it is known. */
static const char *split(const char *device, size_t *size, const struct device_type **type)
{
	static const char legacy[] = "class/";
	const char *end = device != NULL ? strstr(device, "://") : NULL;
	const char *id = end != NULL ? end + strlen("://") : NULL;
	*size = end != NULL ? (size_t)(end - device) : 0;
	if (device != NULL && end == NULL && text_starts_with(device, legacy)) {
		*size = strlen("class");
		id = device + strlen(legacy);
	}
	*type = NULL;
	for (size_t i = 0; id != NULL && i < ARRAY_SIZE(types); i++) {
		if (strlen(types[i].name) == *size && strncmp(types[i].name, device, *size) == 0)
			*type = &types[i];
	}
	return id;
}

void rule_windows_device(struct compat_case *it)
{
	size_t size = 0;
	const struct device_type *type = NULL;
	const char *device = it->options->device;
	const char *id = split(device, &size, &type);
	bool hyperv = it->options->isolation == COMPAT_HYPERV_ISOLATION;
	const char *isolation = hyperv ? "Hyper-V" : "process";
	if (device == NULL)
		return;
	if (id == NULL && it->options->runtime == COMPAT_DOCKER)
		compat_find(it, COMPAT_CANNOT_WORK,
			    "'%.200s': Docker refuses it: invalid device assignment path, must be "
			    "'class/ID' or 'IDType://ID'",
			    device);
	else if (id == NULL)
		compat_find(it, COMPAT_CANNOT_WORK,
			    "'%.200s': containerd refuses it: unrecognised HostPath format, must "
			    "match IDType://ID",
			    device);
	else if (size == 0)
		compat_find(it, COMPAT_CANNOT_WORK,
			    "'%.200s': it has an empty type, which every runtime refuses", device);
	else if (id[0] == '\0')
		compat_find(it, COMPAT_UNKNOWN,
			    "'%.200s' names no device; containerd passes it on all the same",
			    device);
	else if (type == NULL)
		compat_find(it, COMPAT_CANNOT_WORK, "'%.200s': hcsshim refuses its type as %s",
			    device, hyperv ? "not supported in windows" : "an unsupported type");
	else if (!hyperv && type->process && type->device == HCS_DEVICE_CLASS &&
		 !windows_device_is_guid(id))
		compat_find(
			it, COMPAT_UNKNOWN,
			"'%.200s' names a class that is not a GUID; containerd passes it on all "
			"the same",
			device);
	else if (hyperv ? type->hyperv : type->process)
		compat_find(it, COMPAT_WORKS, "hcsshim takes devices of type '%s' in %s isolation",
			    type->name, isolation);
	else
		compat_find(it, hyperv ? COMPAT_HYPERV : COMPAT_CANNOT_WORK,
			    "hcsshim refuses devices of type '%s' in %s isolation", type->name,
			    isolation);
}

void rule_windows_schema(struct compat_case *it)
{
	const struct host_facts *host = it->host;
	const struct device_type *type = NULL;
	size_t size = 0;
	(void)split(it->options->device, &size, &type);
	if (type == NULL || !type->process || it->options->isolation == COMPAT_HYPERV_ISOLATION ||
	    host->windows.build == 0)
		return;

	/* The newest schema of major version 2, from the host's service or the table of builds, or else
	 * a lower limit. */
	const struct windows_build *row = windows_build_find(host->windows.build);
	struct hcs_version has = {0};
	bool exact = true;
	unsigned minor = 0;
	char end = '\0';
	if (sscanf(host->hcs_schema, "2.%9u%c", &minor, &end) == 1) {
		has = (struct hcs_version){2, minor};
	} else if (row != NULL && row->schema != NULL && row->since_revision == 0) {
		has = *row->schema;
	} else {
		exact = false;
		if (windows_build_at_least(host->windows.build, &has, NULL) < 0)
			has = (struct hcs_version){1, 0};
	}

	struct hcs_version needs = hcs_device_since(type->device);
	bool enough = hcs_version_compare(has, needs) >= 0;
	compat_find(it, case_verdict(enough || exact, enough),
		    "devices of type '%s' need HCS schema %u.%u, build %u has %s%u.%u%s",
		    type->name, needs.major, needs.minor, host->windows.build,
		    exact ? "" : "at least ", has.major, has.minor,
		    exact && !enough ? ": 0x8037010D (HCS_E_INVALID_JSON)" : "");
}

/* Known failures, and results that differ from run to run, although nothing refuses the device. */
static const struct limit {
	unsigned from, to;   /* host builds; to 0: no end */
	const char *vendor;  /* NULL: any */
	enum compat_api api; /* ANY: every one */
	const char *device;  /* type of the device string; NULL: any */
	const char *reason, *source;
} limits[] = {
	{20348, 20348, NULL, COMPAT_API_ANY, "vpci-location-path",
	 "the container sometimes sees every GPU although one was assigned",
	 "microsoft/Windows-Containers #333"},
	{26100, 0, NULL, COMPAT_API_ANY, "vpci-location-path",
	 "whether the container sees only the assigned GPU is not known: measure it",
	 "microsoft/Windows-Containers #333"},
	{0, 0, "nvidia", COMPAT_API_OTHER, NULL,
	 "NVIDIA's Vulkan does not work in Windows containers although its loader is there",
	 "TensorWorks/DirectX-Device-Plugins README, known limitations"},
	{0, 0, "amd", COMPAT_API_ANY, NULL, "AMD's driver must be Adrenalin 21.7.1 or newer",
	 "UnrealContainers; TensorWorks/DirectX-Device-Plugins"},
	{0, 0, "amd", COMPAT_API_OTHER, NULL,
	 "AMF encoders fail in process isolation: amfrtdrv64 and amdenc64 are only in HostDriverStore",
	 "microsoft/Windows-Containers #504, AMF #509"},
	{17763, 18363, NULL, COMPAT_API_DIRECTX, NULL,
	 "these builds have no dxcore.dll: programs must use DXGI",
	 "win32 documentation of DXCore"},
};

void rule_windows_limits(struct compat_case *it)
{
	const struct device_type *type = NULL;
	size_t size = 0;
	(void)split(it->options->device, &size, &type);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct limit *row = &limits[i];
		unsigned build = it->host->windows.build;
		if (build < row->from || (row->to != 0 && build > row->to) ||
		    (row->vendor != NULL && !case_has_gpu(it, row->vendor)) ||
		    (row->api != COMPAT_API_ANY && row->api != it->options->api) ||
		    (row->device != NULL && (type == NULL || !text_equal(type->name, row->device))))
			continue;
		it->source = row->source;
		compat_find(it, COMPAT_WORKS, "%s", row->reason);
	}
}
