/* SPDX-License-Identifier: MIT */
#include "workloads/cuda/cuda.h"

#include "workloads/common/kernel.h"

#include <math.h>

struct monte_carlo_estimate monte_carlo_estimate(const uint32_t *hits)
{
	static const double pi = 3.14159265358979323846;
	const double samples = (double)MONTE_CARLO_STREAMS * MONTE_CARLO_SAMPLES;
	struct monte_carlo_estimate out = {.samples = (uint64_t)samples};
	for (size_t i = 0; i < MONTE_CARLO_STREAMS; i++)
		out.hits += hits[i];
	/* Each point hits with the probability pi / 4: a binomial distribution. */
	const double error = sqrt(samples * (pi / 4) * (1 - pi / 4));
	out.pi = 4 * (double)out.hits / samples;
	out.standard_errors = fabs((double)out.hits - samples * pi / 4) / error;
	return out;
}
