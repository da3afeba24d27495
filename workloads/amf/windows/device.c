/* SPDX-License-Identifier: MIT */
#include "workloads/amf/amf.h"

#include "workloads/directx/wine.h"
#include "workloads/dxgi/dxgi.h"

#define D3D11_LIBRARY "d3d11.dll"

int amf_devices_open(struct amf *amf, struct api_report *report, struct error *err)
{
	struct dxgi *dxgi = NULL;
	wine_name(report->emulator, sizeof(report->emulator));
	int rc = dxgi_open(report, &dxgi, err);
	amf->devices = dxgi;
	return rc;
}

void amf_devices_close(struct amf *amf)
{
	dxgi_free(amf->devices);
}

static int make_device(struct amf *amf, size_t index, struct error *err)
{
	const struct dxgi *dxgi = amf->devices;
	PFN_D3D11_CREATE_DEVICE create = NULL;
	const struct api_function functions[] = {{"D3D11CreateDevice", &create}, {NULL, NULL}};
	ID3D11Device *device = NULL;
	int rc = api_load(NULL, D3D11_LIBRARY, functions, err);
	if (rc == 0)
		rc = hresult_check(create((IDXGIAdapter *)dxgi->adapters[index],
					  D3D_DRIVER_TYPE_UNKNOWN, NULL, 0, NULL, 0,
					  D3D11_SDK_VERSION, &device, NULL, NULL),
				   "D3D11CreateDevice", &amf->failure, err);
	amf->device = device;
	return rc;
}

int amf_device_open(struct amf *amf, size_t index, struct error *err)
{
	struct error told = {0};
	int rc = make_device(amf, index, err);
	if (rc == 0)
		rc = amf_check(amf->factory->calls->create_context(amf->factory, &amf->context),
			       "AMFFactory::CreateContext", &amf->failure, err);
	if (rc != 0 || amf->context == NULL)
		return rc != 0 ? rc
			       : error_set(err, ERROR_REMOTE,
					   "AMFFactory::CreateContext succeeded and made none");
	const amf_result result =
		amf->context->calls->init_dx11(amf->context, amf->device, AMF_DX11_0);
	rc = amf_check(result, "AMFContext::InitDX11", &amf->failure, &told);
	if (rc == 0)
		return 0;
	return error_set(err, amf_is_absent(result) ? ERROR_UNSUPPORTED : rc, "%s", told.text);
}

void amf_device_close(struct amf *amf)
{
	if (amf->context != NULL)
		(void)amf->context->calls->terminate(amf->context);
	amf_release(amf->context);
	com_release(amf->device);
	amf->context = NULL;
	amf->device = NULL;
}
