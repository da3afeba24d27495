/* SPDX-License-Identifier: MIT */
#include "reference-plugin/serving/backoff.h"

uint64_t backoff_ms(unsigned failures, uint32_t random)
{
	uint64_t delay = BACKOFF_FIRST_MS;

	for (unsigned i = 1; i < failures && delay < BACKOFF_LAST_MS; i++)
		delay *= 2;
	if (delay > BACKOFF_LAST_MS)
		delay = BACKOFF_LAST_MS;
	return delay + (delay / 4) * random / UINT32_MAX;
}
