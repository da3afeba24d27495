/* SPDX-License-Identifier: MIT */
#include "workloads/d3d11/d3d11.h"

#include <string.h>

struct computation {
	struct d3d11_device gpu;
	ID3D11ComputeShader *shader;
	ID3D11Buffer *parameters;
	ID3D11Buffer *arrays[WORK_ARRAYS];
	ID3D11UnorderedAccessView *views[WORK_ARRAYS];
	ID3D11Buffer *staging; /* for one array at a time */
	struct work_data data;
	size_t array_size; /* bytes of one */
	struct work_parameters constants;
};

static int build(void *work, struct error *err)
{
	struct computation *c = work;
	return D3D11_CALL(&c->gpu, err, ID3D11Device, CreateComputeShader, c->gpu.device,
			  directx_work_dxbc.bytecode, directx_work_dxbc.size, NULL, &c->shader);
}

/* The parameters of a shader. */
static int create_constants(struct d3d11_device *gpu, const void *constants, size_t size,
			    ID3D11Buffer **out, struct error *err)
{
	const D3D11_BUFFER_DESC description = {
		.ByteWidth = (UINT)size,
		.Usage = D3D11_USAGE_IMMUTABLE,
		.BindFlags = D3D11_BIND_CONSTANT_BUFFER,
	};
	const D3D11_SUBRESOURCE_DATA data = {.pSysMem = constants};
	return D3D11_CALL(gpu, err, ID3D11Device, CreateBuffer, gpu->device, &description, &data,
			  out);
}

static int create_memory(void *work, struct error *err)
{
	struct computation *c = work;
	ID3D11Device *device = c->gpu.device;
	const D3D11_BUFFER_DESC array = {
		.ByteWidth = (UINT)c->array_size,
		.Usage = D3D11_USAGE_DEFAULT,
		.BindFlags = D3D11_BIND_UNORDERED_ACCESS,
		.MiscFlags = D3D11_RESOURCE_MISC_BUFFER_STRUCTURED,
		.StructureByteStride = sizeof(uint32_t),
	};
	const D3D11_UNORDERED_ACCESS_VIEW_DESC view = {
		.ViewDimension = D3D11_UAV_DIMENSION_BUFFER,
		.Buffer = {.NumElements = (UINT)(c->array_size / sizeof(uint32_t))},
	};
	const D3D11_BUFFER_DESC staging = {
		.ByteWidth = (UINT)c->array_size,
		.Usage = D3D11_USAGE_STAGING,
		.CPUAccessFlags = D3D11_CPU_ACCESS_READ | D3D11_CPU_ACCESS_WRITE,
	};

	int rc =
		create_constants(&c->gpu, &c->constants, sizeof(c->constants), &c->parameters, err);
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++) {
		rc = D3D11_CALL(&c->gpu, err, ID3D11Device, CreateBuffer, device, &array, NULL,
				&c->arrays[i]);
		if (rc == 0)
			rc = D3D11_CALL(&c->gpu, err, ID3D11Device, CreateUnorderedAccessView,
					device, (ID3D11Resource *)c->arrays[i], &view,
					&c->views[i]);
	}
	if (rc == 0)
		rc = D3D11_CALL(&c->gpu, err, ID3D11Device, CreateBuffer, device, &staging, NULL,
				&c->staging);
	if (rc == 0)
		work_data_new(&c->data, c->gpu.request);
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
	ID3D11DeviceContext_Dispatch(context, c->constants.stride / WORK_GROUP,
				     work_groups_y(c->gpu.request), work_groups_z(c->gpu.request));
	ID3D11DeviceContext_CSSetUnorderedAccessViews(context, 0, WORK_ARRAYS, none, NULL);
	return d3d11_device_wait(&c->gpu, err);
}

/* Copies a resource to a staging one, which stays mapped to be read. Its rows are
 * overwritten first, so that only results of the device are read. */
static int read_back(struct d3d11_device *gpu, void *from, void *staging, size_t rows,
		     size_t row_size, D3D11_MAPPED_SUBRESOURCE *mapped, struct error *err)
{
	int rc = D3D11_CALL(gpu, err, ID3D11DeviceContext, Map, gpu->context, staging, 0,
			    D3D11_MAP_WRITE, 0, mapped);
	if (rc != 0)
		return rc;
	for (size_t i = 0; i < rows; i++)
		memset((uint8_t *)mapped->pData + i * mapped->RowPitch, 0xA5, row_size);
	ID3D11DeviceContext_Unmap(gpu->context, staging, 0);
	ID3D11DeviceContext_CopyResource(gpu->context, staging, from);
	rc = d3d11_device_wait(gpu, err);
	if (rc == 0)
		rc = D3D11_CALL(gpu, err, ID3D11DeviceContext, Map, gpu->context, staging, 0,
				D3D11_MAP_READ, 0, mapped);
	return rc;
}

static int download(void *work, struct error *err)
{
	struct computation *c = work;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < WORK_ARRAYS; i++) {
		D3D11_MAPPED_SUBRESOURCE mapped = {0};
		rc = read_back(&c->gpu, c->arrays[i], c->staging, 1, c->array_size, &mapped, err);
		if (rc != 0)
			break;
		memcpy(c->data.arrays[i], mapped.pData, c->array_size);
		ID3D11DeviceContext_Unmap(c->gpu.context, (ID3D11Resource *)c->staging, 0);
	}
	return rc;
}

struct rendering {
	struct render_colour_float background, triangle;
	ID3D11VertexShader *vertex;
	ID3D11PixelShader *pixel;
	ID3D11RasterizerState *rasterizer;
	ID3D11Buffer *colour;
	ID3D11Texture2D *picture, *staging;
	ID3D11RenderTargetView *target;
};

