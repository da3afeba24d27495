/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

enum { BUFFERS_MAX = 4 };

static int serialize(struct d3d12_device *gpu, const D3D12_ROOT_SIGNATURE_DESC *signature,
		     ID3DBlob **blob, struct error *err)
{
	ID3DBlob *messages = NULL;
	HRESULT result = d3d12_platform_serialize(gpu->d3d->platform, signature, blob, &messages);

	com_release(messages);
	return d3d12_check(gpu, result, "D3D12SerializeRootSignature", err);
}

int d3d12_create_root_signature(struct d3d12_device *gpu, unsigned constants, unsigned buffers,
				ID3D12RootSignature **out, struct error *err)
{
	D3D12_ROOT_PARAMETER parameters[1 + BUFFERS_MAX] = {0};
	const D3D12_ROOT_SIGNATURE_DESC signature = {.NumParameters = 1 + buffers,
						     .pParameters = parameters};
	ID3DBlob *blob = NULL;
	int code = 0;

	parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
	parameters[0].Constants.Num32BitValues = constants;
	for (unsigned i = 0; i < buffers && i < BUFFERS_MAX; i++) {
		parameters[1 + i].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
		parameters[1 + i].Descriptor.ShaderRegister = i;
	}
	code = serialize(gpu, &signature, &blob, err);
	if (code == 0)
		code = d3d12_check(gpu,
				   ID3D12Device_CreateRootSignature(
					   gpu->device, 0, ID3D10Blob_GetBufferPointer(blob),
					   ID3D10Blob_GetBufferSize(blob), &IID_ID3D12RootSignature,
					   (void **)out),
				   "ID3D12Device::CreateRootSignature", err);
	com_release(blob);
	return code;
}
