/* SPDX-License-Identifier: MIT */
#include "workloads/dxgi/dxgi.h"

#include "base/cleanup.h"
#include "base/windows/wide.h"
#include "workloads/opengl/opengl.h"

#include <stdio.h>

enum { VENDOR_MICROSOFT = 0x1414, DEVICE_BASIC_RENDER = 0x8c, DXGI_FLAG_SOFTWARE = 2 };

cJSON *dxgi_describe(const struct dxgi *dxgi, size_t index)
{
	struct members device CLEANUP_MEMBERS = api_device_new(index);
	IDXGIAdapter1 *adapter = dxgi->adapters[index];
	DXGI_ADAPTER_DESC1 description = {0};
	LARGE_INTEGER version = {0}; /* of the user-mode driver */

	(void)IDXGIAdapter1_GetDesc1(adapter, &description);
	description.Description[ARRAY_SIZE(description.Description) - 1] = L'\0';
	char *name CLEANUP_FREE = wide_to_utf8(description.Description);
	const bool software = (description.Flags & DXGI_FLAG_SOFTWARE) != 0 ||
			      (description.VendorId == VENDOR_MICROSOFT &&
			       description.DeviceId == DEVICE_BASIC_RENDER) ||
			      (dxgi->emulated && (renderer_is_software(dxgi->renderer) ||
						  renderer_is_software(name)));
	member_string(&device, "name", name);
	member_string(&device, "type", software ? "cpu" : NULL);
	member_bool(&device, "software", software);
	api_add_ids(&device, description.VendorId, description.DeviceId);
	member_hex(&device, "subSystemId", description.SubSysId, 8);
	member_hex(&device, "revision", description.Revision, 2);
	member_bytes(&device, "deviceLuid", (const uint8_t *)&description.AdapterLuid,
		     sizeof(description.AdapterLuid));
	const bool known =
		IDXGIAdapter1_CheckInterfaceSupport(adapter, &IID_IDXGIDevice, &version) >= 0;
	api_add_windows_driver(&device, known, (uint64_t)version.QuadPart);
	member_number(&device, "memoryBytes", (double)description.DedicatedVideoMemory);
	if (dxgi->emulated)
		member_optional(&device, "renderer", dxgi->renderer);
	return members_take(&device);
}

int dxgi_open(struct api_report *report, void *session, struct error *err)
{
	struct dxgi *dxgi = session;
	HRESULT(WINAPI * make)(REFIID interface_id, void **factory) = NULL;

	wine_name(report->emulator, sizeof(report->emulator));
	report->missing = DXGI_LIBRARY;
	int rc = api_load_one(report, DXGI_LIBRARY, "CreateDXGIFactory1", &make, err);
	if (rc == 0)
		rc = hresult_check(make(&IID_IDXGIFactory1, (void **)&dxgi->factory),
				   "CreateDXGIFactory1", NULL, err);
	if (rc == ERROR_UNSUPPORTED)
		report->missing = "DXGI adapter";
	if (rc != 0)
		return rc;

	while (rc == 0 && dxgi->count < API_DEVICES_MAX) {
		HRESULT result = IDXGIFactory1_EnumAdapters1(dxgi->factory, (UINT)dxgi->count,
							     &dxgi->adapters[dxgi->count]);
		if ((int32_t)result == HRESULT_DXGI_NOT_FOUND)
			break;
		rc = hresult_check(result, "IDXGIFactory1::EnumAdapters1", NULL, err);
		if (rc == 0)
			dxgi->count++;
	}

	/* Wine's Direct3D up to 11 draws through OpenGL: its GL_RENDERER; "" where that fails. */
	dxgi->emulated = report->emulator[0] != '\0';
	if (dxgi->emulated) {
		struct api_report unused CLEANUP_API_REPORT = {0};
		void *opengl = NULL;
		api_open(&opengl_api, &unused, &opengl);
		const struct opengl *gl = opengl;
		if (gl != NULL)
			(void)snprintf(dxgi->renderer, sizeof(dxgi->renderer), "%s",
				       gl->devices[0].renderer);
		api_close(&opengl_api, opengl);
	}
	for (size_t i = 0; rc == 0 && i < dxgi->count; i++)
		api_report_device(report, dxgi_describe(dxgi, i));
	return rc;
}

void dxgi_close(void *session)
{
	struct dxgi *dxgi = session;
	for (size_t i = 0; i < dxgi->count; i++)
		com_release(dxgi->adapters[i]);
	com_release(dxgi->factory);
}

int dxgi_open_d3d11(const struct dxgi *dxgi, size_t index, void **device,
		    struct call_failure *failure, struct error *err)
{
	PFN_D3D11_CREATE_DEVICE create_device = NULL;
	ID3D11Device *made = NULL;
	int rc = api_load_one(NULL, "d3d11.dll", "D3D11CreateDevice", &create_device, err);
	if (rc == 0)
		rc = hresult_check(create_device((IDXGIAdapter *)dxgi->adapters[index],
						 D3D_DRIVER_TYPE_UNKNOWN, NULL, 0, NULL, 0,
						 D3D11_SDK_VERSION, &made, NULL, NULL),
				   "D3D11CreateDevice", failure, err);
	*device = made;
	return rc;
}

const struct api_driver dxgi_api = {
	.name = "dxgi",
	.library = DXGI_LIBRARY,
	.summary = "List the adapters that DXGI shows",
	.description =
		"Enumerates the adapters of DXGI, which Direct3D 11 and 12 work on, with ids, memory and driver, and "
		"distinguishes software adapters.",
	.session_size = sizeof(struct dxgi),
	.open = dxgi_open,
	.close = dxgi_close,
};
