/* The work of workloads/common/work.h; see workloads/vulkan/work.comp. The version is put before it. */
precision highp float;
precision highp int;

layout(local_size_x = 64) in;

layout(std430, binding = 0) buffer Values { uint values[]; };
layout(std430, binding = 1) readonly buffer X { float x[]; };
layout(std430, binding = 2) buffer Y { float y[]; };

layout(location = 0) uniform uint elements;
layout(location = 1) uniform uint key;
layout(location = 2) uniform float scale;

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

	for (uint i = gl_GlobalInvocationID.x; i < elements; i += stride) {
		values[i] = mix32(values[i] ^ key);
		y[i] = scale * x[i] + y[i];
	}
}
