/* SPDX-License-Identifier: MIT */
#include "workloads/d3d11/d3d11.h"
#include "workloads/directx/shaders/work.h"

#include <string.h>

struct computation {
	struct d3d11_device gpu;
	ID3D11ComputeShader *shader;
	ID3D11Buffer *parameters;
	ID3D11Buffer *arrays[WORK_ARRAYS], *staging[WORK_ARRAYS];
	ID3D11UnorderedAccessView *views[WORK_ARRAYS];
	struct work_data data;
	size_t array_size;	     /* bytes of one */
	struct work_parameters told; /* to the shader */
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
	const D3D11_BUFFER_DESC description = {
		.ByteWidth = sizeof(c->told),
		.Usage = D3D11_USAGE_IMMUTABLE,
		.BindFlags = D3D11_BIND_CONSTANT_BUFFER,
	};
	return d3d11_create_buffer(&c->gpu, &description, &c->told, &c->parameters, err);
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
	ID3D11DeviceContext_Dispatch(context, c->told.stride / WORK_GROUP,
				     work_groups_y(c->gpu.request), work_groups_z(c->gpu.request));
	ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, WORK_ARRAYS, none, NULL);
	return d3d11_device_wait(&c->gpu, err);
}

/* Reads all staging buffers, or overwrites them: what is read back must come from the device. */
static int access_staging(struct computation *c, D3D11_MAP purpose, struct error *err)
{
	for (size_t i = 0; i < WORK_ARRAYS; i++) {
		D3D11_MAPPED_SUBRESOURCE mapped = {0};
		int rc = d3d11_map(&c->gpu, c->staging[i], purpose, &mapped, err);
		if (rc != 0)
			return rc;
		if (purpose == D3D11_MAP_WRITE)
			memset(mapped.pData, 0xA5, c->array_size);
		else
			memcpy(c->data.arrays[i], mapped.pData, c->array_size);
		d3d11_unmap(&c->gpu, c->staging[i]);
	}
	return 0;
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = access_staging(c, D3D11_MAP_WRITE, err);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		ID3D11DeviceContext_CopyResource(c->gpu.context, (ID3D11Resource *)c->staging[i],
						 (ID3D11Resource *)c->arrays[i]);
	rc = d3d11_device_wait(&c->gpu, err);
	return rc == 0 ? access_staging(c, D3D11_MAP_READ, err) : rc;
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
	d3d11_device_free(&c->gpu);
}

int d3d11_work(void *session, const struct work_request *request, struct work_report *report,
	       struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = open_device,   [WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory, [WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,    [WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_LOOK] = download,	     [WORK_STAGE_RENDER] = render,
	};
	struct computation c = {
		.gpu = {.d3d = session, .request = request, .report = report},
		.array_size = work_array_size(request),
		.told = work_parameters(request),
	};
	int rc = work_run(steps, &c, &c.data, report, err);
	if (rc != ERROR_TIMEOUT)
		release(&c);
	return rc;
}
