/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

#include "workloads/dxcore/dxcore.h"
#include "workloads/dxgi/dxgi.h"

const char d3d12_create_device_call[] = "D3D12CreateDevice";

/* Not in every MinGW-w64. */
typedef HRESULT(WINAPI *serialize_root_signature)(const D3D12_ROOT_SIGNATURE_DESC *signature,
						  D3D_ROOT_SIGNATURE_VERSION version,
						  ID3DBlob **blob, ID3DBlob **messages);

struct d3d12 {
	PFN_D3D12_CREATE_DEVICE create_device;
	serialize_root_signature serialize_root_signature;
	struct dxgi dxgi;
	void *dxcore; /* a struct dxcore; NULL: this system has none */
	size_t count;
	IUnknown *adapters[API_DEVICES_MAX]; /* of one of the two */
};
_Static_assert(sizeof(struct d3d12) <= D3D12_SESSION_SIZE, "a session holds it");

static bool dxgi_has(const struct dxgi *dxgi, const LUID *luid)
{
	for (size_t i = 0; i < dxgi->count; i++) {
		DXGI_ADAPTER_DESC1 description = {0};
		if (IDXGIAdapter1_GetDesc1(dxgi->adapters[i], &description) >= 0 &&
		    memcmp(&description.AdapterLuid, luid, sizeof(*luid)) == 0)
			return true;
	}
	return false;
}

int d3d12_open(struct api_report *report, void *session, struct error *err)
{
	struct d3d12 *d3d = session;
	const struct api_function functions[] = {
		{"D3D12CreateDevice", &d3d->create_device},
		{"D3D12SerializeRootSignature", &d3d->serialize_root_signature},
		{NULL, NULL},
	};
	struct api_report unused CLEANUP_API_REPORT = {0};
	struct error reason = {0};

	int rc = api_load(report, D3D12_LIBRARY, functions, err);
	if (rc != 0)
		return rc;
	const int found = dxgi_open(report, &d3d->dxgi, &reason);
	for (size_t i = 0; found == 0 && i < d3d->dxgi.count; i++)
		d3d->adapters[d3d->count++] = (IUnknown *)d3d->dxgi.adapters[i];

	/* DXGI knows no compute-only adapters: those come from DXCore, after the others. */
	api_open(&dxcore_api, &unused, &d3d->dxcore);
	const struct dxcore *dxcore = d3d->dxcore;
	for (size_t i = 0; dxcore != NULL && i < dxcore->count; i++) {
		const struct dxcore_adapter *adapter = &dxcore->adapters[i];
		if (!adapter->attributes[DXCORE_CORE_COMPUTE] ||
		    dxgi_has(&d3d->dxgi, &adapter->luid) || d3d->count == API_DEVICES_MAX)
			continue;
		api_report_device(report, dxcore_describe(adapter, d3d->count));
		d3d->adapters[d3d->count++] = (IUnknown *)adapter->object;
	}

	/* With compute-only adapters it is no failure that DXGI has none. */
	if (found != 0 && d3d->count == 0) {
		*err = reason;
		return found;
	}
	return 0;
}

void d3d12_close(void *session)
{
	struct d3d12 *d3d = session;
	api_close(&dxcore_api, d3d->dxcore);
	dxgi_close(&d3d->dxgi);
}

HRESULT d3d12_create_device(struct d3d12 *d3d, size_t index, D3D_FEATURE_LEVEL level,
			    ID3D12Device **out)
{
	return d3d->create_device(d3d->adapters[index], level, &IID_ID3D12Device, (void **)out);
}

HRESULT d3d12_serialize(struct d3d12 *d3d, const D3D12_ROOT_SIGNATURE_DESC *signature,
			ID3DBlob **blob, ID3DBlob **messages)
{
	return d3d->serialize_root_signature(signature, D3D_ROOT_SIGNATURE_VERSION_1, blob,
					     messages);
}
