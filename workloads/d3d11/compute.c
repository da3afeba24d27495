/* SPDX-License-Identifier: MIT */
#include "workloads/d3d11/d3d11.h"
#include "workloads/directx/shaders/work.h"

#include <string.h>

enum { LOCAL_SIZE = 64, GROUPS_MAX = 65535 };

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
	ID3D11Buffer *arrays[WORK_ARRAYS], *staging[WORK_ARRAYS];
	ID3D11UnorderedAccessView *views[WORK_ARRAYS];
	struct work_data data;
	size_t array_size; /* bytes of one */
	uint32_t groups;
};

static int open_device(void *work, struct error *err)
{
	struct computation *c = work;
	return d3d11_device_open(&c->gpu, err);
}

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	return D3D11_CALL(&c->gpu, err, ID3D11Device, CreateComputeShader, c->gpu.device,
			  work_bytecode, sizeof(work_bytecode), NULL, &c->shader);
}

static int create_parameters(struct computation *c, struct error *err)
{
	const struct work_request *request = c->gpu.request;
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
	int rc = d3d11_create_buffer(&c->gpu, &array, NULL, &c->arrays[index], err);
	if (rc == 0)
		rc = d3d11_create_buffer(&c->gpu, &staging, NULL, &c->staging[index], err);
	if (rc == 0)
		rc = D3D11_CALL(&c->gpu, err, ID3D11Device, CreateUnorderedAccessView,
				c->gpu.device, (ID3D11Resource *)c->arrays[index], &view,
				&c->views[index]);
	return rc;
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = create_parameters(c, err);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++)
		rc = create_array(c, i, err);
	if (rc == 0)
		rc = work_data_new(&c->data, c->gpu.request, err);
	return rc;
}

static int upload(void *work, struct error *err)
{
	struct computation *c = work;
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		ID3D11DeviceContext_UpdateSubresource(c->gpu.context,
						      (ID3D11Resource *)c->arrays[i], 0, NULL,
						      c->data.arrays[i], 0, 0);
	return d3d11_device_wait(&c->gpu, err);
}

static int dispatch(void *work, struct error *err)
{
	struct computation *c = work;
	static ID3D11UnorderedAccessView *const none[WORK_ARRAYS] = {NULL};
	ID3D11DeviceContext *context = c->gpu.context;
	ID3D11DeviceContext_CSSetShader(context, c->shader, NULL, 0);
	ID3D11DeviceContext_CSSetConstantBuffers(context, 0, 1, &c->parameters);
	ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, WORK_ARRAYS, c->views, NULL);
	ID3D11DeviceContext_Dispatch(context, c->groups, 1, 1);
	ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, WORK_ARRAYS, none, NULL);
	return d3d11_device_wait(&c->gpu, err);
}

/* What is read back must come from the device: the memory for it is overwritten first. */
static int poison(struct computation *c, struct error *err)
{
	int rc = 0;
	work_overwrite(&c->data);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++) {
		D3D11_MAPPED_SUBRESOURCE mapped = {0};
		rc = d3d11_map(&c->gpu, c->staging[i], D3D11_MAP_WRITE, &mapped, err);
		if (rc != 0)
			break;
		memset(mapped.pData, 0xA5, c->array_size);
		d3d11_unmap(&c->gpu, c->staging[i]);
	}
	return rc;
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = poison(c, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		ID3D11DeviceContext_CopyResource(c->gpu.context, (ID3D11Resource *)c->staging[i],
						 (ID3D11Resource *)c->arrays[i]);
	rc = d3d11_device_wait(&c->gpu, err);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++) {
		D3D11_MAPPED_SUBRESOURCE mapped = {0};
		rc = d3d11_map(&c->gpu, c->staging[i], D3D11_MAP_READ, &mapped, err);
		if (rc != 0)
			break;
		memcpy(c->data.arrays[i], mapped.pData, c->array_size);
		d3d11_unmap(&c->gpu, c->staging[i]);
	}
	return rc;
}

static int render(void *work, struct error *err)
{
	struct computation *c = work;
	return d3d11_render(&c->gpu, err);
}

static void release(struct computation *c)
{
	work_data_free(&c->data);
	for (size_t i = 0; i < WORK_ARRAYS; i++) {
		com_release(c->views[i]);
		com_release(c->staging[i]);
		com_release(c->arrays[i]);
	}
	com_release(c->parameters);
	com_release(c->shader);
}

int d3d11_work(void *session, const struct work_request *request, struct work_report *report,
	       struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,   [WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,    [WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_RENDER] = render,
	};
	const size_t groups = (request->elements + LOCAL_SIZE - 1) / LOCAL_SIZE;
	struct computation c = {
		.gpu = {.d3d = session, .request = request, .report = report},
		.array_size = work_array_size(request),
		.groups = groups < GROUPS_MAX ? (uint32_t)groups : GROUPS_MAX,
	};
	int rc = work_run(steps, &c, &c.data, report, err);
	if (!c.gpu.d3d->abandoned)
		release(&c);
	d3d11_device_free(&c.gpu);
	return rc;
}
