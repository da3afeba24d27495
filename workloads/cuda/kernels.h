/* SPDX-License-Identifier: MIT */
#pragma once

/* The kernels of probe-cuda (kernels.c), for the device or the processor. */

#include <stdint.h>

#ifdef __NVPTX__
#define KERNEL __attribute__((nvptx_kernel))
#else
#define KERNEL
uint32_t invocation(void);  /* the number of the one that runs, of whoever runs kernels */
uint32_t invocations(void); /* how many the launch has */
#endif

/* The work of workloads/common/work.h. */
KERNEL void work(uint32_t *values, const float *x, float *y, uint32_t elements, uint32_t key,
		 float scale);

/* hits[i] = kernel_hits(key, i) */
KERNEL void monte_carlo(uint32_t *hits, uint32_t streams, uint32_t key);
