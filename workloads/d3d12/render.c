/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"
#include "workloads/directx/shaders/triangle_pixel.h"
#include "workloads/directx/shaders/triangle_vertex.h"

#include <string.h>

enum { PITCH = D3D12_TEXTURE_DATA_PITCH_ALIGNMENT, FORMAT = DXGI_FORMAT_R8G8B8A8_UNORM };

_Static_assert(RENDER_SIZE *RENDER_PIXEL <= PITCH, "a row of the picture fits one pitch");

struct rendering {
	struct render_colour_float background, triangle;
	ID3D12RootSignature *signature;
	ID3D12PipelineState *pipeline;
	ID3D12DescriptorHeap *targets; /* one */
	ID3D12Resource *picture, *readback;
	uint8_t *downloaded;
};

static int build(struct d3d12_device *gpu, struct rendering *r, struct error *err)
{
	int rc = d3d12_create_root_signature(gpu, RENDER_PIXEL, 0, &r->signature, err);
	const D3D12_GRAPHICS_PIPELINE_STATE_DESC pipeline = {
		.pRootSignature = r->signature,
		.VS = {triangle_vertex_bytecode, sizeof(triangle_vertex_bytecode)},
		.PS = {triangle_pixel_bytecode, sizeof(triangle_pixel_bytecode)},
		.BlendState.RenderTarget[0].RenderTargetWriteMask = D3D12_COLOR_WRITE_ENABLE_ALL,
		.SampleMask = UINT32_MAX,
		.RasterizerState = {.FillMode = D3D12_FILL_MODE_SOLID,
				    .CullMode = D3D12_CULL_MODE_NONE,
				    .DepthClipEnable = TRUE},
		.PrimitiveTopologyType = D3D12_PRIMITIVE_TOPOLOGY_TYPE_TRIANGLE,
		.NumRenderTargets = 1,
		.RTVFormats[0] = (DXGI_FORMAT)FORMAT,
		.SampleDesc = {.Count = 1},
	};
	return rc != 0 ? rc
		       : D3D12_CALL(gpu, err, ID3D12Device, CreateGraphicsPipelineState,
				    gpu->device, &pipeline, &IID_ID3D12PipelineState,
				    (void **)&r->pipeline);
}

static int create_picture(struct d3d12_device *gpu, struct rendering *r, struct error *err)
{
	const D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
	const D3D12_RESOURCE_DESC description = {
		.Dimension = D3D12_RESOURCE_DIMENSION_TEXTURE2D,
		.Width = RENDER_SIZE,
		.Height = RENDER_SIZE,
		.DepthOrArraySize = 1,
		.MipLevels = 1,
		.Format = (DXGI_FORMAT)FORMAT,
		.SampleDesc = {.Count = 1},
		.Flags = D3D12_RESOURCE_FLAG_ALLOW_RENDER_TARGET,
	};
	D3D12_CLEAR_VALUE clear = {.Format = (DXGI_FORMAT)FORMAT};
	memcpy(clear.Color, r->background.channels, sizeof(clear.Color));
	return D3D12_CALL(gpu, err, ID3D12Device, CreateCommittedResource, gpu->device, &heap,
			  D3D12_HEAP_FLAG_NONE, &description, D3D12_RESOURCE_STATE_RENDER_TARGET,
			  &clear, &IID_ID3D12Resource, (void **)&r->picture);
}

static int create_memory(struct d3d12_device *gpu, struct rendering *r, struct error *err)
{
	const D3D12_DESCRIPTOR_HEAP_DESC heap = {.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV,
						 .NumDescriptors = 1};
	int rc = create_picture(gpu, r, err);
	if (rc == 0)
		rc = d3d12_create_mapped(gpu, D3D12_HEAP_TYPE_READBACK, (size_t)PITCH * RENDER_SIZE,
					 &r->readback, &r->downloaded, err);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Device, CreateDescriptorHeap, gpu->device, &heap,
				&IID_ID3D12DescriptorHeap, (void **)&r->targets);
	return rc;
}

static void record_draw(struct d3d12_device *gpu, struct rendering *r)
{
	ID3D12GraphicsCommandList *list = gpu->list;
	const D3D12_VIEWPORT viewport = {
		.Width = RENDER_SIZE, .Height = RENDER_SIZE, .MaxDepth = 1};
	const D3D12_RECT scissor = {.right = RENDER_SIZE, .bottom = RENDER_SIZE};
	D3D12_CPU_DESCRIPTOR_HANDLE target = {0};
	(void)r->targets->lpVtbl->GetCPUDescriptorHandleForHeapStart(r->targets, &target);
	ID3D12Device_CreateRenderTargetView(gpu->device, r->picture, NULL, target);
	ID3D12GraphicsCommandList_ClearRenderTargetView(list, target, r->background.channels, 0,
							NULL);
	ID3D12GraphicsCommandList_SetPipelineState(list, r->pipeline);
	ID3D12GraphicsCommandList_SetGraphicsRootSignature(list, r->signature);
	ID3D12GraphicsCommandList_SetGraphicsRoot32BitConstants(list, 0, RENDER_PIXEL,
								r->triangle.channels, 0);
	ID3D12GraphicsCommandList_RSSetViewports(list, 1, &viewport);
	ID3D12GraphicsCommandList_RSSetScissorRects(list, 1, &scissor);
	ID3D12GraphicsCommandList_OMSetRenderTargets(list, 1, &target, FALSE, NULL);
	ID3D12GraphicsCommandList_IASetPrimitiveTopology(list, D3D_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
	ID3D12GraphicsCommandList_DrawInstanced(list, 3, 1, 0, 0);
}

static void record_copy(struct d3d12_device *gpu, struct rendering *r)
{
	const D3D12_TEXTURE_COPY_LOCATION from = {
		.pResource = r->picture, .Type = D3D12_TEXTURE_COPY_TYPE_SUBRESOURCE_INDEX};
	const D3D12_TEXTURE_COPY_LOCATION to = {
		.pResource = r->readback,
		.Type = D3D12_TEXTURE_COPY_TYPE_PLACED_FOOTPRINT,
		.PlacedFootprint.Footprint = {.Format = (DXGI_FORMAT)FORMAT,
					      .Width = RENDER_SIZE,
					      .Height = RENDER_SIZE,
					      .Depth = 1,
					      .RowPitch = PITCH},
	};
	d3d12_record_transition(gpu, r->picture, D3D12_RESOURCE_STATE_RENDER_TARGET,
				D3D12_RESOURCE_STATE_COPY_SOURCE);
	ID3D12GraphicsCommandList_CopyTextureRegion(gpu->list, &to, 0, 0, 0, &from, NULL);
}

static int render(struct d3d12_device *gpu, struct rendering *r, struct error *err)
{
	int rc = build(gpu, r, err);
	if (rc == 0)
		rc = create_memory(gpu, r, err);
	if (rc != 0)
		return rc;
	memset(r->downloaded, 0xA5, (size_t)PITCH * RENDER_SIZE);
	record_draw(gpu, r);
	record_copy(gpu, r);
	rc = d3d12_device_run(gpu, err);
	if (rc == 0)
		work_compare_picture(gpu->report, r->downloaded, PITCH);
	return rc;
}

int d3d12_render(struct d3d12_device *gpu, struct error *err)
{
	struct rendering r = {
		.background = render_colour_float(render_background(gpu->request->seed)),
		.triangle = render_colour_float(render_triangle(gpu->request->seed)),
	};
	int rc = render(gpu, &r, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	com_release(r.targets);
	com_release(r.readback);
	com_release(r.picture);
	com_release(r.pipeline);
	com_release(r.signature);
	return rc;
}
