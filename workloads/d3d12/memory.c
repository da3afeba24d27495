/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

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

	return d3d12_check(gpu,
			   ID3D12Device_CreateCommittedResource(
				   gpu->device, &properties, D3D12_HEAP_FLAG_NONE, &description,
				   state, NULL, &IID_ID3D12Resource, (void **)out),
			   "ID3D12Device::CreateCommittedResource", err);
}

int d3d12_map(struct d3d12_device *gpu, ID3D12Resource *buffer, uint8_t **out, struct error *err)
{
	void *mapped = NULL;
	int code = d3d12_check(gpu, ID3D12Resource_Map(buffer, 0, NULL, &mapped),
			       "ID3D12Resource::Map", err);

	*out = mapped;
	return code;
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
