/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"
#include "workloads/directx/shaders/work.h"

#include <string.h>

enum { ARRAYS = 3, LOCAL_SIZE = 64, GROUPS_MAX = 65535 };

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
	ID3D12Resource *arrays[ARRAYS];
	uint8_t *uploaded, *downloaded;
	size_t array_size; /* bytes of one */
};

static int build(struct computation *c, struct error *err)
{
	struct d3d12_device *gpu = &c->gpu;
	int code = d3d12_create_root_signature(gpu, sizeof(struct parameters) / sizeof(uint32_t),
					       ARRAYS, &c->signature, err);
	const D3D12_COMPUTE_PIPELINE_STATE_DESC pipeline = {
		.pRootSignature = c->signature,
		.CS = {.pShaderBytecode = work_bytecode, .BytecodeLength = sizeof(work_bytecode)},
	};

	return code != 0 ? code
			 : d3d12_check(gpu,
				       ID3D12Device_CreateComputePipelineState(
					       gpu->device, &pipeline, &IID_ID3D12PipelineState,
					       (void **)&c->pipeline),
				       "ID3D12Device::CreateComputePipelineState", err);
}

static int create_memory(struct computation *c, struct error *err)
{
	struct d3d12_device *gpu = &c->gpu;
	int code = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_UPLOAD, ARRAYS * c->array_size,
				       D3D12_RESOURCE_FLAG_NONE, &c->upload, err);

	if (code == 0)
		code = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_READBACK, ARRAYS * c->array_size,
					   D3D12_RESOURCE_FLAG_NONE, &c->readback, err);
	for (size_t i = 0; code == 0 && i < ARRAYS; i++)
		code = d3d12_create_buffer(gpu, D3D12_HEAP_TYPE_DEFAULT, c->array_size,
					   D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS,
					   &c->arrays[i], err);
	if (code == 0)
		code = d3d12_map(gpu, c->upload, &c->uploaded, err);
	if (code == 0)
		code = d3d12_map(gpu, c->readback, &c->downloaded, err);
	return code;
}

static struct work_data mapped_data(const struct computation *c, uint8_t *bytes,
				    const struct work_request *request)
{
	return (struct work_data){
		.values = (void *)bytes,
		.x = (void *)(bytes + c->array_size),
		.y = (void *)(bytes + 2 * c->array_size),
		.elements = request->elements,
		.seed = request->seed,
	};
}

/* Buffers are in the common state between two runs of the command list. */
static void record_transitions(struct computation *c, D3D12_RESOURCE_STATES before,
			       D3D12_RESOURCE_STATES after)
{
	for (size_t i = 0; i < ARRAYS; i++)
		d3d12_record_transition(&c->gpu, c->arrays[i], before, after);
}

static int upload(struct computation *c, struct error *err)
{
	record_transitions(c, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_DEST);
	for (size_t i = 0; i < ARRAYS; i++)
		ID3D12GraphicsCommandList_CopyBufferRegion(c->gpu.list, c->arrays[i], 0, c->upload,
							   i * c->array_size, c->array_size);
	record_transitions(c, D3D12_RESOURCE_STATE_COPY_DEST, D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(&c->gpu, err);
}

static int dispatch(struct computation *c, const struct work_request *request, struct error *err)
{
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
	for (unsigned i = 0; i < ARRAYS; i++)
		ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
			list, 1 + i, ID3D12Resource_GetGPUVirtualAddress(c->arrays[i]));
	ID3D12GraphicsCommandList_Dispatch(list, groups, 1, 1);
	record_transitions(c, D3D12_RESOURCE_STATE_UNORDERED_ACCESS, D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(&c->gpu, err);
}

static int download(struct computation *c, struct error *err)
{
	/* What is read back must come from the device. */
	memset(c->downloaded, 0xA5, ARRAYS * c->array_size);
	record_transitions(c, D3D12_RESOURCE_STATE_COMMON, D3D12_RESOURCE_STATE_COPY_SOURCE);
	for (size_t i = 0; i < ARRAYS; i++)
		ID3D12GraphicsCommandList_CopyBufferRegion(c->gpu.list, c->readback,
							   i * c->array_size, c->arrays[i], 0,
							   c->array_size);
	record_transitions(c, D3D12_RESOURCE_STATE_COPY_SOURCE, D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(&c->gpu, err);
}

static int compute(struct computation *c, struct d3d12 *d3d, const struct work_request *request,
		   struct work_report *report, struct error *err)
{
	struct work_data data = {0};
	int code = 0;

	work_stage_begin(report, WORK_STAGE_DEVICE);
	code = d3d12_device_open(d3d, request, &c->gpu, report, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_BUILD);
	code = build(c, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_MEMORY);
	code = create_memory(c, err);
	if (code != 0)
		return code;
	data = mapped_data(c, c->uploaded, request);
	work_fill(&data);
	work_stage_begin(report, WORK_STAGE_UPLOAD);
	code = upload(c, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_DISPATCH);
	code = dispatch(c, request, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_DOWNLOAD);
	code = download(c, err);
	if (code != 0)
		return code;
	if (c->gpu.graphics) {
		work_stage_begin(report, WORK_STAGE_RENDER);
		code = d3d12_render(&c->gpu, report, err);
		if (code != 0)
			return code;
	}
	work_stage_begin(report, WORK_STAGE_VERIFY);
	data = mapped_data(c, c->downloaded, request);
	work_verify(&data, report);
	return 0;
}

static void release(struct computation *c)
{
	for (size_t i = 0; i < ARRAYS; i++)
		com_release(c->arrays[i]);
	com_release(c->readback);
	com_release(c->upload);
	com_release(c->pipeline);
	com_release(c->signature);
}

int d3d12_compute(struct d3d12 *d3d, const struct work_request *request, struct work_report *report,
		  struct error *err)
{
	struct computation c = {.array_size = (request->elements + WORK_GUARD) * sizeof(uint32_t)};
	int code = compute(&c, d3d, request, report, err);

	work_stage_end(report);
	if (!d3d->abandoned)
		release(&c);
	d3d12_device_free(&c.gpu);
	return code;
}
