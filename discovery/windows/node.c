/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/os_version.h"
#include "base/windows/wide.h"
#include "discovery/builder.h"
#include "discovery/windows/d3dkmt.h"
#include "discovery/windows/dxcore.h"
#include "discovery/windows/inf.h"
#include "discovery/windows/pnp.h"

#include <windows.h>

/* The driver store folder: reported by the kernel, or found by the driver's INF with older ones and Wine. */
static void find_store(struct builder *builder, struct pnp_device *device, const char *windows)
{
	char *path CLEANUP_FREE = NULL;
	struct error asked = {.text = "the device has no LUID"};
	struct error searched = {0};

	int rc = device->has_luid ? d3dkmt_store_path(device->luid, &path, &asked) : -1;
	if (rc < 0)
		rc = inf_store_path(device->driver_inf, windows, &path, &searched);
	if (rc == 0)
		device->store_path = builder_string(builder, path);
	else
		device->store_path_error =
			arena_format(&builder->arena, "%s; %s", asked.text, searched.text);
}

int node_discover(const struct discovery_options *options, struct builder *builder,
		  struct error *err)
{
	struct adapters adapters = {.builder = builder};
	struct pnp_devices devices = {.builder = builder};
	struct windows_hardware hardware = {.windows = "C:\\Windows"};
	struct error without = {0};
	WCHAR folder[MAX_PATH] = L"";

	if (options->root != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "on Windows only the running system can be looked at, not %s",
				 options->root);
	UINT length = GetWindowsDirectoryW(folder, MAX_PATH);
	char *windows CLEANUP_FREE = length > 0 && length < MAX_PATH ? wide_to_utf8(folder) : NULL;
	if (windows != NULL)
		hardware.windows = builder_string(builder, windows);

	struct os_version version = {0};
	int rc = os_version_read(&version, err);
	if (rc < 0)
		return rc;
	struct discovery_system *system = &builder->snapshot.system;
	*system = (struct discovery_system){
		.os = "windows",
		.product = builder_string(builder, version.product),
		.version = builder_string(builder, version.display_version),
		.build = arena_format(&builder->arena, "%u.%u", version.build, version.revision),
		.kernel_build = "",
		.architecture = builder_string(builder, version.architecture),
		.enumerator = "",
		.emulator = version.wine[0] != '\0'
				    ? arena_format(&builder->arena, "Wine %s", version.wine)
				    : "",
	};

	if (dxcore_list(&adapters, &without) == 0) {
		system->enumerator = "dxcore";
		hardware.adapters_are_complete = true;
	} else {
		builder_diagnose(builder, "dxcore", "%s; D3DKMT takes its place", without.text);
		rc = d3dkmt_list(&adapters, err);
		if (rc < 0)
			return rc;
		system->enumerator = "d3dkmt";
	}
	rc = pnp_list(&devices, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < devices.count; i++)
		find_store(builder, &devices.items[i], hardware.windows);
	hardware.adapters = adapters.items;
	hardware.adapter_count = adapters.count;
	hardware.devices = devices.items;
	hardware.device_count = devices.count;
	windows_assemble(&hardware, builder);
	return 0;
}
