/* SPDX-License-Identifier: MIT */
#include "workloads/d3d11/d3d11.h"
#include "workloads/directx/shaders/work.h"

#include <stdlib.h>
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
	struct d3d11_device gpu;
	ID3D11ComputeShader *shader;
	ID3D11Buffer *parameters;
	ID3D11Buffer *arrays[ARRAYS], *staging[ARRAYS];
	ID3D11UnorderedAccessView *views[ARRAYS];
	uint32_t *host[ARRAYS]; /* values, x, y of struct work_data */
	size_t array_size;	/* bytes of one */
	uint32_t groups;
};

static int build(struct computation *c, struct error *err)
{
	return d3d11_check(&c->gpu,
			   ID3D11Device_CreateComputeShader(c->gpu.device, work_bytecode,
							    sizeof(work_bytecode), NULL,
							    &c->shader),
			   "ID3D11Device::CreateComputeShader", err);
}

static int create_parameters(struct computation *c, const struct work_request *request,
			     struct error *err)
{
	const struct parameters parameters = {
		.elements = (uint32_t)request->elements,
		.key = work_key(request->seed),
		.scale = WORK_SCALE,
		.stride = c->groups * LOCAL_SIZE,
	};
	const D3D11_BUFFER_DESC description = {
		.ByteWidth = sizeof(parameters),
		.Usage = D3D11_USAGE_IMMUTABLE,
		.BindFlags = D3D11_BIND_CONSTANT_BUFFER,
	};

	return d3d11_create_buffer(&c->gpu, &description, &parameters, &c->parameters, err);
}

static int create_array(struct computation *c, size_t index, struct error *err)
{
	const D3D11_BUFFER_DESC array = {
		.ByteWidth = (UINT)c->array_size,
		.Usage = D3D11_USAGE_DEFAULT,
		.BindFlags = D3D11_BIND_UNORDERED_ACCESS,
		.MiscFlags = D3D11_RESOURCE_MISC_BUFFER_STRUCTURED,
		.StructureByteStride = sizeof(uint32_t),
	};
	const D3D11_BUFFER_DESC staging = {
		.ByteWidth = (UINT)c->array_size,
		.Usage = D3D11_USAGE_STAGING,
		.CPUAccessFlags = D3D11_CPU_ACCESS_READ | D3D11_CPU_ACCESS_WRITE,
	};
	const D3D11_UNORDERED_ACCESS_VIEW_DESC view = {
		.ViewDimension = D3D11_UAV_DIMENSION_BUFFER,
		.Buffer = {.NumElements = (UINT)(c->array_size / sizeof(uint32_t))},
	};
	int code = d3d11_create_buffer(&c->gpu, &array, NULL, &c->arrays[index], err);

	if (code == 0)
		code = d3d11_create_buffer(&c->gpu, &staging, NULL, &c->staging[index], err);
	if (code == 0)
		code = d3d11_check(&c->gpu,
				   ID3D11Device_CreateUnorderedAccessView(
					   c->gpu.device, (ID3D11Resource *)c->arrays[index], &view,
					   &c->views[index]),
				   "ID3D11Device::CreateUnorderedAccessView", err);
	return code;
}

static int create_memory(struct computation *c, const struct work_request *request,
			 struct error *err)
{
	int code = create_parameters(c, request, err);

	for (size_t i = 0; code == 0 && i < ARRAYS; i++) {
		c->host[i] = malloc(c->array_size);
		code = c->host[i] != NULL ? create_array(c, i, err) : error_memory(err);
	}
	return code;
}

static int upload(struct computation *c, struct error *err)
{
	for (size_t i = 0; i < ARRAYS; i++)
		ID3D11DeviceContext_UpdateSubresource(
			c->gpu.context, (ID3D11Resource *)c->arrays[i], 0, NULL, c->host[i], 0, 0);
	return d3d11_device_wait(&c->gpu, err);
}

static int dispatch(struct computation *c, struct error *err)
{
	static ID3D11UnorderedAccessView *const none[ARRAYS] = {NULL};
	ID3D11DeviceContext *context = c->gpu.context;

	ID3D11DeviceContext_CSSetShader(context, c->shader, NULL, 0);
	ID3D11DeviceContext_CSSetConstantBuffers(context, 0, 1, &c->parameters);
	ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, ARRAYS, c->views, NULL);
	ID3D11DeviceContext_Dispatch(context, c->groups, 1, 1);
	ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, ARRAYS, none, NULL);
	return d3d11_device_wait(&c->gpu, err);
}

