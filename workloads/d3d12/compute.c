/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"
#include "workloads/directx/shaders/work.h"

/* 32-bit constants of the shader. */
enum { CONSTANTS = sizeof(struct work_parameters) / sizeof(uint32_t) };

struct computation {
	struct d3d12_device gpu;
	ID3D12RootSignature *signature;
	ID3D12PipelineState *pipeline;
	struct d3d12_arrays arrays;
	struct work_data data; /* in the mapped memory: uploaded, then downloaded */
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	return d3d12_device_open(&c->gpu, err);
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	struct d3d12_device *gpu = &c->gpu;
	int rc = d3d12_create_root_signature(gpu, CONSTANTS, WORK_ARRAYS, &c->signature, err);
	const D3D12_COMPUTE_PIPELINE_STATE_DESC pipeline = {
		.pRootSignature = c->signature,
		.CS = {.pShaderBytecode = work_bytecode, .BytecodeLength = sizeof(work_bytecode)},
	};
	return rc != 0 ? rc
		       : D3D12_CALL(gpu, err, ID3D12Device, CreateComputePipelineState, gpu->device,
				    &pipeline, &IID_ID3D12PipelineState, (void **)&c->pipeline);
}

static void use_mapped(struct computation *c, uint8_t *bytes)
{
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		c->data.arrays[i] = bytes + i * c->arrays.size;
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = d3d12_arrays_create(&c->gpu, &c->arrays, err);
	if (rc != 0)
		return rc;
	use_mapped(c, c->arrays.uploaded);
	work_fill(&c->data);
	return 0;
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	return d3d12_arrays_upload(&c->gpu, &c->arrays, err);
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	ID3D12GraphicsCommandList *list = c->gpu.list;
	const struct work_parameters parameters = work_parameters(c->gpu.request);
	d3d12_arrays_transition(&c->gpu, &c->arrays, D3D12_RESOURCE_STATE_COMMON,
				D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
	ID3D12GraphicsCommandList_SetPipelineState(list, c->pipeline);
	ID3D12GraphicsCommandList_SetComputeRootSignature(list, c->signature);
	ID3D12GraphicsCommandList_SetComputeRoot32BitConstants(list, 0, CONSTANTS, &parameters, 0);
	for (unsigned i = 0; i < WORK_ARRAYS; i++)
		ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
			list, 1 + i, ID3D12Resource_GetGPUVirtualAddress(c->arrays.arrays[i]));
	ID3D12GraphicsCommandList_Dispatch(list, parameters.stride / WORK_GROUP, 1, 1);
	d3d12_arrays_transition(&c->gpu, &c->arrays, D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
				D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(&c->gpu, err);
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	use_mapped(c, c->arrays.downloaded);
	return d3d12_arrays_download(&c->gpu, &c->arrays, err);
}

/* A compute-only device draws nothing. */
static int render(void *work, struct error *err)
{
	struct computation *c = work;
	return c->gpu.graphics ? d3d12_render(&c->gpu, err) : 0;
}

static void release(struct computation *c)
{
	d3d12_arrays_free(&c->arrays);
	com_release(c->pipeline);
	com_release(c->signature);
	d3d12_device_free(&c->gpu);
}

int d3d12_work(void *session, const struct work_request *request, struct work_report *report,
	       struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,   [WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,    [WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_RENDER] = render,
	};
	struct computation c = {
		.gpu = {.d3d = session, .request = request, .report = report},
		.data = {.elements = request->elements, .seed = request->seed},
		.arrays.size = work_array_size(request),
	};
	int rc = work_run(steps, &c, &c.data, report, err);
	if (rc != ERROR_TIMEOUT)
		release(&c);
	return rc;
}
