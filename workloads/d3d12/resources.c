/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

#include <string.h>

int d3d12_create_buffer(struct d3d12_device *gpu, D3D12_HEAP_TYPE heap, size_t size,
			ID3D12Resource **out, struct error *err)
{
	D3D12_HEAP_PROPERTIES properties = {.Type = heap};
	const D3D12_RESOURCE_DESC description = {
		.Dimension = D3D12_RESOURCE_DIMENSION_BUFFER,
		.Width = size,
		.Height = 1,
		.DepthOrArraySize = 1,
		.MipLevels = 1,
		.SampleDesc = {.Count = 1},
		.Layout = D3D12_TEXTURE_LAYOUT_ROW_MAJOR,
		.Flags = heap == D3D12_HEAP_TYPE_DEFAULT
				 ? D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
				 : D3D12_RESOURCE_FLAG_NONE,
	};
	/* As the heap for readback, which allows no other state than that of a copy. */
	if (heap == D3D12_HEAP_TYPE_CUSTOM) {
		properties.CPUPageProperty = D3D12_CPU_PAGE_PROPERTY_WRITE_BACK;
		properties.MemoryPoolPreference = D3D12_MEMORY_POOL_L0;
	}
	/* The heaps that the processor sees allow one state each. */
	const D3D12_RESOURCE_STATES state =
		heap == D3D12_HEAP_TYPE_UPLOAD	   ? D3D12_RESOURCE_STATE_GENERIC_READ
		: heap == D3D12_HEAP_TYPE_READBACK ? D3D12_RESOURCE_STATE_COPY_DEST
						   : D3D12_RESOURCE_STATE_COMMON;
	return D3D12_CALL(gpu, err, ID3D12Device, CreateCommittedResource, gpu->device, &properties,
			  D3D12_HEAP_FLAG_NONE, &description, state, NULL, &IID_ID3D12Resource,
			  (void **)out);
}

int d3d12_create_mapped(struct d3d12_device *gpu, D3D12_HEAP_TYPE heap, size_t size,
			ID3D12Resource **out, uint8_t **bytes, struct error *err)
{
	void *mapped = NULL;
	int rc = d3d12_create_buffer(gpu, heap, size, out, err);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Resource, Map, *out, 0, NULL, &mapped);
	*bytes = mapped;
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

int d3d12_arrays_create(struct d3d12_arrays *arrays, struct error *err)
{
	struct d3d12_device *gpu = arrays->gpu;
	int rc = d3d12_create_mapped(gpu, D3D12_HEAP_TYPE_UPLOAD, WORK_ARRAYS * arrays->size,
				     &arrays->upload, &arrays->uploaded, err);
	if (rc == 0)
		rc = d3d12_create_mapped(gpu, D3D12_HEAP_TYPE_READBACK, WORK_ARRAYS * arrays->size,
					 &arrays->readback, &arrays->downloaded, err);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_DEFAULT, arrays->size,
					 &arrays->arrays[i], err);
	return rc;
}

int d3d12_arrays_upload(void *work, struct error *err)
{
	const struct d3d12_arrays *arrays = work;
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		ID3D12GraphicsCommandList_CopyBufferRegion(arrays->gpu->list, arrays->arrays[i], 0,
							   arrays->upload, i * arrays->size,
							   arrays->size);
	return d3d12_device_run(arrays->gpu, err);
}

/* The memory is overwritten first, so that only results of the device are read back. */
int d3d12_arrays_download(void *work, struct error *err)
{
	const struct d3d12_arrays *arrays = work;
	memset(arrays->downloaded, 0xA5, WORK_ARRAYS * arrays->size);
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		ID3D12GraphicsCommandList_CopyBufferRegion(arrays->gpu->list, arrays->readback,
							   i * arrays->size, arrays->arrays[i], 0,
							   arrays->size);
	return d3d12_device_run(arrays->gpu, err);
}

void d3d12_arrays_free(struct d3d12_arrays *arrays)
{
	com_release_all((void *const *)arrays->arrays, WORK_ARRAYS);
	COM_RELEASE(arrays->readback, arrays->upload);
}

int d3d12_create_root_signature(struct d3d12_device *gpu, unsigned constants, unsigned buffers,
				ID3D12RootSignature **out, struct error *err)
{
	D3D12_ROOT_PARAMETER parameters[1 + WORK_ARRAYS] = {0};
	const D3D12_ROOT_SIGNATURE_DESC signature = {.NumParameters = 1 + buffers,
						     .pParameters = parameters};
	ID3DBlob *blob = NULL, *messages = NULL;
	parameters[0].ParameterType = D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS;
	parameters[0].Constants.Num32BitValues = constants;
	for (unsigned i = 0; i < buffers; i++) {
		parameters[1 + i].ParameterType = D3D12_ROOT_PARAMETER_TYPE_UAV;
		parameters[1 + i].Descriptor.ShaderRegister = i;
	}
	int rc = d3d12_check(gpu, d3d12_serialize(gpu->d3d, &signature, &blob, &messages),
			     "D3D12SerializeRootSignature", err);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Device, CreateRootSignature, gpu->device, 0,
				ID3D10Blob_GetBufferPointer(blob), ID3D10Blob_GetBufferSize(blob),
				&IID_ID3D12RootSignature, (void **)out);
	COM_RELEASE(blob, messages);
	return rc;
}
