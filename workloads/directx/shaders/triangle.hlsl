// SPDX-License-Identifier: MIT

// The picture of workloads/common/render.h: a triangle without vertex buffers, of one colour.

cbuffer parameters : register(b0)
{
	float4 colour;
};

// Pixels (8, 8), (56.5, 8) and (8, 56.5) of 64 by 64.
float4 triangle_vertex(uint id : SV_VertexID) : SV_Position
{
	float x = id == 1 ? 0.765625 : -0.75;
	float y = id == 2 ? -0.765625 : 0.75;

	return float4(x, y, 0.5, 1.0);
}

float4 triangle_pixel() : SV_Target
{
	return colour;
}
