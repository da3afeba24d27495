/* SPDX-License-Identifier: MIT */
/* The work of workloads/common/work.h. */

uint mix32(uint value)
{
	value ^= value >> 16;
	value *= 0x7feb352du;
	value ^= value >> 15;
	value *= 0x846ca68bu;
	value ^= value >> 16;
	return value;
}

__kernel void work(__global uint *values, __global const float *x, __global float *y, uint elements,
		   uint key, float scale)
{
	size_t i = get_global_id(0);

	if (i >= elements)
		return;
	values[i] = mix32(values[i] ^ key);
	y[i] = scale * x[i] + y[i];
}
