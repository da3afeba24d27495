/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"

#include <string.h>

/* 32-bit constants of the shader. */
enum { CONSTANTS = sizeof(struct work_parameters) / sizeof(uint32_t) };

struct computation {
	struct d3d12_arrays arrays;
	const struct directx_shader *shader;
	const char *values, *y; /* names of the results (reference.h) */
	ID3D12RootSignature *signature;
	ID3D12PipelineState *pipeline;
};

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	struct d3d12_device *gpu = c->arrays.gpu;
	int rc = d3d12_create_root_signature(gpu, CONSTANTS, WORK_ARRAYS, &c->signature, err);
	if (rc != 0)
		return rc;
	const D3D12_COMPUTE_PIPELINE_STATE_DESC pipeline = {
		.pRootSignature = c->signature,
		.CS = {.pShaderBytecode = c->shader->bytecode, .BytecodeLength = c->shader->size},
	};
	return D3D12_CALL(gpu, err, ID3D12Device, CreateComputePipelineState, gpu->device,
			  &pipeline, &IID_ID3D12PipelineState, (void **)&c->pipeline);
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	const struct work_request *request = c->arrays.gpu->request;
	struct work_data data = {.elements = request->elements, .seed = request->seed};
	int rc = d3d12_arrays_create(&c->arrays, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		data.arrays[i] = c->arrays.uploaded + i * c->arrays.size;
	work_fill(&data);
	return 0;
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	struct d3d12_device *gpu = c->arrays.gpu;
	const struct work_parameters parameters = work_parameters(gpu->request);
	ID3D12GraphicsCommandList_SetPipelineState(gpu->list, c->pipeline);
	ID3D12GraphicsCommandList_SetComputeRootSignature(gpu->list, c->signature);
	ID3D12GraphicsCommandList_SetComputeRoot32BitConstants(gpu->list, 0, CONSTANTS, &parameters,
							       0);
	for (unsigned i = 0; i < WORK_ARRAYS; i++)
		ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
			gpu->list, 1 + i, ID3D12Resource_GetGPUVirtualAddress(c->arrays.arrays[i]));
	ID3D12GraphicsCommandList_Dispatch(gpu->list, parameters.stride / WORK_GROUP,
					   work_groups_y(gpu->request),
					   work_groups_z(gpu->request));
	return d3d12_device_run(gpu, err);
}

static int verify(void *work, struct error *err)
{
	const struct computation *c = work;
	const struct d3d12_arrays *arrays = &c->arrays;
	(void)err;
	work_compare(arrays->gpu->report, c->values,
		     arrays->downloaded + WORK_VALUES * arrays->size);
	work_compare(arrays->gpu->report, c->y, arrays->downloaded + WORK_Y * arrays->size);
	work_judge(arrays->gpu->report);
	return 0;
}

static int compute(struct d3d12_device *gpu, const struct directx_shader *shader,
		   const char *values, const char *y, struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory,
		[WORK_STAGE_UPLOAD] = d3d12_arrays_upload,
		[WORK_STAGE_DISPATCH] = dispatch,
		[WORK_STAGE_DOWNLOAD] = d3d12_arrays_download,
		[WORK_STAGE_VERIFY] = verify,
	};
	struct computation c = {
		.arrays = {.gpu = gpu, .size = work_array_size(gpu->request)},
		.shader = shader,
		.values = values,
		.y = y,
	};
	int rc = work_run(steps, &c, NULL, gpu->report, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	d3d12_arrays_free(&c.arrays);
	COM_RELEASE(c.pipeline, c.signature);
	return rc;
}

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

