/* SPDX-License-Identifier: MIT */
#include "workloads/d3d12/d3d12.h"
#include "workloads/directx/shaders/work.h"
#include "workloads/directx/shaders/work_dxil.h"

/* 32-bit constants of the shader. */
enum { CONSTANTS = sizeof(struct work_parameters) / sizeof(uint32_t) };

/* work.hlsl in one of the two languages, and how its results are called (reference.h). */
struct shader {
	const unsigned char *bytecode;
	size_t size;
	const char *values, *y;
};

static const struct shader dxbc = {work_bytecode, sizeof(work_bytecode), "values", "y"};
static const struct shader dxil = {work_dxil_bytecode, sizeof(work_dxil_bytecode), "dxilValues",
				   "dxilY"};

struct computation {
	struct d3d12_device *gpu;
	const struct shader *shader;
	ID3D12RootSignature *signature;
	ID3D12PipelineState *pipeline;
	struct d3d12_arrays arrays;
	struct work_data data; /* in the mapped memory: uploaded, then downloaded */
};

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	struct d3d12_device *gpu = c->gpu;
	int rc = d3d12_create_root_signature(gpu, CONSTANTS, WORK_ARRAYS, &c->signature, err);
	const D3D12_COMPUTE_PIPELINE_STATE_DESC pipeline = {
		.pRootSignature = c->signature,
		.CS = {.pShaderBytecode = c->shader->bytecode, .BytecodeLength = c->shader->size},
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
	int rc = d3d12_arrays_create(c->gpu, &c->arrays, err);
	if (rc != 0)
		return rc;
	use_mapped(c, c->arrays.uploaded);
	work_fill(&c->data);
	return 0;
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	return d3d12_arrays_upload(c->gpu, &c->arrays, err);
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	ID3D12GraphicsCommandList *list = c->gpu->list;
	const struct work_parameters parameters = work_parameters(c->gpu->request);
	d3d12_arrays_transition(c->gpu, &c->arrays, D3D12_RESOURCE_STATE_COMMON,
				D3D12_RESOURCE_STATE_UNORDERED_ACCESS);
	ID3D12GraphicsCommandList_SetPipelineState(list, c->pipeline);
	ID3D12GraphicsCommandList_SetComputeRootSignature(list, c->signature);
	ID3D12GraphicsCommandList_SetComputeRoot32BitConstants(list, 0, CONSTANTS, &parameters, 0);
	for (unsigned i = 0; i < WORK_ARRAYS; i++)
		ID3D12GraphicsCommandList_SetComputeRootUnorderedAccessView(
			list, 1 + i, ID3D12Resource_GetGPUVirtualAddress(c->arrays.arrays[i]));
	ID3D12GraphicsCommandList_Dispatch(list, parameters.stride / WORK_GROUP,
					   work_groups_y(c->gpu->request),
					   work_groups_z(c->gpu->request));
	d3d12_arrays_transition(c->gpu, &c->arrays, D3D12_RESOURCE_STATE_UNORDERED_ACCESS,
				D3D12_RESOURCE_STATE_COMMON);
	return d3d12_device_run(c->gpu, err);
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	use_mapped(c, c->arrays.downloaded);
	return d3d12_arrays_download(c->gpu, &c->arrays, err);
}

static int verify(void *work, struct error *err)
{
	struct computation *c = work;
	(void)err;
	work_compare(c->gpu->report, c->shader->values, c->data.arrays[WORK_VALUES]);
	work_compare(c->gpu->report, c->shader->y, c->data.arrays[WORK_Y]);
	work_judge(c->gpu->report);
	return 0;
}

static int compute(struct d3d12_device *gpu, const struct shader *shader, struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_BUILD] = build,	  [WORK_STAGE_MEMORY] = create_memory,
		[WORK_STAGE_UPLOAD] = upload,	  [WORK_STAGE_DISPATCH] = dispatch,
		[WORK_STAGE_DOWNLOAD] = download, [WORK_STAGE_VERIFY] = verify,
	};
	struct computation c = {
		.gpu = gpu,
		.shader = shader,
		.data = {.elements = gpu->request->elements, .seed = gpu->request->seed},
		.arrays.size = work_array_size(gpu->request),
	};
	int rc = work_run(steps, &c, NULL, gpu->report, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	d3d12_arrays_free(&c.arrays);
	com_release(c.pipeline);
	com_release(c.signature);
	return rc;
}

/* Every device takes DXBC; where there is Shader Model 6, DXIL does the same work once more. */
static int compute_all(struct d3d12_device *gpu, struct error *err)
{
	int rc = compute(gpu, &dxbc, err);
	if (rc != 0 || gpu->shader_model < D3D_SHADER_MODEL_6_0)
		return rc;
	rc = compute(gpu, &dxil, err);
	return rc != 0 ? error_wrap(err, rc, "the shader of Shader Model 6.0") : 0;
}

static int render(struct d3d12_device *gpu, struct error *err)
{
	work_stage_begin(gpu->report, WORK_STAGE_RENDER);
	int rc = d3d12_render(gpu, err);
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
		rc = compute_all(&gpu, err);
	if (rc == 0 && gpu.graphics) /* a compute-only device draws nothing */
		rc = render(&gpu, err);
	work_stage_end(report);
	if (rc != ERROR_TIMEOUT)
		d3d12_device_free(&gpu);
	return rc;
}