static int create_texture(struct d3d11_device *gpu, D3D11_USAGE usage, UINT bind, UINT access,
			  ID3D11Texture2D **out, struct error *err)
{
	const D3D11_TEXTURE2D_DESC description = {
		.Width = RENDER_SIZE,
		.Height = RENDER_SIZE,
		.MipLevels = 1,
		.ArraySize = 1,
		.Format = DXGI_FORMAT_R8G8B8A8_UNORM,
		.SampleDesc = {.Count = 1},
		.Usage = usage,
		.BindFlags = bind,
		.CPUAccessFlags = access,
	};
	return D3D11_CALL(gpu, err, ID3D11Device, CreateTexture2D, gpu->device, &description, NULL,
			  out);
}

static int render_picture(struct d3d11_device *gpu, struct rendering *r, struct error *err)
{
	ID3D11DeviceContext *context = gpu->context;
	const D3D11_VIEWPORT viewport = {
		.Width = RENDER_SIZE, .Height = RENDER_SIZE, .MaxDepth = 1};
	D3D11_MAPPED_SUBRESOURCE mapped = {0};

	ID3D11DeviceContext_ClearRenderTargetView(context, r->target, r->background.channels);
	ID3D11DeviceContext_OMSetRenderTargets(context, 1, &r->target, NULL);
	ID3D11DeviceContext_RSSetState(context, r->rasterizer);
	ID3D11DeviceContext_RSSetViewports(context, 1, &viewport);
	ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
	ID3D11DeviceContext_VSSetShader(context, r->vertex, NULL, 0);
	ID3D11DeviceContext_PSSetShader(context, r->pixel, NULL, 0);
	ID3D11DeviceContext_PSSetConstantBuffers(context, 0, 1, &r->colour);
	ID3D11DeviceContext_Draw(context, 3, 0);

	int rc = read_back(gpu, r->picture, r->staging, RENDER_SIZE, RENDER_SIZE * RENDER_PIXEL,
			   &mapped, err);
	if (rc != 0)
		return rc;
	work_compare_picture(gpu->report, mapped.pData, mapped.RowPitch);
	ID3D11DeviceContext_Unmap(context, (ID3D11Resource *)r->staging, 0);
	return 0;
}

static int render(void *work, struct error *err)
{
	const D3D11_RASTERIZER_DESC rasterizer = {
		.FillMode = D3D11_FILL_SOLID, .CullMode = D3D11_CULL_NONE, .DepthClipEnable = TRUE};
	struct d3d11_device *gpu = work;
	struct rendering r = {
		.background = render_colour_float(render_background(gpu->request->seed)),
		.triangle = render_colour_float(render_triangle(gpu->request->seed)),
	};
	int rc = D3D11_CALL(gpu, err, ID3D11Device, CreateVertexShader, gpu->device,
			    directx_triangle_vertex.bytecode, directx_triangle_vertex.size, NULL,
			    &r.vertex);
	if (rc == 0)
		rc = D3D11_CALL(gpu, err, ID3D11Device, CreatePixelShader, gpu->device,
				directx_triangle_pixel.bytecode, directx_triangle_pixel.size, NULL,
				&r.pixel);
	if (rc == 0)
		rc = D3D11_CALL(gpu, err, ID3D11Device, CreateRasterizerState, gpu->device,
				&rasterizer, &r.rasterizer);
	if (rc == 0)
		rc = create_constants(gpu, &r.triangle, sizeof(r.triangle), &r.colour, err);
	if (rc == 0)
		rc = create_texture(gpu, D3D11_USAGE_DEFAULT, D3D11_BIND_RENDER_TARGET, 0,
				    &r.picture, err);
	if (rc == 0)
		rc = create_texture(gpu, D3D11_USAGE_STAGING, 0,
				    D3D11_CPU_ACCESS_READ | D3D11_CPU_ACCESS_WRITE, &r.staging,
				    err);
	if (rc == 0)
		rc = D3D11_CALL(gpu, err, ID3D11Device, CreateRenderTargetView, gpu->device,
				(ID3D11Resource *)r.picture, NULL, &r.target);
	if (rc == 0)
		rc = render_picture(gpu, &r, err);
	if (rc != ERROR_TIMEOUT)
		COM_RELEASE(r.target, r.staging, r.picture, r.colour, r.rasterizer, r.pixel,
			    r.vertex);
	return rc;
}

int d3d11_work(void *session, const struct work_request *request, struct work_report *report,
	       struct error *err)
{
	static work_step *const steps[WORK_STAGE_COUNT] = {
		[WORK_STAGE_DEVICE] = d3d11_device_open,
		[WORK_STAGE_BUILD] = build,
		[WORK_STAGE_MEMORY] = create_memory,
		[WORK_STAGE_UPLOAD] = upload,
		[WORK_STAGE_DISPATCH] = dispatch,
		[WORK_STAGE_DOWNLOAD] = download,
		[WORK_STAGE_LOOK] = download,
		[WORK_STAGE_RENDER] = render,
	};
	struct computation c = {
		.gpu = {.d3d = session, .request = request, .report = report},
		.array_size = work_array_size(request),
		.constants = work_parameters(request),
	};
	int rc = work_run(steps, &c, &c.data, report, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	work_data_free(&c.data);
	for (size_t i = 0; i < WORK_ARRAYS; i++)
		COM_RELEASE(c.views[i], c.arrays[i]);
	COM_RELEASE(c.staging, c.parameters, c.shader);
	d3d11_device_free(&c.gpu);
	return rc;
}
