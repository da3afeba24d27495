/* SPDX-License-Identifier: MIT */

/* The kernels of probe-cuda. compile.sh makes kernels.ptx of them, which the probe embeds. The driver's
 * double includes them: it says what a KERNEL is and which invocation() of how many invocations() runs.
 * Each strides over the whole launch, so that any number of elements fits. */

#include "workloads/common/kernel.h"

#ifdef __NVPTX__
#define KERNEL __attribute__((nvptx_kernel)) void

static uint32_t invocation(void)
{
	return (uint32_t)__nvvm_read_ptx_sreg_ctaid_x() * (uint32_t)__nvvm_read_ptx_sreg_ntid_x() +
	       (uint32_t)__nvvm_read_ptx_sreg_tid_x();
}

static uint32_t invocations(void)
{
	return (uint32_t)__nvvm_read_ptx_sreg_nctaid_x() * (uint32_t)__nvvm_read_ptx_sreg_ntid_x();
}
#endif

/* The work of workloads/common/work.h. */
KERNEL work(uint32_t *values, const float *x, float *y, uint32_t elements, uint32_t key,
	    float scale)
{
	for (uint32_t i = invocation(); i < elements; i += invocations()) {
		values[i] = kernel_mix(values[i] ^ key);
		y[i] = scale * x[i] + y[i];
	}
}

KERNEL monte_carlo(uint32_t *hits, uint32_t streams, uint32_t key)
{
	for (uint32_t i = invocation(); i < streams; i += invocations())
		hits[i] = kernel_hits(key, i);
}
