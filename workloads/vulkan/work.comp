/* SPDX-License-Identifier: MIT */
#version 450

/* The work of workloads/common/work.h. A stride over the whole dispatch lets any number of elements fit
 * the smallest number of work groups that a device must offer. */

layout(local_size_x = 64) in;

layout(std430, set = 0, binding = 0) buffer Values { uint values[]; };
layout(std430, set = 0, binding = 1) readonly buffer X { float x[]; };
layout(std430, set = 0, binding = 2) buffer Y { float y[]; };

layout(push_constant) uniform Parameters {
	uint elements;
	uint key;
	float scale;
} parameters;

uint mix32(uint value)
{
	value ^= value >> 16;
	value *= 0x7feb352du;
	value ^= value >> 15;
	value *= 0x846ca68bu;
	value ^= value >> 16;
	return value;
}

void main()
{
	uint stride = gl_NumWorkGroups.x * gl_WorkGroupSize.x;

	for (uint i = gl_GlobalInvocationID.x; i < parameters.elements; i += stride) {
		values[i] = mix32(values[i] ^ parameters.key);
		y[i] = parameters.scale * x[i] + y[i];
	}
}