static int create_picture(struct d3d12_device *gpu, struct rendering *r, struct error *err)
{
	const D3D12_HEAP_PROPERTIES heap = {.Type = D3D12_HEAP_TYPE_DEFAULT};
	const D3D12_DESCRIPTOR_HEAP_DESC targets = {.Type = D3D12_DESCRIPTOR_HEAP_TYPE_RTV,
						    .NumDescriptors = 1};
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
	int rc = d3d12_create_root_signature(gpu, RENDER_PIXEL, 0, &r->signature, err);
	if (rc != 0)
		return rc;

	const D3D12_GRAPHICS_PIPELINE_STATE_DESC pipeline = {
		.pRootSignature = r->signature,
		.VS = {directx_triangle_vertex.bytecode, directx_triangle_vertex.size},
		.PS = {directx_triangle_pixel.bytecode, directx_triangle_pixel.size},
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
	rc = D3D12_CALL(gpu, err, ID3D12Device, CreateGraphicsPipelineState, gpu->device, &pipeline,
			&IID_ID3D12PipelineState, (void **)&r->pipeline);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Device, CreateCommittedResource, gpu->device, &heap,
				D3D12_HEAP_FLAG_NONE, &description,
				D3D12_RESOURCE_STATE_RENDER_TARGET, &clear, &IID_ID3D12Resource,
				(void **)&r->picture);
	if (rc == 0)
		rc = d3d12_create_mapped(gpu, D3D12_HEAP_TYPE_READBACK, (size_t)PITCH * RENDER_SIZE,
					 &r->readback, &r->downloaded, err);
	if (rc == 0)
		rc = D3D12_CALL(gpu, err, ID3D12Device, CreateDescriptorHeap, gpu->device, &targets,
				&IID_ID3D12DescriptorHeap, (void **)&r->targets);
	return rc;
}

static int render_picture(struct d3d12_device *gpu, struct rendering *r, struct error *err)
{
	ID3D12GraphicsCommandList *list = gpu->list;
	const D3D12_VIEWPORT viewport = {
		.Width = RENDER_SIZE, .Height = RENDER_SIZE, .MaxDepth = 1};
	const D3D12_RECT scissor = {.right = RENDER_SIZE, .bottom = RENDER_SIZE};
	D3D12_CPU_DESCRIPTOR_HANDLE target = {0};

	memset(r->downloaded, 0xA5, (size_t)PITCH * RENDER_SIZE);
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
	ID3D12GraphicsCommandList_CopyTextureRegion(list, &to, 0, 0, 0, &from, NULL);
	int rc = d3d12_device_run(gpu, err);
	if (rc == 0)
		work_compare_picture(gpu->report, r->downloaded, PITCH);
	return rc;
}

static int render(struct d3d12_device *gpu, struct error *err)
{
	struct rendering r = {
		.background = render_colour_float(render_background(gpu->request->seed)),
		.triangle = render_colour_float(render_triangle(gpu->request->seed)),
	};

	work_stage_begin(gpu->report, WORK_STAGE_RENDER);
	int rc = create_picture(gpu, &r, err);
	if (rc == 0)
		rc = render_picture(gpu, &r, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	COM_RELEASE(r.targets, r.readback, r.picture, r.pipeline, r.signature);
	if (rc != 0)
		return rc;
	work_stage_begin(gpu->report, WORK_STAGE_VERIFY);
	work_judge(gpu->report);
	return 0;
}

int d3d12_work(void *session, const struct work_request *request, struct work_report *report,
	       struct error *err)
{
	struct d3d12_device gpu = {.d3d = session, .request = request, .report = report};

	work_stage_begin(report, WORK_STAGE_DEVICE);
	int rc = d3d12_device_open(&gpu, err);
	if (rc == 0)
		rc = compute(&gpu, &directx_work_dxbc, "values", "y", err);
	/* Every device accepts DXBC; where there is Shader Model 6, DXIL does the same work again. */
	if (rc == 0 && gpu.shader_model >= D3D_SHADER_MODEL_6_0) {
		rc = compute(&gpu, &directx_work_dxil, "dxilValues", "dxilY", err);
		if (rc != 0)
			rc = error_wrap(err, rc, "the shader of Shader Model 6.0");
	}
	if (rc == 0 && gpu.graphics) /* a compute-only device draws nothing */
		rc = render(&gpu, err);
	work_stage_end(report);
	if (rc != ERROR_TIMEOUT)
		d3d12_device_free(&gpu);
	return rc;
}
