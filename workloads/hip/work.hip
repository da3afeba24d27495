/* SPDX-License-Identifier: MIT */
/* The work of workloads/common/work.h, for compilers of HIP without its headers: compile.sh, and
 * hiprtc on a device that none of the code objects is for. 64 threads in each block. */

static __attribute__((device)) unsigned mix(unsigned value)
{
	value ^= value >> 16;
	value *= 0x7feb352du;
	value ^= value >> 15;
	value *= 0x846ca68bu;
	value ^= value >> 16;
	return value;
}

extern "C" __attribute__((global)) __attribute__((amdgpu_flat_work_group_size(64, 64))) void
work(unsigned *values, const float *x, float *y, unsigned elements, unsigned key, float scale)
{
	unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
	if (i >= elements)
		return;
	values[i] = mix(values[i] ^ key);
	y[i] = scale * x[i] + y[i];
}
