// SPDX-License-Identifier: MIT

// The work of workloads/common/work.h for Direct3D, by means that compute-only devices (feature level 1_0_CORE) offer, too:
// structured buffers and no textures. A stride over the whole dispatch lets any number of elements fit the 65535 groups of one.

cbuffer parameters : register(b0)
{
	uint elements;
	uint key;
	float scale;
	uint stride;
};

RWStructuredBuffer<uint> values : register(u0);
RWStructuredBuffer<float> x : register(u1);
RWStructuredBuffer<float> y : register(u2);

uint mix32(uint value)
{
	value ^= value >> 16;
	value *= 0x7feb352du;
	value ^= value >> 15;
	value *= 0x846ca68bu;
	value ^= value >> 16;
	return value;
}

[numthreads(64, 1, 1)]
void work(uint3 id : SV_DispatchThreadID)
{
	for (uint i = id.x; i < elements; i += stride) {
		values[i] = mix32(values[i] ^ key);
		y[i] = scale * x[i] + y[i];
	}
}
