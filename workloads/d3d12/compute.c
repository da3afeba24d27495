/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"
#include "workloads/directx/shaders/work.h"

enum { LOCAL_SIZE = 64, GROUPS_MAX = 65535 };

/* Of the shader, in its order. */
struct parameters {
	uint32_t elements;
	uint32_t key;
	float scale;
	uint32_t stride;
};

struct computation {
	struct d3d12_device gpu;
	ID3D12RootSignature *signature;
	ID3D12PipelineState *pipeline;
	ID3D12Resource *upload, *readback; /* all arrays, one behind the other */
	ID3D12Resource *arrays[WORK_ARRAYS];
	uint8_t *uploaded, *downloaded;
	struct work_data data; /* uploaded, then downloaded */
	size_t array_size;     /* bytes of one */
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
	int rc = d3d12_create_root_signature(gpu, sizeof(struct parameters) / sizeof(uint32_t),
					     WORK_ARRAYS, &c->signature, err);
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
		c->data.arrays[i] = bytes + i * c->array_size;
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	struct d3d12_device *gpu = &c->gpu;
	int rc = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_UPLOAD, WORK_ARRAYS * c->array_size,
				     D3D12_RESOURCE_FLAG_NONE, &c->upload, err);
	if (rc == 0)
		rc = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_READBACK, WORK_ARRAYS * c->array_size,
					 D3D12_RESOURCE_FLAG_NONE, &c->readback, err);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_DEFAULT, c->array_size,
					 D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS, &c->arrays[i],
					 err);
	if (rc == 0)
		rc = d3d12_map(gpu, c->upload, &c->uploaded, err);
	if (rc == 0)
		rc = d3d12_map(gpu, c->readback, &c->downloaded, err);
	if (rc != 0)
		return rc;
	use_mapped(c, c->uploaded);
	work_fill(&c->data);
	return 0;
}

/* Buffers are in the common state between two runs of the command list. */
static void record_transitions(struct computation *c, D3D12_RESOURCE_STATES before,
			       D3D12_RESOURCE_STATES after)
{
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		d3d12_record_transition(&c->gpu, c->arrays[i], before, after);
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	record_transitions(c, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST);
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		ID3D12GraphicsCommandList_CopyBufferRegion(c->gpu.list, c->arrays[i], 0, c->upload,
							   i * c->array_size, c->array_size);
	record_transitions(c, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(&c->gpu, err);
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	const struct work_request *request = c->gpu.request;
	ID3D12GraphicsCommandList *list = c->gpu.list;
	const size_t wanted = (request->elements + LOCAL_SIZE - 1) / LOCAL_SIZE;
	const uint32_t groups = wanted < GROUPS_MAX ? (uint32_t)wanted : GROUPS_MAX;
	const struct parameters parameters = {
		.elements = (uint32_t)request->elements,
		.key = work_key(request->seed),
		.scale = WORK_SCALE,
		.stride = groups * LOCAL_SIZE,
	};
	record_transitions(c, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
	ID3D12GraphicsCommandList_SetPipelineState(list, c->pipeline);
	ID3D12GraphicsCommandList_SetComputeRootSignature(list, c->signature);
	ID3D12GraphicsCommandList_SetComputeRoot32BitConstants(
		list, 0, sizeof(parameters) / sizeof(uint32_t), &parameters, 0);
	for (unsigned i = 0; i < WORK_ARRAYS; i++)
		ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
			list, 1 + i, ID3D12Resource_GetGPUVirtualAddress(c->arrays[i]));
	ID3D12GraphicsCommandList_Dispatch(list, groups, 1, 1);
	record_transitions(c, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(&c->gpu, err);
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	use_mapped(c, c->downloaded);
	work_overwrite(&c->data);
	record_transitions(c, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_SOURCE);
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		ID3D12GraphicsCommandList_CopyBufferRegion(c->gpu.list, c->readback,
							   i * c->array_size, c->arrays[i], 0,
							   c->array_size);
	record_transitions(c, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(&c->gpu, err);
}

/* A compute-only device draws nothing. */
static int render(void *work, struct error *err)
{
	struct computation *c = work;
	return c->gpu.graphics ? d3d12_render(&c->gpu, err) : 0;
}

static void release(struct computation *c)
{
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		com_release(c->arrays[i]);
	com_release(c->readback);
	com_release(c->upload);
	com_release(c->pipeline);
	com_release(c->signature);
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
		.array_size = work_array_size(request),
	};
	int rc = work_run(steps, &c, &c.data, report, err);
	if (!c.gpu.d3d->abandoned)
		release(&c);
	d3d12_device_free(&c.gpu);
	return rc;
}