static int map(struct computation *c, size_t index, D3D11_MAP purpose, void **out,
	       struct error *err)
{
	D3D11_MAPPED_SUBRESOURCE mapped = {0};
	int code = d3d11_check(&c->gpu,
			       ID3D11DeviceContext_Map(c->gpu.context,
						       (ID3D11Resource *)c->staging[index], 0,
						       purpose, 0, &mapped),
			       "ID3D11DeviceContext::Map", err);

	*out = mapped.pData;
	return code;
}

/* What is read back must come from the device: the memory for it is overwritten first. */
static int poison(struct computation *c, struct error *err)
{
	int code = 0;

	for (size_t i = 0; code == 0 && i < ARRAYS; i++) {
		void *mapped = NULL;

		memset(c->host[i], 0xA5, c->array_size);
		code = map(c, i, D3D11_MAP_WRITE, &mapped, err);
		if (code != 0)
			break;
		memset(mapped, 0xA5, c->array_size);
		ID3D11DeviceContext_Unmap(c->gpu.context, (ID3D11Resource *)c->staging[i], 0);
	}
	return code;
}

static int download(struct computation *c, struct error *err)
{
	int code = poison(c, err);

	if (code != 0)
		return code;
	for (size_t i = 0; i < ARRAYS; i++)
		ID3D11DeviceContext_CopyResource(c->gpu.context, (ID3D11Resource *)c->staging[i],
						 (ID3D11Resource *)c->arrays[i]);
	code = d3d11_device_wait(&c->gpu, err);
	for (size_t i = 0; code == 0 && i < ARRAYS; i++) {
		void *mapped = NULL;

		code = map(c, i, D3D11_MAP_READ, &mapped, err);
		if (code != 0)
			break;
		memcpy(c->host[i], mapped, c->array_size);
		ID3D11DeviceContext_Unmap(c->gpu.context, (ID3D11Resource *)c->staging[i], 0);
	}
	return code;
}

static int compute(struct computation *c, struct d3d11 *d3d, const struct work_request *request,
		   struct work_report *report, struct error *err)
{
	int code = 0;

	work_stage_begin(report, WORK_STAGE_DEVICE);
	code = d3d11_device_open(d3d, request, &c->gpu, report, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_BUILD);
	code = build(c, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_MEMORY);
	code = create_memory(c, request, err);
	if (code != 0)
		return code;
	const struct work_data data = {.values = c->host[0],
				       .x = (float *)(void *)c->host[1],
				       .y = (float *)(void *)c->host[2],
				       .elements = request->elements,
				       .seed = request->seed};

	work_fill(&data);
	work_stage_begin(report, WORK_STAGE_UPLOAD);
	code = upload(c, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_DISPATCH);
	code = dispatch(c, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_DOWNLOAD);
	code = download(c, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_RENDER);
	code = d3d11_render(&c->gpu, report, err);
	if (code != 0)
		return code;
	work_stage_begin(report, WORK_STAGE_VERIFY);
	work_verify(&data, report);
	return 0;
}

static void release(struct computation *c)
{
	for (size_t i = 0; i < ARRAYS; i++) {
		com_release(c->views[i]);
		com_release(c->staging[i]);
		com_release(c->arrays[i]);
		free(c->host[i]);
	}
	com_release(c->parameters);
	com_release(c->shader);
}

int d3d11_compute(struct d3d11 *d3d, const struct work_request *request, struct work_report *report,
		  struct error *err)
{
	const size_t groups = (request->elements + LOCAL_SIZE - 1) / LOCAL_SIZE;
	struct computation c = {
		.array_size = (request->elements + WORK_GUARD) * sizeof(uint32_t),
		.groups = groups < GROUPS_MAX ? (uint32_t)groups : GROUPS_MAX,
	};
	int code = compute(&c, d3d, request, report, err);

	work_stage_end(report);
	if (!d3d->abandoned)
		release(&c);
	d3d11_device_free(&c.gpu);
	return code;
}
