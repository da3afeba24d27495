/* SPDX-License-Identifier: MIT */
#include "base/cleanup.h"
#include "base/os_version.h"
#include "base/windows/wide.h"
#include "discovery/builder.h"
#include "discovery/windows/d3dkmt.h"
#include "discovery/windows/dxcore.h"
#include "discovery/windows/inf.h"
#include "discovery/windows/pnp.h"

#include <string.h>
#include <windows.h>

static int describe_system(struct builder *builder, struct error *err)
{
	struct os_version version = {0};
	int rc = os_version_read(&version, err);
	if (rc < 0)
		return rc;
	builder->snapshot.system = (struct discovery_system){
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
	return 0;
}

static const char *windows_folder(struct builder *builder)
{
	WCHAR folder[MAX_PATH] = L"";
	UINT length = GetWindowsDirectoryW(folder, MAX_PATH);
	char *text CLEANUP_FREE = length > 0 && length < MAX_PATH ? wide_to_utf8(folder) : NULL;
	return text != NULL ? builder_string(builder, text) : "C:\\Windows";
}

static int list_adapters(struct adapters *adapters, struct error *err)
{
	struct discovery_system *system = &adapters->builder->snapshot.system;
	struct error without = {0};
	int rc = dxcore_list(adapters, &without);
	if (rc == 0) {
		system->enumerator = "dxcore";
		return 0;
	}
	builder_diagnose(adapters->builder, "dxcore", "%s; D3DKMT takes its place", without.text);
	rc = d3dkmt_list(adapters, err);
	if (rc == 0)
		system->enumerator = "d3dkmt";
	return rc;
}

/* The kernel knows it; older ones, and Wine, leave it to be found by the driver's INF. */
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
	struct windows_hardware hardware = {.windows = windows_folder(builder)};
	if (options->root != NULL)
		return error_set(err, ERROR_UNSUPPORTED,
				 "on Windows only the running system can be looked at, not %s",
				 options->root);
	int rc = describe_system(builder, err);
	rc = rc == 0 ? list_adapters(&adapters, err) : rc;
	rc = rc == 0 ? pnp_list(&devices, err) : rc;
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < devices.count; i++)
		find_store(builder, &devices.items[i], hardware.windows);
	hardware.adapters = adapters.items;
	hardware.adapter_count = adapters.count;
	hardware.devices = devices.items;
	hardware.device_count = devices.count;
	hardware.adapters_are_complete = strcmp(builder->snapshot.system.enumerator, "dxcore") == 0;
	windows_assemble(&hardware, builder);
	return 0;
}
