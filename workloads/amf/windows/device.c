/* SPDX-License-Identifier: MIT */
#include "workloads/amf/amf.h"

#include "workloads/dxgi/dxgi.h"

const struct api_driver *const amf_devices = &dxgi_api;

int amf_device_open(struct amf *amf, size_t index, struct call_failure *failure, struct error *err)
{
	int rc = dxgi_open_d3d11(amf->devices, index, &amf->device, failure, err);
	if (rc != 0)
		return rc;
	return amf_check_present(AMF_METHOD(amf->context, AMFContext,
					    InitDX11)(amf->context, amf->device, AMF_DX11_0),
				 "AMFContext::InitDX11", failure, err);
}

void amf_device_close(struct amf *amf)
{
	com_release(amf->device);
	amf->device = NULL;
}
