/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The host path of a device on Windows: "IDType://ID", or "class/GUID", which containerd rewrites
 * to "class://GUID" (containerd internal/cri/opts/spec_windows_opts.go; hcsshim
 * internal/hcsoci/hcsdoc_wcow.go for the types).
 */

#include "base/error.h"

#include <stdbool.h>

/* Display adapters with a WDDM driver: GUID_DEVINTERFACE_DISPLAY_ADAPTER, ntddvdeo.h. */
#define WINDOWS_DISPLAY_CLASS "5B45201D-F2F2-4F3B-85BB-30FF1F953599"

enum windows_device_type {
	WINDOWS_DEVICE_CLASS,	      /* "class", "vpci-class-guid": ID is a GUID */
	WINDOWS_DEVICE_LOCATION_PATH, /* "vpci-location-path" */
	WINDOWS_DEVICE_OTHER, /* "vpci-instance-id", "gpu", ...: not for process isolation */
};

struct windows_device {
	enum windows_device_type type;
	const char *id; /* within the host path; not empty */
};

/* ERROR_ARGUMENT: containerd or HCS would refuse it, because of no "://", an empty type or an empty
 * id. Does not check that the id of a class is a GUID. */
int windows_device_parse(const char *host_path, struct windows_device *out, struct error *err);

/* "5B45201D-F2F2-4F3B-85BB-30FF1F953599", without braces. */
bool windows_device_is_guid(const char *text);
