/* SPDX-License-Identifier: MIT */
#include "workloads/d3d11/d3d11.h"
#include "workloads/directx/shaders/triangle_pixel.h"
#include "workloads/directx/shaders/triangle_vertex.h"

#include <string.h>

struct rendering {
	struct render_colour_float background, triangle;
	ID3D11VertexShader *vertex;
	ID3D11PixelShader *pixel;
	ID3D11RasterizerState *rasterizer;
	ID3D11Buffer *colour;
	ID3D11Texture2D *picture, *staging;
	ID3D11RenderTargetView *target;
};

static int build(struct d3d11_device *gpu, struct rendering *r, struct error *err)
{
	const D3D11_RASTERIZER_DESC rasterizer = {
		.FillMode = D3D11_FILL_SOLID, .CullMode = D3D11_CULL_NONE, .DepthClipEnable = TRUE};
	int rc = D3D11_CALL(gpu, err, ID3D11Device, CreateVertexShader, gpu->device,
			    triangle_vertex_bytecode, sizeof(triangle_vertex_bytecode), NULL,
			    &r->vertex);
	if (rc == 0)
		rc = D3D11_CALL(gpu, err, ID3D11Device, CreatePixelShader, gpu->device,
				triangle_pixel_bytecode, sizeof(triangle_pixel_bytecode), NULL,
				&r->pixel);
	if (rc == 0)
		rc = D3D11_CALL(gpu, err, ID3D11Device, CreateRasterizerState, gpu->device,
				&rasterizer, &r->rasterizer);
	return rc;
}

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

static int create_memory(struct d3d11_device *gpu, struct rendering *r, struct error *err)
{
	const D3D11_BUFFER_DESC colour = {
		.ByteWidth = sizeof(r->triangle),
		.Usage = D3D11_USAGE_IMMUTABLE,
		.BindFlags = D3D11_BIND_CONSTANT_BUFFER,
	};
	int rc = d3d11_create_buffer(gpu, &colour, &r->triangle, &r->colour, err);
	if (rc == 0)
		rc = create_texture(gpu, D3D11_USAGE_DEFAULT, D3D11_BIND_RENDER_TARGET, 0,
				    &r->picture, err);
	if (rc == 0)
		rc = create_texture(gpu, D3D11_USAGE_STAGING, 0,
				    D3D11_CPU_ACCESS_READ | D3D11_CPU_ACCESS_WRITE, &r->staging,
				    err);
	if (rc == 0)
		rc = D3D11_CALL(gpu, err, ID3D11Device, CreateRenderTargetView, gpu->device,
				(ID3D11Resource *)r->picture, NULL, &r->target);
	return rc;
}

static void draw(struct d3d11_device *gpu, struct rendering *r)
{
	ID3D11DeviceContext *context = gpu->context;
	const D3D11_VIEWPORT viewport = {
		.Width = RENDER_SIZE, .Height = RENDER_SIZE, .MaxDepth = 1};
	ID3D11DeviceContext_ClearRenderTargetView(context, r->target, r->background.channels);
	ID3D11DeviceContext_OMSetRenderTargets(context, 1, &r->target, NULL);
	ID3D11DeviceContext_RSSetState(context, r->rasterizer);
	ID3D11DeviceContext_RSSetViewports(context, 1, &viewport);
	ID3D11DeviceContext_IASetPrimitiveTopology(context, D3D11_PRIMITIVE_TOPOLOGY_TRIANGLELIST);
	ID3D11DeviceContext_VSSetShader(context, r->vertex, NULL, 0);
	ID3D11DeviceContext_PSSetShader(context, r->pixel, NULL, 0);
	ID3D11DeviceContext_PSSetConstantBuffers(context, 0, 1, &r->colour);
	ID3D11DeviceContext_Draw(context, 3, 0);
	ID3D11DeviceContext_CopyResource(context, (ID3D11Resource *)r->staging,
					 (ID3D11Resource *)r->picture);
}

static int render(struct d3d11_device *gpu, struct rendering *r, struct error *err)
{
	D3D11_MAPPED_SUBRESOURCE mapped = {0};
	int rc = build(gpu, r, err);
	if (rc == 0)
		rc = create_memory(gpu, r, err);
	if (rc == 0)
		rc = d3d11_map(gpu, r->staging, D3D11_MAP_WRITE, &mapped, err);
	if (rc != 0)
		return rc;
	memset(mapped.pData, 0xA5, (size_t)mapped.RowPitch * RENDER_SIZE);
	d3d11_unmap(gpu, r->staging);
	draw(gpu, r);
	rc = d3d11_device_wait(gpu, err);
	if (rc == 0)
		rc = d3d11_map(gpu, r->staging, D3D11_MAP_READ, &mapped, err);
	if (rc != 0)
		return rc;
	work_compare_picture(gpu->report, mapped.pData, mapped.RowPitch);
	d3d11_unmap(gpu, r->staging);
	return 0;
}

int d3d11_render(struct d3d11_device *gpu, struct error *err)
{
	struct rendering r = {
		.background = render_colour_float(render_background(gpu->request->seed)),
		.triangle = render_colour_float(render_triangle(gpu->request->seed)),
	};
	int rc = render(gpu, &r, err);
	if (rc == ERROR_TIMEOUT)
		return rc;
	com_release(r.target);
	com_release(r.staging);
	com_release(r.picture);
	com_release(r.colour);
	com_release(r.rasterizer);
	com_release(r.pixel);
	com_release(r.vertex);
	return rc;
}
