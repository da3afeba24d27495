/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What a DeviceSpec's host path is on Windows: "IDType://ID", or "class/GUID", which containerd
 * rewrites to "class://GUID" (containerd internal/cri/opts/spec_windows_opts.go; hcsshim
 * internal/hcsoci/hcsdoc_wcow.go for the types).
 */

#include "base/error.h"

#include <gpucert/discovery.h>
#include <stdbool.h>
#include <stddef.h>

/* Display adapters with a WDDM driver: GUID_DEVINTERFACE_DISPLAY_ADAPTER. */
#define DEVICE_STRING_DISPLAY_CLASS "5B45201D-F2F2-4F3B-85BB-30FF1F953599"

enum device_string_type {
	DEVICE_STRING_CLASS,	     /* "class", "vpci-class-guid" */
	DEVICE_STRING_LOCATION_PATH, /* "vpci-location-path" */
	DEVICE_STRING_OTHER,	     /* "vpci-instance-id", "gpu", ...: not for process isolation */
};

struct device_string {
	enum device_string_type type;
	size_t type_length; /* bytes of the host path that name the type */
	const char *id;	    /* within the host path; not empty */
};

/* ERROR_FORMAT says what containerd or HCS would not take: no "://", an empty type, an empty id. */
int device_string_parse(const char *host_path, struct device_string *out, struct error *err);

/* Is the device among those that the host path hands to a container? False for a host path that
 * cannot be parsed. */
bool device_string_grants(const char *host_path, const struct discovery_device *device);
