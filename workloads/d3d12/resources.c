/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

enum { BUFFERS_MAX = 4 };

int d3d12_create_buffer(struct d3d12_device *gpu, D3D12_HEAP_TYPE heap, size_t size,
			D3D12_RESOURCE_FLAGS flags, ID3D12Resource **out, struct error *err)
{
	const D3D12_HEAP_PROPERTIES properties = {.Type = heap};
	const D3D12_RESOURCE_DESC description = {
		.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
		.Width = size,
		.Height = 1,
		.DepthOrArraySize = 1,
		.MipLevels = 1,
		.SampleDesc = {.Count = 1},
		.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
		.Flags = flags,
	};
	/* The heaps that the processor sees allow one state each. */
	const D3D12_RESOURCE_STATES state =
		heap == D3D12_HEAP_TYPE_UPLOAD	   ? D3D12_RESOURCE_STATE_GENERIC_READ
		: heap == D3D12_HEAP_TYPE_READBACK ? D3D12_RESOURCE_STATE_COPY_DEST
						   : D3D12_RESOURCE_STATE_COMMON;
	return D3D12_CALL(gpu, err, ID3D12Device, CreateCommittedResource, gpu->device, &properties,
			  D3D12_HEAP_FLAG_NONE, &description, state, NULL, &IID_ID3D12Resource,
			  (void **)out);
}

int d3d12_map(struct d3d12_device *gpu, ID3D12Resource *buffer, uint8_t **out, struct error *err)
{
	void *mapped = NULL;
	int rc = D3D12_CALL(gpu, err, ID3D12Resource, Map, buffer, 0, NULL, &mapped);
	*out = mapped;
	return rc;
}

void d3d12_record_transition(struct d3d12_device *gpu, ID3D12Resource *resource,
			     D3D12_RESOURCE_STATES before, D3D12_RESOURCE_STATES after)
{
	const D3D12_RESOURCE_BARRIER barrier = {
		.Type = D3D12_RESOURCE_BARRIER_TYPE_TRANSITION,
		.Transition = {.pResource = resource,
			       .Subresource = D3D12_RESOURCE_BARRIER_ALL_SUBRESOURCES,
			       .StateBefore = before,
			       .StateAfter = after},
	};
	ID3D12GraphicsCommandList_ResourceBarrier(gpu->list, 1, &barrier);
}

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
	int rc = 0;
	parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
	parameters[0].Constants.Num32BitValues = constants;
	for (unsigned i = 0; i < buffers && i < BUFFERS_MAX; i++) {
		parameters[1 + i].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
		parameters[1 + i].Descriptor.ShaderRegister = i;
	}
	rc = serialize(gpu, &signature, &blob, err);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Device, CreateRootSignature, gpu->device, 0,
				ID3D10Blob_GetBufferPointer(blob), ID3D10Blob_GetBufferSize(blob),
				&IID_ID3D12RootSignature, (void **)out);
	com_release(blob);
	return rc;
}
